/**
 * The environment: the roots that an expression starts from, and the fields of every struct below them. One row each,
 * read by checker, evaluator and language reference (docs/protocol/policies.md#roots).
 */
import { activityStructs } from './environment/activity.ts'
import { bitcoinStructs } from './environment/bitcoin.ts'
import { ethereumStructs } from './environment/ethereum.ts'
import { peopleStructs } from './environment/people.ts'
import type { StructField, StructRow, StructTable } from './environment/row.ts'
import { solanaStructs } from './environment/solana.ts'
import { sparkStructs } from './environment/spark.ts'
import { tempoStructs } from './environment/tempo.ts'
import { tronStructs } from './environment/tron.ts'
import type { PolicyField } from './model.ts'
import { list, struct, type Type } from './types.ts'

export type { StructField, StructRow } from './environment/row.ts'

export const structs: StructTable = {
  ...peopleStructs,
  ...activityStructs,
  ...ethereumStructs,
  ...solanaStructs,
  ...tronStructs,
  ...bitcoinStructs,
  ...tempoStructs,
  ...sparkStructs,
}

export interface RootRow {
  readonly type: Type
  /** The one field of a policy where the root may stand (U-fields). */
  readonly field: PolicyField
  readonly doc: string
}

export const roots = {
  approvers: {
    type: list(struct('User')),
    field: 'consensus',
    doc: 'the users who have approved, the submitter first',
  },
  credentials: {
    type: list(struct('Credential')),
    field: 'consensus',
    doc: 'the credentials that those approvals were made with',
  },
  activity: { type: struct('Activity'), field: 'condition', doc: 'always defined' },
  eth: { type: struct('Ethereum'), field: 'condition', doc: 'signing or sending on Ethereum' },
  solana: { type: struct('Solana'), field: 'condition', doc: 'signing or sending on Solana' },
  tron: { type: struct('Tron'), field: 'condition', doc: 'signing on Tron' },
  bitcoin: { type: struct('Bitcoin'), field: 'condition', doc: 'signing on Bitcoin' },
  tempo: { type: struct('Tempo'), field: 'condition', doc: 'signing on Tempo' },
  wallet: {
    type: struct('Wallet'),
    field: 'condition',
    doc: 'sign and export requests whose target belongs to a wallet',
  },
  wallet_account: {
    type: struct('WalletAccount'),
    field: 'condition',
    doc: 'sign and export requests that name a wallet account',
  },
  private_key: {
    type: struct('PrivateKey'),
    field: 'condition',
    doc: 'sign and export requests whose target is a stand-alone private key',
  },
  wallets: { type: list(struct('Wallet')), field: 'condition', doc: 'requests about several wallets (U-wallets)' },
  secret: { type: struct('Secret'), field: 'condition', doc: 'export of a secret (U-secret)' },
  time: { type: struct('Time'), field: 'time', doc: 'always defined' },
} as const satisfies Readonly<Record<string, RootRow>>

export type RootName = keyof typeof roots

export function isRootName(name: string): name is RootName {
  return Object.hasOwn(roots, name)
}

/** The names of the roots that a field may use. */
export function rootsOf(field: PolicyField): readonly RootName[] {
  return (Object.keys(roots) as RootName[]).filter((name) => roots[name].field === field)
}

/** The row of a struct type. */
export function structRow(name: string): StructRow {
  const row = structs[name]
  if (row === undefined) throw new TypeError(`no struct \`${name}\` in the environment`)
  return row
}

/** The row of a field, if the struct has it. */
export function fieldRow(structName: string, fieldName: string): StructField | undefined {
  return structRow(structName).fields.find(({ name }) => name === fieldName)
}
