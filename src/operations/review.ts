/** What a voter is shown of an activity: rebuilt from its intent, and held against the plans that are known. */
import { isDeepStrictEqual } from 'node:util'
import { isIntent, type KeptPlan, type RotationOrder, type RotationPart } from '../../activities/index.ts'
import { type Review, reviewOf } from '../analysis/index.ts'
import { allPlans, type Batch, fillParameters, type Plan } from '../plan/index.ts'
import { findActivity, fromTimestamp, type Json, type Wire } from '../protocol/index.ts'
import { type Actual, type Address, referencesOf, type Value } from '../resources/index.ts'

/** One parameter in which an activity is not what a plan says. */
export interface Deviation {
  /** `policies.0.condition`. */
  readonly parameter: string
  readonly planned?: Json
  readonly asked?: Json
}

/** What the plans and rotations that are known say of an activity. */
export type Explained =
  | { readonly kind: 'planned'; readonly plan: PlanName; readonly batch: number }
  /** A plan asks the same of the same thing, but in other words. */
  | {
      readonly kind: 'mismatch'
      readonly plan: PlanName
      readonly batch: number
      readonly deviations: readonly Deviation[]
    }
  /** A rotation that was ordered here has submitted it. */
  | {
      readonly kind: 'rotation'
      readonly rotationId: string
      /** Names. */
      readonly user: string
      readonly key: string
      readonly part: RotationPart
      /** ISO 8601. */
      readonly orderedAt: string
    }
  /** The ledger of the data folder has it as a send that was ordered here. */
  | { readonly kind: 'send'; readonly reference: string }
  /** A command of the data folder has submitted it without a plan. */
  | { readonly kind: 'command'; readonly command: string; readonly what: string }
  /** Plans are known here, and none of them asks for it. */
  | { readonly kind: 'made outside'; readonly plansLookedAt: number }
  /** No plan of its organization is known here. */
  | { readonly kind: 'unknown' }

/** A plan, as a voter names it. */
export interface PlanName {
  readonly digest: string
  readonly createdAt: string
  readonly commit?: string
  /** Whether the definitions were changed since that commit, as the plan has it. */
  readonly uncommitted?: NonNullable<Plan['uncommitted']>
}

export interface ReviewedActivity extends Review {
  readonly explained: Explained
}

/**
 * Reviews an activity. `plans` are those given by the voter and those of the data folder, newest first; `rotation` is the one of the
 * data folder that submitted it.
 */
export function reviewActivity(
  activity: Wire.Activity,
  {
    plans,
    rotation,
    ...given
  }: {
    readonly plans: readonly KeptPlan[]
    readonly rotation?: { readonly order: RotationOrder; readonly part: RotationPart } | undefined
  } & Parameters<typeof reviewOf>[1] & { readonly actual: Actual },
): ReviewedActivity {
  const review = reviewOf(activity, given)
  if (rotation) {
    const { part, order } = rotation
    const { rotationId, user, key, orderedAt } = order
    return { ...review, explained: { kind: 'rotation', rotationId, user: user.name, key: key.name, part, orderedAt } }
  }
  return { ...review, explained: explain(activity, { review, plans, actual: given.actual }) }
}

function explain(
  activity: Wire.Activity,
  { review, plans, actual }: { readonly review: Review; readonly plans: readonly KeptPlan[]; readonly actual: Actual },
): Explained {
  const live = new Map(actual.resources.map(({ address, id }) => [address, id!]))
  const known = plans.flatMap(({ plan, isOpen }) =>
    allPlans(plan)
      .filter(({ organization }) => organization.id === activity.organizationId)
      .map((one) => ({ plan: { ...one, ...committed(plan) }, isOpen })),
  )
  const planned = known.flatMap((one) => {
    const batch = one.plan.batches.find((each) => isBatch(activity, each, { plan: one.plan, live }))
    return batch ? [{ ...one, batch }] : []
  })
  const by = likeliest(planned, fromTimestamp(activity.createdAt))
  if (by) return { kind: 'planned', plan: nameOf(by.plan), batch: by.batch.index }
  for (const { plan, isOpen } of known) {
    // One that was carried out explains nothing that came after it.
    const batch = isOpen ? plan.batches.find((one) => isAbout(activity, one, review)) : undefined
    if (!batch) continue
    const asked = intentOf(activity)
    const meant = filled(batch, { plan, live })
    return { kind: 'mismatch', plan: nameOf(plan), batch: batch.index, deviations: deviations(meant, asked, []) }
  }
  return known.length === 0 ? { kind: 'unknown' } : { kind: 'made outside', plansLookedAt: known.length }
}

