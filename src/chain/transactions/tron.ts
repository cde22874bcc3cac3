/** Tron's protobuf `raw_data` → `tron.tx` (docs/protocol/policies.md#fields). Bytes read as hex without `0x`. */
import { decodeUtf8, encodeHex } from '../../encoding/index.ts'
import { encodeVersioned } from '../checksum.ts'
import { type ProtobufMessage, readProtobuf } from './protobuf.ts'
import { type Facts, refuse, refuseUnsupported } from './refuse.ts'
import {
  anyMessage,
  type ContractRow,
  contract,
  contracts,
  contractTable,
  permission,
  permissionKey,
  rawData,
  type TronValue,
} from './tron-messages.ts'

/** The memo, `data`, is hex as in the chain's own JSON: it need not be text (the sources do not say). */
export function readTron(bytes: Uint8Array): Facts {
  const raw = readProtobuf(bytes, rawData, 'the raw data')
  const given = raw.all('contract')
  if (given.length !== 1) refuse(`expected one contract, got ${given.length}`)
  return {
    ref_block_bytes: encodeHex(raw.bytes('ref_block_bytes')),
    ref_block_hash: encodeHex(raw.bytes('ref_block_hash')),
    expiration: raw.integer('expiration'),
    timestamp: raw.integer('timestamp'),
    data: encodeHex(raw.bytes('data')),
    fee_limit: raw.integer('fee_limit'),
    contract: given.map(readContract),
  }
}

/** The number says which contract it is, and so does the address of its type; they must agree. */
function readContract(bytes: Uint8Array): Facts {
  const envelope = readProtobuf(bytes, contract, 'the contract')
  const number = envelope.integer('type')
  const row = contracts[Number(number)]
  if (row === undefined) refuseUnsupported(`the contract type ${number} is not supported`)
  const parameter = readProtobuf(envelope.bytes('parameter'), anyMessage, 'the parameter')
  const url = text(parameter.bytes('type_url'), 'type_url')
  if (!url.endsWith(`/protocol.${row.name}`))
    refuse(`a contract of type \`${row.name}\` has a parameter of another type`)
  const message = readProtobuf(parameter.bytes('value'), contractTable(row), `the ${row.name}`)
  return { type: row.name, permission_id: envelope.integer('permission_id'), ...contractFacts(row, message) }
}

function contractFacts({ fields }: ContractRow, message: ProtobufMessage): Facts {
  const facts = fields.flatMap(([, name, value]) => {
    // An account without a witness has no permission for it.
    if (value === 'permission' && !message.has(name)) return []
    return [[name, readers[value](message, name)] as const]
  })
  const { lock_period, ...others } = Object.fromEntries(facts)
  // It is there when `lock` is, says the table of fields.
  return others['lock'] === true ? { ...others, lock_period } : others
}

const readers: Readonly<Record<TronValue, (message: ProtobufMessage, name: string) => unknown>> = {
  address: (message, name) => address(message.bytes(name), name),
  integer: (message, name) => message.integer(name),
  bool: (message, name) => oneOf(['false', 'true'], message.integer(name), name) === 'true',
  hex: (message, name) => encodeHex(message.bytes(name)),
  resource: (message, name) => oneOf(RESOURCES, message.integer(name), name),
  permission: (message, name) => readPermission(message.bytes(name)),
  permissions: (message, name) => message.all(name).map(readPermission),
}

/** The third is of the chain's old votes: it can still be unfrozen. */
const RESOURCES = ['BANDWIDTH', 'ENERGY', 'TRON_POWER']
const PERMISSIONS = ['Owner', 'Witness', 'Active']

function readPermission(bytes: Uint8Array): Facts {
  const message = readProtobuf(bytes, permission, 'a permission')
  return {
    type: oneOf(PERMISSIONS, message.integer('type'), 'type'),
    id: message.integer('id'),
    permission_name: text(message.bytes('permission_name'), 'permission_name'),
    threshold: message.integer('threshold'),
    parent_id: message.integer('parent_id'),
    operations: encodeHex(message.bytes('operations')),
    keys: message.all('keys').map((key) => {
      const { bytes: part, integer } = readProtobuf(key, permissionKey, 'a key')
      return { address: address(part('address'), 'address'), weight: integer('weight') }
    }),
  }
}

/** `0x41` and 20 bytes, written as base58check: `T…`. */
function address(bytes: Uint8Array, name: string): string {
  if (bytes.length !== 21 || bytes[0] !== 0x41) refuse(`\`${name}\` is no address`)
  return encodeVersioned(0x41, bytes.subarray(1))
}

function oneOf(names: readonly string[], index: bigint, name: string): string {
  const found = index >= 0n && index < BigInt(names.length) ? names[Number(index)] : undefined
  return found ?? refuse(`\`${name}\` has no value ${index}`)
}

function text(bytes: Uint8Array, name: string): string {
  try {
    return decodeUtf8(bytes)
  } catch (cause) {
    return refuse(`\`${name}\` is no UTF-8`, cause)
  }
}
