import type { ResourceKind } from './kind.ts'
import * as wire from './wire/wallet.ts'

/** A wallet: one mnemonic that never leaves the service. A new one comes with its accounts. */
export const wallet: ResourceKind = {
  kind: 'wallet',
  one: 'wallet',
  many: 'wallets',
  form: { key: 'wallets', shape: 'map', renamable: true },
  fields: {
    name: { compare: 'exact', meaning: 'Its name.' },
    mnemonicLength: {
      compare: 'never',
      meaning: 'How many words its mnemonic has; used when it is created.',
      schema: { enum: [12, 15, 18, 21, 24] },
    },
    withoutExport: {
      compare: 'never',
      meaning: 'With `delete`: delete it although its mnemonic was never exported. What it holds is lost.',
      schema: { const: true },
    },
  },
  referable: true,
  deleteNeedsTombstone: true,
  irreplaceable: 'its mnemonic goes with it, so that a new wallet has other keys and addresses',
  rides: false,
  changedBy: ['CREATE_WALLET', 'IMPORT_WALLET', 'UPDATE_WALLET', 'DELETE_WALLETS'],
  identity: ({ name }) => name,
  alike: { allOf: ['walletAccount'] },
  create: {
    type: 'ACTIVITY_TYPE_CREATE_WALLET',
    carries: 'one',
    parameters: ([change]) => wire.toIntent(change!.desired!, change!.children),
    produces: ([change]) => [{ address: change!.desired!.address, at: ['createWalletResult', 'walletId'] }],
  },
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_WALLET',
    carries: 'one',
    parameters: ([change]) => ({ walletId: change!.actual!.id!, walletName: change!.desired!.name }),
  }),
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_WALLETS',
    // One at a time, so that leave to delete one without export is never leave for another.
    carries: 'one',
    parameters: ([change]) => ({
      walletIds: [change!.actual!.id!],
      ...(change!.desired?.fields['withoutExport'] === true ? { deleteWithoutExport: true } : {}),
    }),
  },
  power: () => 'neutral',
}
