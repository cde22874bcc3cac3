import { addressOf, normalizeMnemonic, openPrivateKey } from '../../../chain/index.ts'
import { decodeUtf8 } from '../../../encoding/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { checkOwnImport, type ImportKind, makeImportTarget, openImportBundle } from '../../bundles/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { orRefuse } from '../../signing/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { checkLimit } from '../limits.ts'
import { addPrivateKeys, checkAddressFormats } from '../private-keys/new-private-keys.ts'
import { privateKeyTable } from '../private-keys/store.ts'
import { addWallet, checkNewWallet } from '../wallets/new-wallets.ts'
import { findPrivateKeyByPublicKey } from '../wallets/signers-store.ts'
import { listWallets } from '../wallets/store.ts'
import { walletIdOf } from '../wallets/wallet-id.ts'

const initImport = (
  kind: ImportKind,
): TypedHandler<{ readonly userId: string }, { readonly importBundle: string }> => ({
  async validate(context, { userId }) {
    checkOwnImport(context, userId)
  },
  execute: async (context) => ({ importBundle: await makeImportTarget(context, kind) }),
})

const importWallet: TypedHandler<Wire.ImportWalletIntent, Wire.ImportWalletResult> = {
  async validate(context, { userId, accounts, encryptedBundle }) {
    checkOwnImport(context, userId)
    await checkNewWallet(context, accounts)
    await openMnemonic(context, encryptedBundle)
  },
  async execute(context, { walletName, accounts, encryptedBundle }) {
    const { mnemonic, useUp } = await openMnemonic(context, encryptedBundle)
    await useUp()
    return addWallet(context, { walletName, mnemonic, accounts, imported: true })
  },
}

const importPrivateKey: TypedHandler<Wire.ImportPrivateKeyIntent, Wire.ImportPrivateKeyResult> = {
  async validate(context, { userId, curve, addressFormats, encryptedBundle }) {
    checkOwnImport(context, userId)
    checkAddressFormats(curve, addressFormats)
    const present = await privateKeyTable.count(context.tx, context.organizationId)
    await checkLimit(context, 'privateKeys', { present, added: 1 })
    const { key } = await openKey(context, curve, encryptedBundle)
    key.privateKey.fill(0)
  },
  async execute(context, { privateKeyName, curve, addressFormats, encryptedBundle }) {
    const { key, useUp } = await openKey(context, curve, encryptedBundle)
    await useUp()
    const addresses = addressFormats.map((format) => addressOf(curve, key.publicKey, format))
    const added = { privateKeyName, curve, key, addressFormats, addresses, privateKeyTags: [] }
    return (await addPrivateKeys(context, [added], { imported: true }))[0]!
  },
}

export const importHandlers = {
  ACTIVITY_TYPE_INIT_IMPORT_WALLET: initImport('wallet'),
  ACTIVITY_TYPE_IMPORT_WALLET: importWallet,
  ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY: initImport('private-key'),
  ACTIVITY_TYPE_IMPORT_PRIVATE_KEY: importPrivateKey,
} satisfies HandlerRows

/** Opens the words of a wallet that the organization does not have yet. */
async function openMnemonic(context: HandlerContext, bundle: string) {
  const { tx, organizationId } = context
  const { secret, useUp } = await openImportBundle(context, 'wallet', { field: 'encryptedBundle', text: bundle })
  const mnemonic = orRefuse(() => normalizeMnemonic(readText(secret)))
  const id = walletIdOf(organizationId, mnemonic)
  if ((await listWallets(tx, organizationId, [id])).length > 0) throw apiError('seedImported', id)
  return { mnemonic, useUp }
}

/** Opens a key that the organization does not have yet; wipe it. One that is refused is wiped here. */
async function openKey(context: HandlerContext, curve: Wire.Curve, bundle: string) {
  const { secret, useUp } = await openImportBundle(context, 'private-key', { field: 'encryptedBundle', text: bundle })
  try {
    const key = orRefuse(() => openPrivateKey(curve, secret))
    const present = await findPrivateKeyByPublicKey(context.tx, context.organizationId, [key.publicKey])
    if (present !== undefined) throw apiError('privateKeyImported', present)
    return { key, useUp }
  } catch (refusal) {
    secret.fill(0)
    throw refusal
  }
}

function readText(secret: Uint8Array): string {
  try {
    return decodeUtf8(secret)
  } catch {
    // Bytes that are no text are no words either.
    return ''
  } finally {
    secret.fill(0)
  }
}
