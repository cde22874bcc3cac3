import {
  addressFormatByName,
  addressFormatRow,
  addressFormats,
  checkAccount as checkSpec,
  curveByName,
  curves,
  normalizePath,
} from '../chain/index.ts'
import { walletAccountName } from './address.ts'
import type { FieldProblem, ResourceKind } from './kind.ts'
import type { Resource } from './model.ts'
import * as wire from './wire/wallet-account.ts'

const CURVE_NAMES = Object.values(curves).map(({ name }) => name)
const FORMAT_NAMES = Object.values(addressFormats).map(({ name }) => name)
const DERIVED = 'an account is what its path and format make it; write another account beside it'

/** Whether accounts can be derived by this path, asked with a curve and a format that fit any. */
function isPath(path: string): boolean {
  const any = { curve: 'CURVE_SECP256K1', addressFormat: 'ADDRESS_FORMAT_COMPRESSED', pathFormat: 'PATH_FORMAT_BIP32' }
  return checkSpec({ ...any, path }) === undefined
}

/** What cannot be derived is found before anything is submitted (docs/protocol/keys.md#accounts). */
function checkAccount({ fields: { path, curve, format } }: Resource): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  if (typeof path === 'string' && !isPath(path)) {
    const message = `expected a derivation path such as \`m/44'/60'/0'/0/0\`, got \`${path}\``
    problems.push({ field: 'path', code: 'resources/bad-path', message })
  }
  const wireFormat = addressFormatByName(String(format))
  const wireCurve = curveByName(String(curve))
  if (wireFormat && wireCurve && !addressFormatRow(wireFormat).curves.includes(wireCurve)) {
    const fitting = addressFormatRow(wireFormat).curves.map((one) => `\`${curves[one].name}\``)
    const message = `format \`${String(format)}\` needs curve ${fitting.join(' or ')}, got \`${String(curve)}\``
    problems.push({ field: 'curve', code: 'resources/curve-does-not-fit', message })
  }
  return problems
}

/** One key and address of a wallet. Path and address format tell it from others (docs/protocol/keys.md#accounts). */
export const walletAccount: ResourceKind = {
  kind: 'walletAccount',
  one: 'wallet account',
  many: 'wallet accounts',
  parent: 'wallet',
  form: { key: 'accounts', shape: 'list', labelledBy: 'name' },
  fields: {
    path: {
      compare: 'exact',
      meaning: "The derivation path, e.g. `m/44'/60'/0'/0/0`.",
      normal: (path) => (typeof path === 'string' ? normalizePath(path) : path),
      immutable: DERIVED,
      required: true,
      schema: { type: 'string' },
    },
    curve: {
      compare: 'exact',
      meaning: 'The curve of the key.',
      immutable: DERIVED,
      required: true,
      schema: { enum: CURVE_NAMES },
    },
    format: {
      compare: 'exact',
      meaning: 'The form of the address, and with it the chain.',
      immutable: DERIVED,
      required: true,
      schema: { title: 'an address format such as `ethereum`', enum: FORMAT_NAMES },
    },
    name: {
      compare: 'exact',
      meaning: 'A label of its own.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  },
  referable: false,
  deleteNeedsTombstone: true,
  rides: true,
  changedBy: ['CREATE_WALLET_ACCOUNTS', 'UPDATE_WALLET_ACCOUNT_NAME', 'DELETE_WALLET_ACCOUNTS', 'DELETE_WALLETS'],
  identity: ({ fields }: Resource) =>
    walletAccountName(normalizePath(String(fields['path'])), String(fields['format'])),
  check: checkAccount,
  create: {
    type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
    carries: 'parent',
    parameters: (changes) => ({
      walletId: { $ref: changes[0]!.desired!.parent! },
      accounts: changes.map(({ desired }) => wire.toIntent(desired!)),
    }),
  },
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
    carries: 'one',
    parameters: ([change]) => ({ walletAccountId: change!.actual!.id!, name: change!.desired!.fields['name']! }),
  }),
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
    carries: 'all',
    parameters: (changes) => ({ walletAccountIds: changes.map(({ actual }) => actual!.id!) }),
  },
  power: () => 'neutral',
}
