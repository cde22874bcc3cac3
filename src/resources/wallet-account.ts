import { walletAccountName } from './address.ts'
import type { ResourceKind } from './kind.ts'
import type { Resource } from './model.ts'
import * as wire from './wire/wallet-account.ts'

const DERIVED = 'an account is what its path and format make it; write another account beside it'

/** One key and address of a wallet. Path and address format tell it from others (facts: chain §1). */
export const walletAccount: ResourceKind = {
  kind: 'walletAccount',
  one: 'wallet account',
  many: 'wallet accounts',
  parent: 'wallet',
  form: { key: 'accounts', shape: 'list' },
  fields: {
    path: {
      compare: 'exact',
      meaning: "The derivation path, e.g. `m/44'/60'/0'/0/0`.",
      immutable: DERIVED,
      required: true,
      schema: { type: 'string' },
    },
    curve: {
      compare: 'exact',
      meaning: 'The curve: `secp256k1`, `ed25519` or `p256`.',
      immutable: DERIVED,
      required: true,
      schema: { type: 'string' },
    },
    format: {
      compare: 'exact',
      meaning: 'The address format, e.g. `ethereum`, `solana`, `bitcoin_mainnet_p2wpkh`.',
      immutable: DERIVED,
      required: true,
      schema: { type: 'string' },
    },
    name: {
      compare: 'exact',
      meaning: 'A label of its own.',
      immutable: 'this version does not rename wallet accounts',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  },
  referable: false,
  deleteNeedsTombstone: true,
  rides: true,
  identity: ({ fields }: Resource) => walletAccountName(String(fields['path']), String(fields['format'])),
  create: {
    type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
    carries: 'parent',
    parameters: (changes) => ({
      walletId: { $ref: changes[0]!.desired!.parent! },
      accounts: changes.map(({ desired }) => wire.toIntent(desired!)),
    }),
  },
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
    carries: 'all',
    parameters: (changes) => ({ walletAccountIds: changes.map(({ actual }) => actual!.id!) }),
  },
  power: () => 'neutral',
}
