import type { ChangeInput, FieldProblem, Power, ResourceKind } from './kind.ts'
import type { Resource } from './model.ts'
import { listOf, sameValue } from './value.ts'

/** Who may do everything, and how many of them it takes. There is one and it always exists. */
export const rootQuorum: ResourceKind = {
  kind: 'rootQuorum',
  one: 'root quorum',
  many: 'root quorums',
  form: { key: 'rootQuorum', shape: 'one' },
  fields: {
    threshold: {
      compare: 'exact',
      meaning: 'How many members must approve.',
      required: true,
      schema: { type: 'integer', minimum: 1, maximum: 100 },
    },
    users: {
      compare: 'set',
      meaning: 'The members, by name.',
      required: true,
      names: 'user',
      schema: { type: 'array', minItems: 1, items: { type: 'string' } },
    },
  },
  referable: false,
  deleteNeedsTombstone: true,
  rides: false,
  changedBy: ['UPDATE_ROOT_QUORUM'],
  identity: () => 'rootQuorum',
  check: checkQuorum,
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
    carries: 'one',
    parameters: ([{ desired, actual } = { desired: undefined, actual: undefined }]) => ({
      threshold: desired?.fields['threshold'] ?? actual!.fields['threshold']!,
      userIds: desired?.fields['users'] ?? actual!.fields['users']!,
    }),
  }),
  power: (change) => quorumPower(change),
}

function checkQuorum({ fields: { threshold, users } }: Resource): readonly FieldProblem[] {
  if (typeof threshold !== 'number' || !Array.isArray(users) || users.length === 0 || threshold <= users.length)
    return []
  const message = `a threshold of ${threshold} can never be met by ${users.length} ${users.length === 1 ? 'member' : 'members'}`
  return [
    { field: 'threshold', code: 'resources/quorum-never-met', message, help: 'lower the threshold or add members' },
  ]
}

/**
 * A higher threshold tightens, even when members join: more people must agree. At an equal threshold, fewer members
 * tighten, and a new member loosens. A lower threshold always loosens.
 */
function quorumPower({ desired, actual }: ChangeInput): Power {
  const before = Number(actual?.fields['threshold'] ?? 0)
  const after = Number(desired?.fields['threshold'] ?? before)
  if (after !== before) return after > before ? 'tightens' : 'loosens'
  const old = listOf(actual?.fields['users'])
  const joins = listOf(desired?.fields['users']).some((user) => !old.some((one) => sameValue(one, user, 'exact')))
  return joins ? 'loosens' : 'tightens'
}
