import { type Diagnostic, diagnostic, positionAt, sortDiagnostics } from '../diagnostics/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  KINDS,
  kinds,
  nameValue,
  type Resource,
  referencesOf,
  type Value,
} from '../resources/index.ts'
import { parseAllow } from './allow.ts'
import { createReasons, type Reason, recordApplied } from './applied.ts'
import { batch, openReferences } from './batch.ts'
import { type Difference, diff, managedFields, type Pairs, pairUp } from './diff.ts'
import { digestLive, sealed } from './digest.ts'
import type { Batch, Change, Plan } from './document.ts'
import { livePart } from './fresh.ts'
import { guards } from './guards.ts'
import { type Creators, type Identified, identify, spanOf } from './identify.ts'
import { type LeftFields, leaveOut } from './left-out.ts'
import { compareText, type Lock, type LockPlaces, sortMembers } from './lock.ts'
import { lookAlikes } from './look-alikes.ts'
import { type Made, withMade } from './made.ts'
import { order } from './order.ts'
import type { Removed } from './removal.ts'
import { likelyRenames, perhapsRenamed, renameDiagnostics } from './renames.ts'
import { onlyTargets, withoutLeftOut } from './target.ts'

export interface PlanInput {
  readonly desired: Desired
  readonly actual: Actual
  readonly lock: Lock
  /** What was carried out since the lock was written. @default nothing */
  readonly made?: readonly Made[]
  /** Whether somebody who may vouches for the lock; if not, its rows are adopted like names that it does not have. @default true */
  readonly isLockVouchedFor?: boolean
  /** Where each row of the lock stands (`path:line:column`), by organization id and address. */
  readonly lockPlaces?: LockPlaces
  readonly creators: Creators
  /** The API that the plan is for; shown and recorded. */
  readonly baseUrl: string
  /** Bypasses of guards: `delete`, `deletes=4`, `adoption` … Throws `plan/unknown-bypass` for anything else. */
  readonly allow: Iterable<string>
  /** ISO 8601; recorded, and not covered by the digest. */
  readonly now: string
  /** Plans these and what they need alone (`target.ts`). Throws `plan/unknown-target`. @default everything */
  readonly targets?: readonly Address[]
  /** Of activities that are equally urgent, takes later kinds first: another order that is as good. @default false */
  readonly kindsReversed?: boolean
}

/**
 * Makes the plan that turns what lives into what is desired. The same input gives the same bytes. A plan with an error
 * among the diagnostics is the best that could be made, for showing, and must not be applied.
 */
export function makePlan(input: PlanInput): PlanMade {
  const draft = draftPlan(input)
  return { ...draft, plan: finishPlan(draft.plan) }
}

/** A draft with its digests. Through JSON, so that what is digested, written and read again is the same: no `undefined`, no shared objects. */
export function finishPlan(draft: Plan): Plan {
  return sealed(JSON.parse(JSON.stringify({ ...draft, liveDigest: digestLive(draft.live) })) as Plan)
}

/** A plan, and what was found while it was made. */
export interface PlanMade {
  readonly plan: Plan
  readonly diagnostics: readonly Diagnostic[]
  /** Works out the lock after the plan is accepted; ids of what it creates are added as they come (`extendLock`). */
  readonly lock: () => Lock
}

/** What a plan changes, and the activities that do so. */
export type PlanSteps = Pick<Plan, 'changes' | 'batches' | 'ids'>

/** The activities of a plan alone: for who asks what they do, not what the plan leans on, shows or is stopped by. */
export function draftSteps(input: PlanInput): PlanSteps & Pick<PlanMade, 'diagnostics'> {
  const { steps, diagnostics } = orderedChanges(input)
  return { ...steps, diagnostics: sortDiagnostics(diagnostics) }
}

