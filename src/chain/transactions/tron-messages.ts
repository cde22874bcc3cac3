/** The protobuf messages of Tron that are read, from the chain's published `core/Tron.proto` and `core/contract/*.proto`. */
import type { MessageTable } from './protobuf.ts'

const integer = (name: string) => ({ name, kind: 'integer' }) as const
const bytes = (name: string) => ({ name, kind: 'bytes' }) as const
const many = (name: string) => ({ name, kind: 'bytes', repeated: true }) as const

/** `Transaction.raw`. What the chain does not act on is known and not read; `auths`, of old, is not even known. */
export const rawData: MessageTable = {
  1: bytes('ref_block_bytes'),
  3: integer('ref_block_num'),
  4: bytes('ref_block_hash'),
  8: integer('expiration'),
  10: bytes('data'),
  11: many('contract'),
  12: bytes('scripts'),
  14: integer('timestamp'),
  18: integer('fee_limit'),
}

/** `Transaction.Contract`. */
export const contract: MessageTable = {
  1: integer('type'),
  2: bytes('parameter'),
  3: bytes('provider'),
  4: bytes('ContractName'),
  5: integer('permission_id'),
}

/** `google.protobuf.Any`. */
export const anyMessage: MessageTable = { 1: bytes('type_url'), 2: bytes('value') }

export const permission: MessageTable = {
  1: integer('type'),
  2: integer('id'),
  3: bytes('permission_name'),
  4: integer('threshold'),
  5: integer('parent_id'),
  6: bytes('operations'),
  7: many('keys'),
}

export const permissionKey: MessageTable = { 1: bytes('address'), 2: integer('weight') }

/** How a field of a contract reads; the default of proto3 is a value like any other. */
export type TronValue = 'address' | 'integer' | 'bool' | 'hex' | 'resource' | 'permission' | 'permissions'

export interface ContractRow {
  readonly name: string
  readonly fields: readonly (readonly [number: number, name: string, value: TronValue])[]
}

/** The supported contract types by number (docs/protocol/policies.md#fields). */
export const contracts: Readonly<Record<number, ContractRow>> = {
  1: {
    name: 'TransferContract',
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'to_address', 'address'],
      [3, 'amount', 'integer'],
    ],
  },
  31: {
    name: 'TriggerSmartContract',
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'contract_address', 'address'],
      [3, 'call_value', 'integer'],
      [4, 'data', 'hex'],
      [5, 'call_token_value', 'integer'],
      [6, 'token_id', 'integer'],
    ],
  },
  46: {
    name: 'AccountPermissionUpdateContract',
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'owner', 'permission'],
      [3, 'witness', 'permission'],
      [4, 'actives', 'permissions'],
    ],
  },
  54: {
    name: 'FreezeBalanceV2Contract',
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'frozen_balance', 'integer'],
      [3, 'resource', 'resource'],
    ],
  },
  55: {
    name: 'UnfreezeBalanceV2Contract',
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'unfreeze_balance', 'integer'],
      [3, 'resource', 'resource'],
    ],
  },
  57: {
    name: 'DelegateResourceContract',
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'resource', 'resource'],
      [3, 'balance', 'integer'],
      [4, 'receiver_address', 'address'],
      [5, 'lock', 'bool'],
      [6, 'lock_period', 'integer'],
    ],
  },
  58: {
    name: 'UnDelegateResourceContract',
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'resource', 'resource'],
      [3, 'balance', 'integer'],
      [4, 'receiver_address', 'address'],
    ],
  },
}

/** The wire kinds behind the values above. */
export function contractTable({ fields }: ContractRow): MessageTable {
  return Object.fromEntries(
    fields.map(([number, name, value]) => {
      if (value === 'permissions') return [number, many(name)]
      return [number, value === 'integer' || value === 'bool' || value === 'resource' ? integer(name) : bytes(name)]
    }),
  )
}
