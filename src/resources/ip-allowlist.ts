/**
 * The two kinds of lists of addresses that requests may come from: the organization's, and that of one API key, which
 * then stands in its place. A write replaces the whole list, so what a plan shows before and after is all there is.
 */
import { parseCidr } from './cidr.ts'
import type { ChangeInput, FieldProblem, FieldRow, Power, ResourceKind } from './kind.ts'
import type { Resource, Value } from './model.ts'
import { isPlainRecord, listOf, sameValue } from './value.ts'
import * as wire from './wire/ip-allowlist.ts'
import { takeRecord } from './wire/record.ts'

/** Most blocks of either version (docs/protocol/organizations.md#ip-allow-lists). */
const MOST_RULES = 10

const rules: FieldRow = {
  compare: 'set',
  meaning: 'The blocks of addresses, such as `203.0.113.0/24`, with a label if wanted: these and no others.',
  required: true,
  schema: {
    type: 'array',
    minItems: 1,
    items: {
      type: ['string', 'object'],
      if: { type: 'object' },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: {
        additionalProperties: false,
        required: ['cidr'],
        properties: {
          cidr: { type: 'string', description: 'The block: at most /20 wide for IPv4, /48 for IPv6.' },
          label: { type: 'string', description: 'What it is.' },
        },
      },
    },
  },
  normal: (value) => (Array.isArray(value) ? value.map(wire.normalRule) : value),
}

const onEvaluationError: FieldRow = {
  compare: 'exact',
  meaning: 'What happens when the address of a request cannot be told. Left out: `deny`.',
  absent: 'deny',
  schema: { enum: ['allow', 'deny'] },
}

function checkRules({ fields }: Resource): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const seen = new Set<string>()
  const count = { 4: 0, 6: 0 }
  listOf(fields['rules']).forEach((rule, index) => {
    const text = isPlainRecord(rule) ? rule['cidr'] : undefined
    if (typeof text !== 'string') return
    const problem = (message: string) =>
      problems.push({ field: 'rules', at: [index, 'cidr'], code: 'resources/bad-cidr', message })
    const block = parseCidr(text)
    if ('expected' in block) problem(`expected ${block.expected}, got \`${text}\``)
    else if (seen.has(block.text)) problem(`the block \`${block.text}\` is in this list twice`)
    else if (++count[block.version] > MOST_RULES)
      problem(`expected at most ${MOST_RULES} blocks for IPv${block.version}, got another one`)
    if ('text' in block) seen.add(block.text)
  })
  return problems
}

/** Setting a list tightens, removing it loosens; a changed one tightens only if nobody gains by it. */
function power({ desired, actual, fields }: ChangeInput, action: 'create' | 'update' | 'delete'): Power {
  if (action === 'create') return desired!.fields['enabled'] === false ? 'neutral' : 'tightens'
  if (action === 'delete') return 'loosens'
  const after = desired!.fields
  if (fields.includes('enabled') && after['enabled'] === false) return 'loosens'
  if (fields.includes('onEvaluationError') && after['onEvaluationError'] === 'allow') return 'loosens'
  const block = (rule: Value) => (isPlainRecord(rule) ? (rule['cidr'] ?? null) : null)
  const before = listOf(actual!.fields['rules']).map(block)
  const gains = listOf(after['rules']).some((rule) => !before.some((one) => sameValue(one, block(rule), 'exact')))
  return gains ? 'loosens' : 'tightens'
}

const set = {
  type: 'ACTIVITY_TYPE_SET_IP_ALLOWLIST',
  carries: 'one',
  parameters: ([change]) => wire.toIntent(change!.desired!),
} as const satisfies ResourceKind['create']

const remove = {
  type: 'ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST',
  carries: 'one',
  parameters: ([change]) => wire.toRemoveIntent(change!.actual!),
} as const satisfies ResourceKind['remove']

const shared = {
  referable: false,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['SET_IP_ALLOWLIST', 'REMOVE_IP_ALLOWLIST'],
  check: checkRules,
  create: set,
  update: () => set,
  remove,
  power,
} as const

/** Where requests of the organization may come from. There is one or none; it judges nothing until it is enabled. */
export const ipAllowlist: ResourceKind = {
  ...shared,
  kind: 'ipAllowlist',
  one: 'IP allow-list',
  many: 'IP allow-lists',
  form: { key: 'ipAllowlist', shape: 'one' },
  fields: {
    enabled: {
      compare: 'exact',
      meaning: 'Whether it is enforced, and those of API keys with it. Left out: it is.',
      absent: true,
      schema: { type: 'boolean' },
    },
    rules,
    onEvaluationError,
  },
  // Parents alone have one (docs/protocol/organizations.md#ip-allow-lists), so nobody is asked without a reason.
  read: {
    query: 'get_ip_allowlist',
    onDemand: true,
    from: ({ allowlist }) => [wire.fromWire(takeRecord(allowlist, '`allowlist`')) ?? []].flat(),
  },
  identity: () => 'ipAllowlist',
}

/** Where requests of one API key may come from, whatever the organization's list says. Only in force while that is enabled. */
export const apiKeyIpAllowlist: ResourceKind = {
  ...shared,
  kind: 'apiKeyIpAllowlist',
  one: 'IP allow-list of an API key',
  many: 'IP allow-lists of API keys',
  parent: 'apiKey',
  form: { key: 'ipAllowlist', shape: 'one' },
  fields: {
    publicKey: { compare: 'never', meaning: 'The public key of the API key.', inherited: true },
    rules,
    onEvaluationError,
  },
  identity: () => 'apiKeyIpAllowlist',
}