function orderedChanges(input: PlanInput) {
  const { actual, creators } = input
  const lock = withMade(input.lock, input.made ?? [], actual)
  const { isLockVouchedFor = true } = input
  const actingUserId = actual.actor.userId
  const identified = identify({ desired: input.desired, actual, lock, isLockVouchedFor, creators, actingUserId })
  const { ids, matches } = identified
  const rows = lock[actual.organizationId] ?? {}
  const left = leaveOut({ desired: input.desired, actual, matches, rows, ids })
  const { desired } = left
  const paired = pairUp(desired, actual, identified)
  const { differences: all, diagnostics: unchangeable } = diff(paired.pairs, ids)
  const unknown = unknownReferences(desired, all, ids)
  const whole = { identified, paired, left: left.undecided, differences: all }
  const part = onlyTargets(whole, { targets: input.targets, desired: input.desired, actual, rows })
  const { differences } = part
  const nodes = order(differences, actual, ids)
  const { batches, carriedBy, diagnostics: circles } = batch(nodes, differences, input)
  const steps: PlanSteps = {
    changes: changesOf(differences, {
      carriedBy,
      identified: part.identified,
      paired: part.paired,
      left: part.left,
      actual,
      reasonOf: createReasons(lock, { actual, ids }),
      places: input.lockPlaces?.[actual.organizationId] ?? {},
    }),
    // What is forecast reads parameters as they will be submitted.
    batches: JSON.parse(JSON.stringify(batches)) as typeof batches,
    ids: idsFor(batches, ids),
  }
  const diagnostics = [...identified.diagnostics, ...left.diagnostics, ...unchangeable, ...unknown, ...circles]
  return { steps, lock, identified, left, paired, all, part, diagnostics }
}

/** The plan without its digests: for who asks what it does, and who adds to it before it is shown and kept (`finishPlan`). */
export function draftPlan(input: PlanInput): PlanMade {
  const { actual, baseUrl } = input
  const allowed = parseAllow(input.allow)
  const { steps, lock, identified, left, paired, all, part, diagnostics } = orderedChanges(input)
  const { ids, gone } = identified
  const { desired } = left
  const { pairs, unmanaged } = paired
  const { differences } = part
  // A bypass gives them up: they stay as they are, and the lock forgets that they were managed.
  const kept = allowed.has('removal') ? [] : left.undecided
  const renames = likelyRenames({ desired, actual, identified, differences, undecided: part.paired.undecided })
  const plan: Plan = {
    format: 'quorate.plan/1',
    organization: { name: desired.organization, id: actual.organizationId, baseUrl },
    actor: actual.actor,
    definitionsDigest: desired.digest,
    liveDigest: '',
    live: livePart(desired, actual, identified),
    ...steps,
    unmanaged: unmanaged.map(({ address, kind, id }) => ({ address, kind, id: id! })),
    ...(gone.length === 0 ? {} : { gone }),
    ...lookAlikes(pairs, unmanaged),
    ...perhapsRenamed(renames),
    guards: guards({
      desired,
      actual,
      identified: part.identified,
      differences,
      unmanaged,
      undecided: part.paired.undecided,
      left: part.left,
      renames,
      allowed,
    }),
    ...(part.target ? { target: part.target } : {}),
    createdAt: input.now,
    digest: '',
  }
  return {
    plan,
    diagnostics: sortDiagnostics([...diagnostics, ...renameDiagnostics(renames)]),
    lock: () =>
      withoutLeftOut(
        recordApplied(identified.lock(), {
          desired: input.desired,
          actual,
          ids,
          pairs,
          differences: all,
          undecided: new Map(kept.map(({ address, fields }) => [address, fields])),
        }),
        { unrecorded: part.unrecorded, before: lock, organizationId: actual.organizationId },
      ),
  }
}

