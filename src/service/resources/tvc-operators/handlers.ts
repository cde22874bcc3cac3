import { createMnemonic } from '../../../chain/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { DEFAULT_WORD_COUNT } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireWallets } from '../require.ts'
import { addAccounts, checkAccounts, checkFreePaths } from '../wallets/new-accounts.ts'
import { addWallet, checkNewWallet } from '../wallets/new-wallets.ts'
import { checkTvcRoom } from './operator-sets.ts'
import { tvcOperatorTable } from './store.ts'

/** Its keys are two accounts of a wallet, below the path that is given: `/0` to encrypt to, `/1` to sign with. */
const create: TypedHandler<Wire.CreateTvcOperatorIntent, Wire.CreateTvcOperatorResult> = {
  async validate(context, { walletId, walletName, path }) {
    const accounts = accountsAt(path)
    if (walletId && walletName) throw apiError('invalidField', 'walletName', 'cannot be given together with `walletId`')
    if (walletId) {
      await requireWallets(context, 'walletId', [walletId])
      checkAccounts(accounts)
      await checkFreePaths(context, walletId, accounts)
    } else if (walletName) await checkNewWallet(context, accounts)
    else throw apiError('missingField', 'walletName')
    await checkTvcRoom(context, { operators: 1, sets: 0 })
  },
  async execute(context, { walletId, walletName = '', path, operatorName }) {
    const { tx, organizationId, now, randomBytes } = context
    const accounts = accountsAt(path)
    const made = walletId
      ? { walletId, addresses: await addAccounts(context, walletId, accounts, { persist: true }) }
      : await addWallet(context, {
          walletName,
          mnemonic: context.work.once('mnemonic', () => createMnemonic(DEFAULT_WORD_COUNT, randomBytes)),
          accounts,
          imported: false,
        })
    const [encryptPublicKey = '', signPublicKey = ''] = made.addresses
    const operatorId = context.newId()
    await tvcOperatorTable.insert(tx, [
      {
        id: operatorId,
        organization_id: organizationId,
        name: operatorName,
        public_key: encryptPublicKey + signPublicKey,
        hosted: 1,
        created_at: now,
        updated_at: now,
      },
    ])
    return { walletId: made.walletId, operatorId, encryptPublicKey, signPublicKey }
  },
}

export const tvcOperatorHandlers = { ACTIVITY_TYPE_CREATE_TVC_OPERATOR: create } satisfies HandlerRows

function accountsAt(path: string): readonly Wire.WalletAccountParams[] {
  return [`${path}/0`, `${path}/1`].map((each) => ({
    curve: 'CURVE_P256',
    pathFormat: 'PATH_FORMAT_BIP32',
    path: each,
    addressFormat: 'ADDRESS_FORMAT_UNCOMPRESSED',
  }))
}
