/**
 * Which batches could change what comes of which. A plan is walked in any order that its `after` allows, so two batches
 * of which one decides about the other must stand in an order; all others may run side by side, which is what keeps the
 * rounds of human approval few.
 *
 * Terms: the *influence* of a batch is what it changes of that which decisions read; the *sensitivity* of a request is what
 * the decision about it reads. Premise: a policy whose condition does not hold for a request, with any approvers, takes
 * no part in the decision (docs/protocol/policies.md#evaluating-a-policy), so only those whose condition may hold are
 * looked into. Every answer errs towards "could": an order too many costs time, one too few makes the forecast a guess.
 */
import {
  authorize,
  type CompiledPolicy,
  type PolicyContext,
  type PolicyText,
  type Reads,
  readsOf,
} from '../policy/index.ts'
import { findActivity } from '../protocol/index.ts'
import { kinds, listOf, loginFeaturesOf, type Resource, sameValue } from '../resources/index.ts'
import { createPolicyCompiler, type PolicyCompiler, policyText } from './policies.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** The changes of a batch that decisions read. */
export interface Influence {
  /** The quorum, one of its members, or the acting user, an MFA policy of theirs included: no decision is independent of it. */
  readonly everything: boolean
  /** The users who can approve, their names and credentials. */
  readonly people: boolean
  /** Somebody's e-mail address. */
  readonly email: boolean
  /** Tags that somebody gains or loses. */
  readonly tags: ReadonlySet<string>
  /** Policies, by id. */
  readonly policies: ReadonlySet<string>
}

/** The parts of the state that a decision reads. */
export interface Sensitivity {
  readonly people: boolean
  readonly email: boolean
  readonly tags: 'all' | ReadonlySet<string>
  readonly policies: ReadonlySet<string>
}

/** The differences between two states that decisions read; undefined when there is none. */
export function influenceOf(
  before: OrganizationState,
  after: OrganizationState,
  actorId: string,
): Influence | undefined {
  const touched = touchedThings(before, after)
  const central = new Set([actorId, ...membersOf(before), ...membersOf(after)])
  const logins = new Set([before, after].flatMap((state) => thingsOf(state, 'feature').map(({ name }) => name)))
  const logsIn = (user: Resource | undefined) =>
    user
      ? loginFeaturesOf(user.fields)
          .filter((name) => logins.has(name))
          .join()
      : ''
  let everything = false
  let people = false
  let email = false
  const tags = new Set<string>()
  const policies = new Set<string>()
  for (const { old, now } of touched) {
    const { kind, id, parentId } = (now ?? old)!
    if (kind === 'rootQuorum') everything = true
    else if (kinds[kind].credential) {
      people = true
      everything ||= central.has(parentId!)
    } else if (kind === 'feature') {
      // A user with a login contact can vote while the login feature is set, and only then.
      const users = thingsOf(after, 'user').filter(({ fields }) => loginFeaturesOf(fields).includes((now ?? old)!.name))
      people ||= users.length > 0
      everything ||= users.some((user) => central.has(user.id!))
    } else if (kind === 'user') {
      for (const tag of changedTags(old, now)) tags.add(tag)
      const known = old && now && old.name === now.name
      email ||= !known || !same(old, now, ['email'])
      const otherwise = !known || logsIn(old) !== logsIn(now)
      people ||= otherwise
      everything ||= otherwise && central.has(id!)
    } else if (kind === 'mfaPolicy') {
      // What it asks of the acting user is asked of every later activity.
      everything ||= parentId === actorId
    } else if (kind === 'policy') {
      const known = old && now && old.name === now.name
      if (!known || !same(old, now, ['effect', 'consensus', 'condition', 'time'])) policies.add(id!)
    }
  }
  if (!everything && !people && !email && tags.size === 0 && policies.size === 0) return undefined
  return { everything, people, email, tags, policies }
}

/** Makes the question of what the decision about a request reads, given every version of every policy that there will be. */
export function createSensitivity(
  versions: readonly PolicyText[],
  compile: PolicyCompiler = createPolicyCompiler(),
): (context: PolicyContext) => Sensitivity {
  const rows = versions.map((policy) => {
    // Who approves is another question; without a consensus the condition alone decides.
    const { time, condition, consensus, isIncluded, outcomes } = compile(policy)
    const { roots } = readsOf(condition?.tree)
    const personal = roots.has('approvers') || roots.has('credentials')
    const reads = readsOf(consensus?.tree, personal ? condition?.tree : undefined)
    const allowing = { ...policy, effect: 'EFFECT_ALLOW' as const }
    return {
      id: policy.id,
      compiled: { policy: allowing, time, condition, consensus: undefined, isIncluded, outcomes },
      personal,
      people: personal || consensus !== undefined,
      email: readsEmail(reads),
      tags: tagsIn(reads),
    }
  })
  return (context) => {
    if (findActivity(context.activity.type)?.row.rootOnly)
      return { people: false, email: false, tags: new Set(), policies: new Set() }
    const relevant = rows.filter(({ compiled, personal }) => personal || mayHold(compiled, context))
    return {
      people: relevant.some(({ people }) => people),
      email: relevant.some(({ email }) => email),
      tags: relevant.some(({ tags }) => tags === 'all')
        ? 'all'
        : new Set(relevant.flatMap(({ tags }) => [...(tags as ReadonlySet<string>)])),
      policies: new Set(relevant.map(({ id }) => id)),
    }
  }
}

