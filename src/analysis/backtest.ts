/**
 * What recorded activities say of policies: what other policies would have made of them, which of today's policies any of them
 * hung on, and how much of today's could go without one of them being decided otherwise.
 */
import { allWorlds, type PolicyContext, readForLint, truth } from '../policy/index.ts'
import { type ActivityType, activities, fromTimestamp, type Wire } from '../protocol/index.ts'
import type { Resource } from '../resources/index.ts'
import { computing } from './computing.ts'
import { policyText } from './policies.ts'
import {
  createRecordedJudge,
  type RecordedDecision,
  type RecordedJudge,
  type RecordedOutcome,
  recordedOutcome,
  type Things,
} from './recorded.ts'

/** Says what policies read of an activity besides its parameters, among these things; undefined where that is not known. */
export type FactsOf = (activity: Wire.Activity, things: Things) => Partial<PolicyContext> | undefined

/** Activities on record, and what is needed to decide them again. */
export interface Recordings {
  readonly activities: readonly Wire.Activity[]
  readonly factsOf: FactsOf
  /** Milliseconds since the epoch: approvals of waiting activities may have lapsed by then. */
  readonly nowMs: number
}

/** One activity, by the record and by two states. */
export interface BacktestRow {
  readonly activityId: string
  readonly type: string
  /** ISO 8601: when it was submitted. */
  readonly at: string
  /** Names of those who approved it, the submitter first. */
  readonly by: readonly string[]
  readonly recorded: RecordedOutcome
  readonly before: RecordedDecision
  readonly after: RecordedDecision
}

/** Decides each activity by both states, newest first. */
export function backtest(
  { activities: recorded, factsOf, nowMs }: Recordings,
  { before, after }: { readonly before: Things; readonly after: Things },
): readonly BacktestRow[] {
  const judges = [createRecordedJudge(before, { nowMs }), createRecordedJudge(after, { nowMs })] as const
  const rows: BacktestRow[] = []
  return computing(
    () => `how each activity would be decided, ${rows.length} of ${recorded.length} so far`,
    () => {
      for (const activity of recorded) {
        const [one, other] = judges.map((judge) => judge.decide(activity, factsOf(activity, judge.things)))
        rows.push({ ...rowOf(activity), recorded: recordedOutcome(activity), before: one!, after: other! })
      }
      return rows
    },
  )
}

/** What hung on one policy. */
export interface PolicyUsage {
  readonly policy: string
  readonly effect: 'allow' | 'deny'
  /** How many activities it allowed or denied, alone or with others, or let somebody vote on who was needed. */
  readonly tookPart: number
  /** How many of these would have been decided otherwise without it. */
  readonly decisive: number
  /** The newest of the decisive ones. */
  readonly last?: Pick<BacktestRow, 'activityId' | 'type' | 'at' | 'by'>
}

export interface Usage {
  /** By name. */
  readonly policies: readonly PolicyUsage[]
  /** How many activities were counted: those that today's policies and people decide as it was recorded. */
  readonly counted: number
  /** How many are not counted: decided otherwise today, because policies or people have changed since. */
  readonly changed: number
  /** How many are not counted because what they were decided by is not all on record. */
  readonly unknown: number
}

/** Counts, policy by policy, the activities that would have been decided otherwise without it. */
export function usageOf({ activities: recorded, factsOf, nowMs }: Recordings, things: Things): Usage {
  const judge = createRecordedJudge(things, { nowMs })
  const used = new Map(
    things
      .filter(({ kind }) => kind === 'policy')
      .map(({ name, fields }) => [
        name,
        { effect: effectOf(fields), tookPart: 0, decisive: 0, last: undefined as Wire.Activity | undefined },
      ]),
  )
  const counts = { counted: 0, changed: 0, unknown: 0 }
  const count = (activity: Wire.Activity) => {
    const facts = factsOf(activity, things)
    const { outcome, policies } = judge.decide(activity, facts)
    const how = outcome === 'unknown' ? 'unknown' : outcome === recordedOutcome(activity) ? 'counted' : 'changed'
    counts[how]++
    if (how !== 'counted') return
    const decisive = judge.decisive(activity, facts)
    for (const name of new Set([...policies, ...decisive])) used.get(name)!.tookPart++
    for (const name of decisive) {
      const row = used.get(name)!
      row.decisive++
      row.last ??= activity
    }
  }
  computing('which activities hung on which policy', () => recorded.forEach(count))
  const policies = [...used].map(([policy, { last, ...row }]) => ({
    policy,
    ...row,
    ...(last ? { last: rowOf(last) } : {}),
  }))
  return { policies: policies.sort((a, b) => (a.policy < b.policy ? -1 : 1)), ...counts }
}

/** A change that takes power from an ALLOW policy without deciding any counted activity otherwise. */
export type Proposal =
  | { readonly policy: string; readonly change: 'remove' }
  /** Only for these kinds of activities, which are all that it was needed for. */
  | {
      readonly policy: string
      readonly change: 'narrow'
      readonly kinds: readonly string[]
      readonly condition: string
    }

/** More kinds than these make a condition that nobody reads. */
const MOST_KINDS = 8

