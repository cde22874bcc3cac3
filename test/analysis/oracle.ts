/**
 * Who gets a request allowed, by trying every vote in every order with the evaluator that decides in the service. It reads resources by
 * itself and shares nothing with the analysis, which it is held against: not how people, credentials or policies are read.
 */
import {
  type Approver,
  authorize,
  type CompiledPolicy,
  type CredentialFacts,
  compilePolicy,
  mayVote,
  type PolicyContext,
} from '../../src/policy/index.ts'
import { remembered } from '../remembered.ts'

/** A resource as it lives, of which the oracle knows users, API keys, policies and the root quorum. */
interface Thing {
  readonly kind: string
  readonly name: string
  readonly id?: string | undefined
  readonly parentId?: string | undefined
  readonly fields: Readonly<Record<string, unknown>>
}

interface Person {
  readonly name: string
  readonly approver: Approver
  readonly credentials: readonly CredentialFacts[]
}

interface Read {
  readonly rootQuorum: { readonly threshold: number; readonly userIds: readonly string[] }
  readonly policies: readonly CompiledPolicy[]
  readonly people: readonly Person[]
}

/** Kinds of which no decision about these requests hangs. */
const BESIDE = new Set(['organization', 'tag', 'wallet'])

/** What all requests of an organization have in common, found once: to compile its policies costs more than to try them. */
const read = remembered((things: readonly Thing[]): Read => {
  const policies: CompiledPolicy[] = []
  const people: Person[] = []
  let rootQuorum: Read['rootQuorum'] = { threshold: 0, userIds: [] }
  for (const { kind, name, id = '', fields } of things) {
    if (kind === 'policy') {
      const text = (field: string) => (typeof fields[field] === 'string' ? fields[field] : undefined)
      policies.push(
        compilePolicy({
          id,
          name,
          effect: fields['effect'] === 'deny' ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
          condition: text('condition'),
          consensus: text('consensus'),
          time: text('time'),
        }),
      )
    } else if (kind === 'rootQuorum') {
      rootQuorum = { threshold: fields['threshold'] as number, userIds: fields['users'] as readonly string[] }
    } else if (kind === 'user') {
      const { tags = [], email } = fields as { tags?: readonly string[]; email?: string }
      const approver = { id, alias: name, tags: [...tags].sort(), ...(email === undefined ? {} : { email }) }
      const keys = things.filter((one) => one.kind === 'apiKey' && one.parentId === id)
      const credentials = keys.map((one) => ({
        id: one.id!,
        user_id: id,
        type: `CREDENTIAL_TYPE_API_KEY_${String(one.fields['curve'])}`,
        public_key: String(one.fields['publicKey']),
      }))
      people.push({ name, approver, credentials })
    } else if (kind !== 'apiKey' && !BESIDE.has(kind)) {
      throw new Error(`the oracle does not know what ${kind} ${name} is to a decision`)
    }
  }
  return { rootQuorum, policies, people }
})

/** All sets of people who get the request allowed, by every order of every vote. */
export function trials(things: readonly Thing[], request: Partial<PolicyContext>, now: number): ReadonlySet<string> {
  const { rootQuorum, policies, people } = read(things)
  const allowed = new Set<string>()
  const vote = (context: PolicyContext, voted: readonly Person[]) => {
    for (const person of people) {
      if (voted.includes(person)) continue
      for (const credential of person.credentials) {
        if (voted.length > 0 && !mayVote(policies, context, person.approver, credential)) continue
        const next = {
          ...context,
          approvers: [...context.approvers, person.approver],
          credentials: [...(context.credentials ?? []), credential],
        }
        const all = [...voted, person]
        const { outcome } = authorize(policies, next)
        if (outcome === 'OUTCOME_ALLOW') allowed.add(setText(all.map(({ name }) => name)))
        else if (outcome === 'OUTCOME_REQUIRES_CONSENSUS') vote(next, all)
      }
    }
  }
  const start = { now: BigInt(now) * 1_000_000n, activity: { type: '' }, approvers: [], credentials: [], rootQuorum }
  vote({ ...start, ...request }, [])
  return allowed
}

/** A set of people, written in one way. */
export const setText = (names: readonly string[]) => [...names].sort().join(' ')
