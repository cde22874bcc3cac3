import { canonicalJson, type Json } from '../../encoding/index.ts'
import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { takeOptionalText, takeText, type WireRecord } from './record.ts'

const PREFIX = 'SMART_CONTRACT_INTERFACE_TYPE_'
type WireType = `${typeof PREFIX}${'ETHEREUM' | 'SOLANA'}`

/** A contract interface out of the list of them. */
export function fromWire(record: WireRecord): Resource {
  const what = 'smart contract interface'
  const name = takeText(record, 'label', what)
  const type = takeText(record, 'type', what)
  return {
    address: formatAddress('smartContractInterface', name),
    kind: 'smartContractInterface',
    name,
    id: takeText(record, 'smartContractInterfaceId', what),
    fields: {
      name,
      address: normalAddress(takeText(record, 'smartContractAddress', what)),
      type: type.startsWith(PREFIX) ? type.slice(PREFIX.length).toLowerCase() : type,
      interface: normalInterface(takeText(record, 'smartContractInterface', what)),
      notes: takeOptionalText(record, 'notes', what) ?? '',
    },
  }
}

/** The parameters of `create_smart_contract_interface`. */
export function toIntent(one: Resource): Value {
  const { address, type, interface: json, notes = '' } = one.fields
  return {
    smartContractAddress: address!,
    smartContractInterface: json!,
    type: wireType(String(type)),
    label: one.name,
    notes,
  }
}

export function wireType(type: string): WireType {
  return type === 'solana' ? `${PREFIX}SOLANA` : `${PREFIX}ETHEREUM`
}

/**
 * Addresses of Ethereum compare without regard to case, those of Solana with
 * (docs/protocol/policies.md#contract-interfaces).
 */
export function normalAddress(address: Value): Value {
  return typeof address === 'string' && /^0x/i.test(address) ? address.toLowerCase() : address
}

/** Canonical JSON, so that layout and the order of members are no difference; a text that is no JSON stays as it is. */
export function normalInterface(value: Value): Value {
  if (typeof value !== 'string') return canonicalJson(value as Json)
  try {
    return canonicalJson(JSON.parse(value) as Json)
  } catch {
    return value
  }
}
