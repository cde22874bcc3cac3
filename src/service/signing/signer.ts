/**
 * What `signWith` names: an address of a wallet account or of a private key, their public keys, or a private key's id
 * (docs/protocol/signing.md#what-signwith-names). Sends, raw payloads and transactions all find their key here and open
 * it nowhere else.
 */

import { addressSpellings, type Curve, type KeyAtHand, type KeyByAddress, openWallet } from '../../chain/index.ts'
import { decodeHex, decodeUtf8 } from '../../encoding/index.ts'
import type { PolicyContext } from '../../policy/index.ts'
import { ApiError, apiError } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/index.ts'
import { accountKeyPlace, mnemonicPlace, privateKeyPlace } from '../keys/index.ts'
import { listPrivateKeys, type PrivateKeyFacts } from '../resources/private-keys/store.ts'
import { listTagMembers } from '../resources/tags/store.ts'
import { findSealedAccountKey } from '../resources/wallets/account-keys-store.ts'
import type { WalletAccountRow } from '../resources/wallets/accounts-store.ts'
import {
  findAccountByAddress,
  findAccountByPublicKey,
  findPrivateKeyAddress,
  findPrivateKeyByPublicKey,
  readSealedPrivateKey,
} from '../resources/wallets/signers-store.ts'
import { listWallets, readSealedMnemonic, type WalletFacts } from '../resources/wallets/store.ts'
import { privateKeyDisabled } from './refusals.ts'

interface SealedKey {
  readonly curve: Curve
  /** Hex: compressed, or 32 bytes for Ed25519. */
  readonly publicKey: string
  /** The address that named it; it decides the algorithm. None for an id or a public key. */
  readonly address?: string
  readonly addressFormat?: string
}

export interface AccountSigner extends SealedKey {
  readonly kind: 'wallet-account'
  readonly account: WalletAccountRow
  readonly wallet: WalletFacts
}

export interface PrivateKeySigner extends SealedKey {
  readonly kind: 'private-key'
  readonly key: PrivateKeyFacts
}

/** A key that can sign, still sealed, and how it was named. */
export type SealedSigner = AccountSigner | PrivateKeySigner

/** The tools for opening a key. */
export type KeyContext = Pick<HandlerContext, 'tx' | 'organizationId' | 'unseal'>

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Finds what signs: a wallet account before a private key, an address before a public key, the oldest of several. Throws
 * the API's text when there is nothing, and for a private key that was disabled.
 */
export async function findSigner(
  context: Pick<HandlerContext, 'tx' | 'organizationId'>,
  signWith: string,
): Promise<SealedSigner> {
  const { tx, organizationId } = context
  if (UUID.test(signWith)) return findPrivateKey(context, signWith.toLowerCase())
  const spellings = addressSpellings(signWith)
  const account = await findAccountByAddress(tx, organizationId, spellings)
  if (account) return signerOfAccount(context, account)
  const named = await findPrivateKeyAddress(tx, organizationId, spellings)
  if (named) {
    return findPrivateKey(context, named.private_key_id, { address: named.address, addressFormat: named.format })
  }
  const publicKeys = publicKeySpellings(signWith)
  if (publicKeys.length === 0) throw apiError('nothingToSignWith')
  const owner = await findAccountByPublicKey(tx, organizationId, publicKeys)
  if (owner) return signerOfAccount(context, owner, {})
  const keyId = await findPrivateKeyByPublicKey(tx, organizationId, publicKeys)
  if (keyId === undefined) throw apiError('nothingToSignWith')
  return findPrivateKey(context, keyId)
}

/** Finds what signs as `findSigner` does; undefined where there is nothing, or nothing that may. */
export async function lookForSigner(
  context: Pick<HandlerContext, 'tx' | 'organizationId'>,
  signWith: string,
): Promise<SealedSigner | undefined> {
  try {
    return await findSigner(context, signWith)
  } catch (error) {
    // A store that cannot be read does not say that there is nothing.
    if (!(error instanceof ApiError)) throw error
    return undefined
  }
}

/** The roots that policies have about what signs (docs/protocol/policies.md#roots). */
export async function signerFacts(
  { tx, organizationId }: Pick<HandlerContext, 'tx' | 'organizationId'>,
  signer: SealedSigner,
): Promise<Partial<PolicyContext>> {
  if (signer.kind === 'wallet-account') {
    return { wallet: walletFacts(signer.wallet), wallet_account: { address: signer.account.address } }
  }
  const { id, name, imported, exported } = signer.key
  const tags = (await listTagMembers(tx, organizationId, { memberIds: [id] })).map(({ tagId }) => tagId)
  return { private_key: { id, label: name, tags, imported: imported === 1, exported: exported === 1 } }
}