/**
 * Proposes which ALLOW policies could go, and which could be kept to the kinds of activities that they were needed for. What is
 * left decides every activity whose decision is known as today's policies do: that is tried for each change, with those before it.
 */
export function proposalsOf(recordings: Recordings, things: Things): Proposed {
  return computing('which policies could let through less', () => propose(recordings, things))
}

interface Proposed {
  readonly proposals: readonly Proposal[]
  readonly things: Things
}

function propose(recordings: Recordings, things: Things): Proposed {
  const trial = createTrial(recordings, things)
  const proposals: Proposal[] = []
  let left = things
  const accept = (proposal: Proposal, next: Things) => {
    if (!trial.isSame(next, proposal.policy)) return false
    proposals.push(proposal)
    left = next
    return true
  }
  const allows = things.filter(({ kind, fields }) => kind === 'policy' && effectOf(fields) === 'allow')
  for (const { id, name: policy } of allows.toSorted(
    (a, b) => trial.uses(a) - trial.uses(b) || (a.name < b.name ? -1 : 1),
  )) {
    const isRemoved = accept(
      { policy, change: 'remove' },
      left.filter((one) => one.id !== id),
    )
    if (isRemoved) continue
    const kept = left.find((one) => one.id === id)!
    const narrowed = narrowedTo(kept, trial.kindsOf(kept))
    if (narrowed)
      accept(
        { policy, change: 'narrow', ...narrowed },
        left.map((one) => (one.id === id ? withCondition(one, narrowed.condition) : one)),
      )
  }
  return { proposals, things: left }
}

interface Trial {
  /** How many activities a policy took part in. */
  readonly uses: (policy: Resource) => number
  /** Whether everything is decided as it was, once this policy is changed. */
  readonly isSame: (things: Things, changed: string) => boolean
  /** The kinds of the activities that a policy took part in. */
  readonly kindsOf: (policy: Resource) => ReadonlySet<string | undefined>
}

function createTrial({ activities: recorded, factsOf, nowMs }: Recordings, things: Things): Trial {
  const judgeOf = (some: Things): RecordedJudge => createRecordedJudge(some, { nowMs })
  const first = judgeOf(things)
  const cases = recorded.flatMap((activity) => {
    const facts = factsOf(activity, things)
    const { outcome, policies } = first.decide(activity, facts)
    return outcome === 'unknown' ? [] : [{ activity, facts, outcome, policies }]
  })
  return {
    uses: ({ name }) => cases.filter(({ policies }) => policies.includes(name)).length,
    isSame(some, changed) {
      const judge = judgeOf(some)
      return cases.every(({ activity, facts, outcome, policies }) => {
        // A policy that allows and took no part in one vote that was decided at once makes no difference to it.
        const isApart = activity.votes.length < 2 && outcome !== 'waits' && !policies.includes(changed)
        return isApart || judge.decide(activity, facts).outcome === outcome
      })
    },
    kindsOf({ name }) {
      const of = cases.filter(({ policies }) => policies.includes(name))
      return new Set(of.map(({ activity }) => activities[activity.type as ActivityType]?.kind))
    },
  }
}

/** The condition with the kinds before it; undefined where the policy speaks of no other kind, or of one without a name. */
function narrowedTo(
  policy: Resource,
  kinds: ReadonlySet<string | undefined>,
): { readonly kinds: readonly string[]; readonly condition: string } | undefined {
  if (kinds.size === 0 || kinds.size > MOST_KINDS || kinds.has(undefined)) return undefined
  const wanted = [...kinds].map(String).sort()
  const { condition } = policyText(policy)
  const read = condition === undefined ? undefined : readForLint('condition', condition)
  const speaksOf = allWorlds().filter((world) => {
    const value = read ? truth(read.tree, world, read) : 'true'
    return value === 'true' || value === 'open'
  })
  if (speaksOf.every(({ row }) => row.kind !== undefined && kinds.has(row.kind))) return undefined
  const only =
    wanted.length === 1
      ? `activity.kind == '${wanted[0]}'`
      : `activity.kind in [${wanted.map((one) => `'${one}'`).join(', ')}]`
  if (condition === undefined) return { kinds: wanted, condition: only }
  const isConjunction = read?.tree.kind === 'logic' && read.tree.operator === '&&'
  return { kinds: wanted, condition: `${only} && ${isConjunction ? condition : `(${condition})`}` }
}

function withCondition(policy: Resource, condition: string): Resource {
  return { ...policy, fields: { ...policy.fields, condition } }
}

function rowOf({ id, type, createdAt, votes }: Wire.Activity): Pick<BacktestRow, 'activityId' | 'type' | 'at' | 'by'> {
  const approvals = votes
    .filter(({ selection }) => selection === 'VOTE_SELECTION_APPROVED')
    .toSorted((a, b) => fromTimestamp(a.createdAt) - fromTimestamp(b.createdAt))
  return {
    activityId: id,
    type,
    at: new Date(fromTimestamp(createdAt)).toISOString(),
    by: approvals.map(({ userId, user }) => user?.userName || userId),
  }
}

function effectOf({ effect }: Resource['fields']): 'allow' | 'deny' {
  return effect === 'deny' ? 'deny' : 'allow'
}
