import { encodeHex } from '../encoding/index.ts'
import { type AccountSpec, checkDerivation } from './account.ts'
import { type AddressFormat, addressFormatRow } from './address-formats.ts'
import type { Curve } from './curves.ts'
import { type DerivedKey, deriveKey } from './derivation.ts'
import { ChainError } from './error.ts'
import { normalizeMnemonic, seedOf } from './mnemonic.ts'
import { parsePath } from './path.ts'
import type { KeyAtHand } from './signing/signing-key.ts'

/** An account's address, and its public key in hex: compressed, or 32 bytes for Ed25519. */
export interface Account {
  readonly address: string
  readonly publicKey: string
}

/** A wallet whose seed is at hand. Close it when done: the seed is then wiped. */
export interface Wallet {
  /** Derives one account. Throws `ChainError` with the API's text for one that `checkAccount` refuses. */
  derive(account: AccountSpec): Account
  /** Derives the key of an account, for the caller to wipe. Throws as `derive` does. */
  deriveKey(account: AccountSpec): KeyAtHand & { readonly address: string }
  close(): void
}

/**
 * Opens the wallet of a mnemonic, behind which a passphrase may stand on a line of its own. The seed takes 2048 rounds of
 * PBKDF2 (BIP-39) and is computed once, here. Throws `ChainError` for words or a checksum that are wrong.
 */
export function openWallet(mnemonic: string): Wallet {
  const seed = seedOf(normalizeMnemonic(mnemonic))
  let isOpen = true
  const derive = (account: AccountSpec) => {
    // The seed is wiped by then: what it led to would be the keys of zeros.
    if (!isOpen) throw new ChainError('the wallet is closed')
    return deriveFromSeed(seed, account)
  }
  return {
    derive(account) {
      const { privateKey, publicKey } = derive(account)
      privateKey.fill(0)
      return { address: addressAt(account, publicKey), publicKey: encodeHex(publicKey) }
    },
    deriveKey(account) {
      const key = derive(account)
      const { addressFormat } = account
      return { ...key, curve: account.curve as Curve, addressFormat, address: addressAt(account, key.publicKey) }
    },
    close() {
      isOpen = false
      seed.fill(0)
    },
  }
}

/** Derives one account of a mnemonic; for several, open the wallet once. */
export function deriveAccount(mnemonic: string, account: AccountSpec): Account {
  const wallet = openWallet(mnemonic)
  try {
    return wallet.derive(account)
  } finally {
    wallet.close()
  }
}

function deriveFromSeed(seed: Uint8Array, account: AccountSpec): DerivedKey {
  const refusal = checkDerivation(account)
  if (refusal) throw new ChainError(refusal)
  // The check above has established all three.
  return deriveKey(seed, account.curve as Curve, parsePath(account.path)!)
}

function addressAt({ curve, addressFormat }: AccountSpec, bytes: Uint8Array): string {
  return addressFormatRow(addressFormat as AddressFormat).write({ curve: curve as Curve, bytes })
}