/** A wallet as policies see it (docs/protocol/policies.md#fields). */
export function walletFacts({ id, name, imported, exported }: WalletFacts) {
  return { id, label: name, imported: imported === 1, exported: exported === 1 }
}

/** Opens the key, lets `use` sign with it, and wipes it. INVARIANT: the key must not be kept beyond `use`. */
export async function withSigningKey<Result>(
  context: KeyContext,
  signer: SealedSigner,
  use: (key: KeyAtHand) => Result | Promise<Result>,
): Promise<Result> {
  const key = await openKey(context, signer)
  try {
    return await use(key)
  } finally {
    key.privateKey.fill(0)
  }
}

/** The key as it was named, without what is secret about it. */
export function namedKey({ curve, publicKey, address, addressFormat }: SealedSigner): KeyByAddress {
  return {
    curve,
    publicKey: decodeHex(publicKey),
    ...(address === undefined ? {} : { address }),
    ...(addressFormat === undefined ? {} : { addressFormat }),
  }
}

/** Opens the key; wipe it. */
export async function openKey(context: KeyContext, signer: SealedSigner): Promise<KeyAtHand> {
  if (signer.kind === 'private-key') {
    const sealed = await readSealedPrivateKey(context.tx, context.organizationId, signer.key.id)
    return { ...namedKey(signer), privateKey: context.unseal(sealed, privateKeyPlace(signer.key.id)) }
  }
  const { id, curve, path, address_format: addressFormat } = signer.account
  const sealed = await findSealedAccountKey(context.tx, context.organizationId, id)
  if (sealed) return { ...namedKey(signer), privateKey: context.unseal(sealed, accountKeyPlace(id)) }
  const wallet = await openStoredWallet(context, signer.wallet.id)
  try {
    return { ...namedKey(signer), privateKey: wallet.deriveKey({ curve, path, addressFormat }).privateKey }
  } finally {
    wallet.close()
  }
}

/** Opens the words of a wallet of the organization; wipe them. */
export async function openStoredMnemonic({ tx, organizationId, unseal }: KeyContext, walletId: string) {
  return unseal(await readSealedMnemonic(tx, organizationId, walletId), mnemonicPlace(walletId))
}

/** Opens a wallet of the organization; close it. */
export async function openStoredWallet(context: KeyContext, walletId: string) {
  const mnemonic = await openStoredMnemonic(context, walletId)
  try {
    return openWallet(decodeUtf8(mnemonic))
  } finally {
    mnemonic.fill(0)
  }
}

type Named = Pick<SealedKey, 'address' | 'addressFormat'>

/** An account as what signs, named by its address unless told otherwise. */
export async function signerOfAccount(
  { tx, organizationId }: Pick<HandlerContext, 'tx' | 'organizationId'>,
  account: WalletAccountRow,
  named: Named = { address: account.address, addressFormat: account.address_format },
): Promise<AccountSigner> {
  const [wallet] = await listWallets(tx, organizationId, [account.wallet_id])
  const { curve, public_key: publicKey } = account
  return { kind: 'wallet-account', curve: curve as Curve, publicKey, account, wallet: wallet!, ...named }
}

/** A private key as what signs; disabled ones too. */
export function signerOfPrivateKey(key: PrivateKeyFacts, named: Named = {}): PrivateKeySigner {
  return { kind: 'private-key', curve: key.curve as Curve, publicKey: key.public_key, key, ...named }
}

async function findPrivateKey(
  { tx, organizationId }: Pick<HandlerContext, 'tx' | 'organizationId'>,
  keyId: string,
  named?: Named,
): Promise<PrivateKeySigner> {
  const [key] = await listPrivateKeys(tx, organizationId, [keyId])
  if (!key) throw apiError('nothingToSignWith')
  if (key.disabled === 1) throw privateKeyDisabled(keyId)
  return signerOfPrivateKey(key, named)
}

/** As rows have it: lower case and compressed, or the 32 bytes of Ed25519. */
function publicKeySpellings(text: string): readonly string[] {
  const hex = text.replace(/^0x/i, '').toLowerCase()
  if (/^04[0-9a-f]{128}$/.test(hex)) return [`0${2 + (Number.parseInt(hex.at(-1)!, 16) % 2)}${hex.slice(2, 66)}`]
  return /^(?:0[23])?[0-9a-f]{64}$/.test(hex) ? [hex] : []
}