/** Rows of the plan, adoptions first among those of one address, kinds in the order in which they are shown. */
function changesOf(
  differences: readonly Difference[],
  {
    carriedBy,
    identified,
    paired,
    left,
    actual,
    reasonOf,
    places,
  }: {
    readonly carriedBy: ReadonlyMap<Difference, number>
    readonly identified: Identified
    readonly paired: Pairs
    readonly left: readonly LeftFields[]
    readonly actual: Actual
    readonly reasonOf: (difference: Difference) => Reason
    readonly places: Readonly<Record<Address, string>>
  },
): readonly Change[] {
  const namesById = new Map<string, string>()
  for (const one of actual.resources) if (!namesById.has(one.id!)) namesById.set(one.id!, one.address)
  for (const [address, live] of identified.matches) namesById.set(live.id!, address)
  const locked = (address: Address) => (Object.hasOwn(places, address) ? { at: places[address]! } : {})
  const adopted = identified.adoptions.map(
    ({ resource: { address, kind, span }, live, creator }): Change => ({
      address,
      kind,
      action: 'adopt',
      cause: 'adopted',
      fields: [],
      id: live.id!,
      creator: creator?.userName ?? null,
      ...(span ? { at: placeOf(span) } : {}),
    }),
  )
  const gone = (action: 'undecided' | 'forget', { address, live: { kind, id } }: Removed): Change => {
    return { address, kind, action, cause: 'definition changed', fields: [], id: id!, ...locked(address) }
  }
  // Parts that share a field are one difference, shown once, with the first of the activities that carry it.
  const shown = differences.filter(
    ({ address, input }, index) =>
      input.part === undefined || differences.findIndex((other) => other.address === address) === index,
  )
  const made = shown.map((difference): Change => {
    const { address, kind, action, input } = difference
    const number = carriedBy.get(difference)
    const { cause, fields: causes = {} } = reasonOf(difference)
    return {
      address,
      kind,
      action,
      cause,
      fields: fieldsOf(difference, namesById).map((one) =>
        causes[one.field] ? { ...one, cause: causes[one.field]! } : one,
      ),
      ...(input.actual ? { id: input.actual.id! } : {}),
      ...(input.desired?.span ? { at: placeOf(input.desired.span) } : action === 'delete' ? locked(address) : {}),
      ...(number === undefined ? {} : { batch: number }),
    }
  })
  const stays = [
    ...paired.undecided.map((one) => gone('undecided', one)),
    ...paired.forgotten.map((one) => gone('forget', one)),
    ...left.map(
      ({ address, live, fields }): Change => ({
        ...gone('undecided', { address, live }),
        fields: fields.map((field) => ({ field, before: nameValue(live.fields[field]!, namesById) })),
      }),
    ),
  ]
  return [...adopted, ...stays, ...made].sort(
    (a, b) =>
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
      compareText(a.address, b.address) ||
      Number(a.action !== 'adopt') - Number(b.action !== 'adopt') ||
      (a.batch ?? 0) - (b.batch ?? 0) ||
      compareText(a.id ?? '', b.id ?? ''),
  )
}

/** The fields of a difference with their values on both sides, ids as names. */
export function fieldsOf(
  { kind, action, input }: Difference,
  namesById: ReadonlyMap<string, string>,
): Change['fields'] {
  const { desired, actual } = input
  const before = actual ? managedFields(actual) : {}
  const after = desired && action !== 'delete' ? managedFields(desired) : {}
  const shown = action === 'update' ? input.fields : Object.keys(action === 'create' ? after : before).sort(compareText)
  return shown.map((field) => {
    const brief = kinds[kind].fields[field]?.brief ?? ((value: Value) => value)
    const side = (name: 'before' | 'after', value: Value | undefined) =>
      value === undefined ? {} : { [name]: nameValue(value === null ? null : brief(value), namesById) }
    return { field, ...side('before', before[field]), ...side('after', after[field]) }
  })
}

/** References to what neither lives nor is made by a batch. */
function unknownReferences(
  desired: Desired,
  differences: readonly Difference[],
  ids: Readonly<Record<Address, string>>,
): readonly Diagnostic[] {
  const made = new Set(differences.filter(({ action }) => action === 'create').map(({ address }) => address))
  const known = (address: Address) => Object.hasOwn(ids, address) || made.has(address)
  return desired.resources.flatMap((resource) =>
    resource.tombstone
      ? []
      : Object.entries(resource.fields).flatMap(([field, value]) =>
          referencesOf(value)
            .filter((address) => !known(address))
            .map((address) =>
              diagnostic(
                'plan/unknown-reference',
                `\`${address}\` is neither defined nor live`,
                spanOf(resource, field),
              ),
            ),
        ),
  )
}

function idsFor(batches: readonly Batch[], ids: Readonly<Record<Address, string>>): Readonly<Record<Address, string>> {
  const open = [...openReferences({ batches })].filter((address) => Object.hasOwn(ids, address))
  return sortMembers(Object.fromEntries(open.map((address) => [address, ids[address]!])))
}

function placeOf({ source, start }: NonNullable<Resource['span']>): string {
  const { line, column } = positionAt(source, start)
  return `${source.path}:${line}:${column}`
}
