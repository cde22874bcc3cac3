import { createMnemonic, WORD_COUNTS, type WordCount } from '../../../chain/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { DEFAULT_WORD_COUNT } from '../../readings.ts'
import { walletFacts } from '../../signing/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireWallets } from '../require.ts'
import { addWallet, checkNewWallet } from './new-wallets.ts'
import { deleteWallets as deleteWalletRows, listWallets, renameWallet } from './store.ts'

const createWallet: TypedHandler<Wire.CreateWalletIntent, Wire.CreateWalletResult> = {
  async validate(context, { accounts, mnemonicLength }) {
    if (!wordCountOf(mnemonicLength)) {
      throw apiError('invalidField', 'mnemonicLength', `must be one of ${WORD_COUNTS.join(', ')}`)
    }
    await checkNewWallet(context, accounts)
  },
  async execute(context, { walletName, accounts, mnemonicLength }) {
    const mnemonic = context.work.once('mnemonic', () =>
      createMnemonic(wordCountOf(mnemonicLength)!, context.randomBytes),
    )
    return addWallet(context, { walletName, mnemonic, accounts, imported: false })
  },
}

const updateWallet: TypedHandler<Wire.UpdateWalletIntent, Wire.UpdateWalletResult> = {
  async validate(context, { walletId }) {
    await requireWallets(context, 'walletId', [walletId])
  },
  async execute({ tx, organizationId, now }, { walletId, walletName }) {
    if (walletName) await renameWallet(tx, organizationId, walletId, { name: walletName, now })
    return { walletId }
  },
}

/** All or nothing: each has been exported, or the caller says that it need not be (docs/protocol/keys.md#deletion). */
const deleteWallets: TypedHandler<Wire.DeleteWalletsIntent, Wire.DeleteWalletsResult> = {
  async validate(context, { walletIds, deleteWithoutExport = false }) {
    const wallets = await requireWallets(context, 'walletIds', walletIds)
    if (!deleteWithoutExport && wallets.some(({ exported }) => exported === 0)) {
      throw apiError('walletAccountNotExported')
    }
  },
  // Wallets that went while the activity waited are left out: it can still be voted down, and executing it will fail.
  async facts({ tx, organizationId }, { walletIds }) {
    return { wallets: (await listWallets(tx, organizationId, walletIds)).map(walletFacts) }
  },
  async execute({ tx, organizationId }, { walletIds }) {
    await deleteWalletRows(tx, organizationId, walletIds)
    return { walletIds }
  },
}

export const walletHandlers = {
  ACTIVITY_TYPE_CREATE_WALLET: createWallet,
  ACTIVITY_TYPE_UPDATE_WALLET: updateWallet,
  ACTIVITY_TYPE_DELETE_WALLETS: deleteWallets,
} satisfies HandlerRows

/** Zero is what a client sends that leaves the length to the service. */
function wordCountOf(length: number | undefined): WordCount | undefined {
  return WORD_COUNTS.find((count) => count === (length || DEFAULT_WORD_COUNT))
}
