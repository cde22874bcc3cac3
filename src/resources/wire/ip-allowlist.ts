import { formatAddress, parseAddress } from '../address.ts'
import { parseCidr } from '../cidr.ts'
import type { Resource, Value } from '../model.ts'
import { isPlainRecord, listOf } from '../value.ts'
import {
  takeOptionalBoolean,
  takeOptionalList,
  takeOptionalText,
  takeRecord,
  takeText,
  type WireRecord,
} from './record.ts'

/**
 * An allow-list out of its query: the organization's, or that of an API key. Nothing when none is set: the answer then
 * has no rules (docs/protocol/organizations.md#ip-allow-lists), and is not enabled, for an enabled list without rules
 * lets nobody in.
 */
export function fromWire(record: WireRecord, apiKey?: Resource): Resource | undefined {
  const rules = (takeOptionalList(record, 'rules', 'IP allow-list') ?? []).map((one) => {
    const rule = takeRecord(one, 'a rule of an IP allow-list')
    const label = takeOptionalText(rule, 'label', 'rule')
    return normalRule({ cidr: takeText(rule, 'cidr', 'rule'), ...(label === undefined ? {} : { label }) })
  })
  const enabled = takeOptionalBoolean(record, 'enabled', 'IP allow-list') ?? false
  if (rules.length === 0 && !(enabled && !apiKey)) return undefined
  const onEvaluationError = takeOptionalText(record, 'onEvaluationError', 'IP allow-list')?.toLowerCase() ?? 'deny'
  if (!apiKey) {
    const name = 'ipAllowlist'
    return { address: formatAddress(name), kind: name, name, id: name, fields: { enabled, rules, onEvaluationError } }
  }
  // It has no id: its key stands for it.
  const publicKey = String(apiKey.fields['publicKey'])
  return {
    address: formatAddress('apiKeyIpAllowlist', ...namesOf(apiKey)),
    kind: 'apiKeyIpAllowlist',
    name: publicKey,
    parent: apiKey.address,
    ...(apiKey.id === undefined ? {} : { parentId: apiKey.id }),
    id: publicKey,
    fields: { publicKey, rules, onEvaluationError },
  }
}

/** The parameters of `set_ip_allowlist`: the whole list, always. */
export function toIntent(list: Resource): Value {
  const { publicKey, enabled, rules, onEvaluationError } = list.fields
  return {
    ...(publicKey === undefined ? {} : { publicKey }),
    ...(enabled === undefined ? {} : { enabled }),
    rules: listOf(rules),
    onEvaluationError: String(onEvaluationError).toUpperCase(),
  }
}

/** The parameters of `remove_ip_allowlist`. */
export function toRemoveIntent(list: Resource): Value {
  const { publicKey } = list.fields
  return publicKey === undefined ? {} : { publicKey }
}

/** The one form of a rule: host bits cleared, no empty label. What is no block stays as it is. */
export function normalRule(rule: Value): Value {
  const { cidr, label } = typeof rule === 'string' ? { cidr: rule } : isPlainRecord(rule) ? rule : {}
  if (typeof cidr !== 'string') return rule
  const block = parseCidr(cidr)
  return { cidr: 'text' in block ? block.text : cidr, ...(label === undefined || label === '' ? {} : { label }) }
}

function namesOf(apiKey: Resource): readonly string[] {
  return parseAddress(apiKey.address)?.names ?? []
}