/**
 * Of plans that ask for the same, newest first, the one that an activity is taken to be of: none that was made after it, and rather one
 * that is being carried out.
 * @param createdMs when the activity was made
 */
function likeliest<P extends KeptPlan>(plans: readonly P[], createdMs: number): P | undefined {
  const before = plans.filter(({ plan }) => Date.parse(plan.createdAt) <= createdMs)
  // The clock of the machine that planned may be ahead of the API's.
  const some = before.length > 0 ? before : plans
  return some.find(({ isOpen }) => isOpen) ?? some[0]
}

function committed({ commit, uncommitted }: Plan): Pick<PlanName, 'commit' | 'uncommitted'> {
  return { ...(commit ? { commit } : {}), ...(uncommitted ? { uncommitted } : {}) }
}

interface Place {
  readonly plan: Plan
  readonly live: ReadonlyMap<Address, string>
}

/** What an earlier batch of the plan made is known by its name by now. */
function filled({ parameters }: Batch, { plan, live }: Place): Json {
  const made = referencesOf(parameters as Value).flatMap((address): [Address, string][] => {
    const id = plan.ids[address] ?? live.get(address)
    return id === undefined ? [] : [[address, id]]
  })
  return fillParameters(parameters, Object.fromEntries(made)) as Json
}

function isBatch(activity: Wire.Activity, batch: Batch, place: Place): boolean {
  const row = findActivity(batch.type)?.row
  if (row === undefined || row.type !== activity.type) return false
  const known = referencesOf(batch.parameters as Value).every(
    (address) => Object.hasOwn(place.plan.ids, address) || place.live.has(address),
  )
  if (!known) return false
  return isIntent(activity, {
    type: batch.type,
    organizationId: activity.organizationId,
    parameters: filled(batch, place),
  })
}

/** Whether a batch does the same sort of thing to one of the same things. */
function isAbout(activity: Wire.Activity, batch: Batch, { changes }: Review): boolean {
  const [one, other] = [findActivity(activity.type)?.row.kind, findActivity(batch.type)?.row.kind]
  if (one === undefined || one !== other) return false
  return changes.length === 0 || changes.some(({ address }) => batch.changes.includes(address))
}

function intentOf({ type, intent }: Wire.Activity): Json {
  const row = findActivity(type)?.row
  return ((row && (intent as Readonly<Record<string, Json>>)[row.intentKey]) ?? {}) as Json
}

function nameOf(plan: Plan): PlanName {
  return { digest: plan.digest, createdAt: plan.createdAt, ...committed(plan) }
}

/** The parameters in which two intents differ, innermost first. */
function deviations(planned: Json | undefined, asked: Json | undefined, at: readonly string[]): readonly Deviation[] {
  if (isDeepStrictEqual(planned ?? null, asked ?? null)) return []
  if (isNested(planned) && isNested(asked)) {
    const names = [...new Set([...Object.keys(planned), ...Object.keys(asked)])]
    return names.flatMap((name) => deviations(planned[name], asked[name], [...at, name]))
  }
  return [
    {
      parameter: at.join('.'),
      ...(planned === undefined ? {} : { planned }),
      ...(asked === undefined ? {} : { asked }),
    },
  ]
}

function isNested(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null
}
