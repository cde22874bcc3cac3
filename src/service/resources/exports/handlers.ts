import { addressSpellings, translateMnemonic } from '../../../chain/index.ts'
import { decodeUtf8, encodeUtf8 } from '../../../encoding/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { makeExportBundle, readTargetPublicKey } from '../../bundles/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { mnemonicPlace } from '../../keys/index.ts'
import {
  type SealedSigner,
  signerFacts,
  signerOfAccount,
  signerOfPrivateKey,
  walletFacts,
  withSigningKey,
} from '../../signing/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requirePrivateKeys, requireWallets } from '../require.ts'
import { findAccountByAddress } from '../wallets/signers-store.ts'
import { readSealedMnemonic } from '../wallets/store.ts'
import { markExported } from './store.ts'

/** The words in UTF-8, in the language asked for (docs/protocol/keys.md#export). */
const exportWallet: TypedHandler<Wire.ExportWalletIntent, Wire.ExportWalletResult> = {
  async validate(context, { walletId, targetPublicKey }) {
    readTargetPublicKey(targetPublicKey)
    await requireWallets(context, 'walletId', [walletId])
  },
  async facts(context, { walletId }) {
    const [wallet] = await requireWallets(context, 'walletId', [walletId])
    return { wallet: walletFacts(wallet!) }
  },
  async execute(context, { walletId, targetPublicKey, language = 'MNEMONIC_LANGUAGE_ENGLISH' }) {
    const { tx, organizationId, now } = context
    const mnemonic = context.unseal(await readSealedMnemonic(tx, organizationId, walletId), mnemonicPlace(walletId))
    const words = decodeUtf8(mnemonic)
    mnemonic.fill(0)
    await markExported(tx, 'wallets', organizationId, walletId, now)
    const secret = encodeUtf8(translateMnemonic(words, language))
    return { walletId, exportBundle: await makeExportBundle(context, { secret, targetPublicKey }) }
  },
}

/** The 32 bytes of the account's own key; its wallet does not count as exported by that (docs/protocol/keys.md#export). */
const exportWalletAccount: TypedHandler<Wire.ExportWalletAccountIntent, Wire.ExportWalletAccountResult> = {
  async validate(context, { address, targetPublicKey }) {
    readTargetPublicKey(targetPublicKey)
    await requireAccount(context, address)
  },
  facts: async (context, { address }) => signerFacts(context, await requireAccount(context, address)),
  async execute(context, { address, targetPublicKey }) {
    const signer = await requireAccount(context, address)
    await markExported(context.tx, 'wallet_accounts', context.organizationId, signer.account.id, context.now)
    return { address, exportBundle: await exportKey(context, signer, targetPublicKey) }
  },
}

const exportPrivateKey: TypedHandler<Wire.ExportPrivateKeyIntent, Wire.ExportPrivateKeyResult> = {
  async validate(context, { privateKeyId, targetPublicKey }) {
    readTargetPublicKey(targetPublicKey)
    await requirePrivateKeys(context, 'privateKeyId', [privateKeyId])
  },
  facts: async (context, { privateKeyId }) => signerFacts(context, await requireKey(context, privateKeyId)),
  async execute(context, { privateKeyId, targetPublicKey }) {
    const signer = await requireKey(context, privateKeyId)
    await markExported(context.tx, 'private_keys', context.organizationId, privateKeyId, context.now)
    return { privateKeyId, exportBundle: await exportKey(context, signer, targetPublicKey) }
  },
}

export const exportHandlers = {
  ACTIVITY_TYPE_EXPORT_WALLET: exportWallet,
  ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT: exportWalletAccount,
  ACTIVITY_TYPE_EXPORT_PRIVATE_KEY: exportPrivateKey,
} satisfies HandlerRows

async function requireAccount(context: HandlerContext, address: string) {
  const account = await findAccountByAddress(context.tx, context.organizationId, addressSpellings(address))
  if (!account) throw apiError('walletAccountNotFound', address)
  return signerOfAccount(context, account)
}

async function requireKey(context: HandlerContext, privateKeyId: string) {
  const [key] = await requirePrivateKeys(context, 'privateKeyId', [privateKeyId])
  return signerOfPrivateKey(key!)
}

function exportKey(context: HandlerContext, signer: SealedSigner, targetPublicKey: string): Promise<string> {
  return withSigningKey(context, signer, ({ privateKey }) =>
    makeExportBundle(context, { secret: privateKey, targetPublicKey }),
  )
}