/** Whether carrying out one batch could change what comes of another. */
export function influences(influence: Influence | undefined, { people, email, tags, policies }: Sensitivity): boolean {
  if (!influence) return false
  if (influence.everything || (influence.people && people) || (influence.email && email)) return true
  if ([...influence.tags].some((tag) => tags === 'all' || tags.has(tag))) return true
  return [...influence.policies].some((id) => policies.has(id))
}

/** Whether the decision about some request of some user could be another one after one state than after another. */
export function decisionsMayDiffer(
  before: OrganizationState,
  after: OrganizationState,
  compile: PolicyCompiler,
): boolean {
  const influence = influenceOf(before, after, '')
  if (!influence) return false
  const { everything, people, policies } = influence
  if (everything || people || policies.size > 0) return true
  // Policies are the same in both states, and no condition reads who approves.
  const trees = new Set(thingsOf(after, 'policy').map((policy) => compile(policyText(policy)).consensus?.tree))
  return [...trees].some((tree) => {
    const reads = readsOf(tree)
    const asked = { people: true, email: readsEmail(reads), tags: tagsIn(reads), policies: new Set<string>() }
    return influences(influence, asked)
  })
}

/** Same request, same decision in the same state. */
export function requestKey({ activity, targetUserId, wallets }: PolicyContext): string {
  return JSON.stringify([activity, targetUserId ?? null, wallets ?? null])
}

function mayHold(compiled: CompiledPolicy, context: PolicyContext): boolean {
  const { rootQuorum: _rootQuorum, ...withoutQuorum } = context
  return authorize([compiled], withoutQuorum).policies[0]?.outcome === 'OUTCOME_ALLOW'
}

function readsEmail({ chains }: Reads): boolean {
  return chains.has('approvers.email') || chains.has('approvers')
}

/** The tags that are asked for; all of them when tags are looked at in any other way than by one that is named. */
function tagsIn({ chains }: Reads): 'all' | ReadonlySet<string> {
  const use = chains.has('approvers') ? 'otherwise' : (chains.get('approvers.tags') ?? new Set<string>())
  return use === 'otherwise' ? 'all' : use
}

function membersOf(state: OrganizationState): readonly string[] {
  return thingsOf(state, 'rootQuorum').flatMap(({ fields }) => listOf(fields['users']).map(String))
}

/** Members that are another object than before: states share unchanged members. */
export function touchedThings(
  before: OrganizationState,
  after: OrganizationState,
): readonly { readonly old?: Resource; readonly now?: Resource }[] {
  const [had, has] = [new Set(before.things), new Set(after.things)]
  const gone = new Map(before.things.filter((one) => !has.has(one)).map((one) => [`${one.kind} ${one.id}`, one]))
  const come = new Map(after.things.filter((one) => !had.has(one)).map((one) => [`${one.kind} ${one.id}`, one]))
  return [...new Set([...gone.keys(), ...come.keys()])].map((key) => {
    const [old, now] = [gone.get(key), come.get(key)]
    return { ...(old ? { old } : {}), ...(now ? { now } : {}) }
  })
}

function changedTags(old: Resource | undefined, now: Resource | undefined): readonly string[] {
  const [had, has] = [tagsOf(old), tagsOf(now)]
  return [...[...had].filter((tag) => !has.has(tag)), ...[...has].filter((tag) => !had.has(tag))]
}

function tagsOf(user: Resource | undefined): ReadonlySet<string> {
  return new Set(listOf(user?.fields['tags']).map(String))
}

function same(a: Resource, b: Resource, fields: readonly string[]): boolean {
  return fields.every((field) => sameValue(a.fields[field], b.fields[field], 'exact'))
}

/** Every version of every policy in some states, each once. */
export function policyVersions(
  states: readonly OrganizationState[],
  textOf: (policy: Resource) => PolicyText,
): readonly PolicyText[] {
  const seen = new Set<Resource>(states.flatMap((state) => thingsOf(state, 'policy')))
  return [...seen].map(textOf)
}
