/**
 * Applies a plan from its checks to the lock file. What it shows and asks goes through its door: it has no terminal of its own.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createPlanStore } from '../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../diagnostics/index.ts'
import { appliedPlans, type Plan } from '../plan/index.ts'
import type { Address } from '../resources/index.ts'
import { type ApplyHandle, type ApplyPlace, startApply } from './apply.ts'
import { assertFreshInside } from './apply-inside.ts'
import { type CarriedOut, type CarryOutEvent, carryOut, hasWork } from './carry-out.ts'
import { reader } from './clients.ts'
import { handedBackBy, type LockNews, lockNews } from './lock-news.ts'
import type { CheckText } from './lock-place.ts'
import type { Place } from './place.ts'
import { assertApplicable } from './plan-checks.ts'
import { type Planned, type PlanRequest, planFolder, saveLock } from './plan-folder.ts'
import { withRejectionsAnywhere } from './rejections.ts'
import { proposalOf } from './watch.ts'

/** What is told while a plan is applied. */
export type ApplyEvent =
  | CarryOutEvent
  /** The plan, before it is checked and asked about. */
  | { readonly kind: 'planned'; readonly plan: Plan }
  /** It goes on in the background. */
  | { readonly kind: 'detached' }
  /** What came of it; undefined where there was nothing to do. */
  | { readonly kind: 'carried out'; readonly plan: Plan; readonly result: CarriedOut | undefined }
  /** The plan was stale, because somebody else has made its changes: nothing of them is left to do. */
  | { readonly kind: 'done elsewhere' }
  /** Planned again when it was done. */
  | { readonly kind: 'planned again'; readonly plan: Plan }
  /** The lock was written, with what is new in it. */
  | { readonly kind: 'lock written'; readonly news: LockNews }
  | LockKept

/** The lock was not written. */
export interface LockKept {
  readonly kind: 'lock kept'
  /** As the plan names it; absent where it names none. */
  readonly folder?: string
  /**
   * `absent`: the folder is not here · `unplanned`: its definitions could not be planned again · `changed`: they are not those of the
   * plan · `left`: something is left to do, or to decide
   */
  readonly why: 'absent' | 'unplanned' | 'changed' | 'left'
  /** What the plan hands back, and the lock therefore still has. */
  readonly handedBack: readonly Address[]
}

/** What an apply needs of its caller. */
export interface ApplyDoor {
  readonly place: Place
  readonly tell: (event: ApplyEvent) => void
  /** Plans a folder, and tells of it. */
  readonly plan: (request: PlanRequest) => Promise<Planned | undefined>
  /** Whether the plan of a folder is shown when it is told. */
  readonly isPlanShown: boolean
  /** Asks whether the plan is to be applied; throws when not. */
  readonly confirm: (plan: Plan) => Promise<void>
  /** Opens Temporal for as long as the work takes. */
  readonly withApplies: <T>(work: (applies: ApplyPlace) => Promise<T>) => Promise<T>
  readonly isEnough: (handle: ApplyHandle) => boolean | Promise<boolean>
  /** Whether it is left to the background. */
  readonly isDetached: boolean
  /** Refuses a text that must not be written. */
  readonly check: CheckText
}

/** A fresh plan is confirmed now. When nothing is left to do, which live thing each name means is written down. */
export async function applyFolder(door: ApplyDoor, request: PlanRequest): Promise<ExitCode> {
  const { place, tell, check } = door
  const planned = await door.plan(request)
  if (!planned) return EXIT.error
  const { plan } = planned
  tell({ kind: 'planned', plan })
  assertApplicable(plan, { isShown: door.isPlanShown })
  const begun = hasWork(plan)
  if (begun) await door.confirm(plan)
  const result = await applyPlan(door, plan)
  // Detached, the apply goes on: whether anything will be left to do is not known yet.
  if (begun && door.isDetached) return EXIT.done
  const exit = result?.exit ?? EXIT.done
  const overtaken = exit === EXIT.stale ? await planIfDone(request) : undefined
  if (overtaken) tell({ kind: 'done elsewhere' })
  tell({ kind: 'carried out', plan, result: overtaken ? undefined : result })
  if (exit !== EXIT.done && !overtaken) return exit
  const after = overtaken ?? (begun ? await door.plan(request) : planned)
  if (!after) return EXIT.error
  if (mayLock(after.plan, plan)) {
    await saveLock(after, { place, check, applied: plan })
    tell({ kind: 'lock written', news: lockNews(after, plan) })
  }
  if (begun) tell({ kind: 'planned again', plan: after.plan })
  return hasWork(after.plan) ? EXIT.partial : EXIT.done
}

/** A saved plan was confirmed when it was reviewed. The lock is written when its definitions are there, as they were. */
export async function applySaved(
  door: ApplyDoor,
  {
    saved,
    askAgain,
    requestFor,
    dataDir,
  }: {
    readonly saved: Plan
    readonly askAgain: boolean
    readonly requestFor: (folder: string) => PlanRequest
    readonly dataDir: string
  },
): Promise<ExitCode> {
  const { place, tell } = door
  await assertOurs(place, saved, dataDir)
  // Somebody may have rejected it since it was made, or the run that carries it out may not have heard of that yet.
  const plan = await withRejectionsAnywhere(reader(place), saved, { askAgain })
  tell({ kind: 'planned', plan })
  assertApplicable(plan, { isSaved: true })
  await assertFreshInside(reader(place), plan, { dataDir })
  const result = await applyPlan(door, plan)
  if (hasWork(plan) && door.isDetached) return EXIT.done
  tell({ kind: 'carried out', plan, result })
  const exit = result?.exit ?? EXIT.done
  if (exit === EXIT.done && !door.isDetached) await saveLockOf(door, plan, requestFor)
  return exit
}

/** Undefined where there was nothing to do, and where it goes on detached. */
async function applyPlan(
  { tell, withApplies, isDetached, isEnough }: ApplyDoor,
  plan: Plan,
): Promise<CarriedOut | undefined> {
  if (!hasWork(plan)) return undefined
  return withApplies(async (applies) => {
    if (!isDetached) return carryOut({ plan, applies, tell, isEnough: (_, handle) => isEnough(handle) })
    await startApply(applies, plan)
    tell({ kind: 'detached' })
    return undefined
  })
}

/** The plan made again, where nothing is left to do: somebody has applied the same definitions meanwhile. */
async function planIfDone(request: PlanRequest): Promise<Planned | undefined> {
  const after = await planFolder(request, () => {}).catch(() => undefined)
  return after && !hasWork(after.plan) ? after : undefined
}

/** Nothing is wrong when it cannot be written here: the next plan from the definitions makes the lock again. */
async function saveLockOf(
  { place, tell, check }: ApplyDoor,
  plan: Plan,
  requestFor: (folder: string) => PlanRequest,
): Promise<void> {
  const { folder } = plan
  const kept = (why: LockKept['why']) =>
    tell({ kind: 'lock kept', ...(folder === undefined ? {} : { folder }), why, handedBack: handedBackBy(plan) })
  if (folder === undefined || !existsSync(folder)) return kept('absent')
  const after = await planFolder(requestFor(folder), () => {}).catch(() => undefined)
  if (after === undefined) return kept('unplanned')
  if (after.plan.definitionsDigest !== plan.definitionsDigest) return kept('changed')
  if (!mayLock(after.plan, plan)) return kept('left')
  await saveLock(after, { place, check, applied: plan })
  tell({ kind: 'lock written', news: lockNews(after, plan) })
}

/** Whether nothing is left, and nothing that would be taken as defined has come up since the plan was looked at. */
function mayLock(after: Plan, plan: Plan): boolean {
  const stops = (one: Plan) =>
    one.guards.flatMap(({ name, addresses, allowed }) =>
      addresses.map((address) => ({ key: JSON.stringify([one.organization.name, name, address]), allowed })),
    )
  const given = new Set(
    appliedPlans(plan)
      .flatMap(stops)
      .flatMap(({ key, allowed }) => (allowed ? [key] : [])),
  )
  return appliedPlans(after).every(
    (one) => one.batches.length === 0 && stops(one).every(({ key, allowed }) => allowed || given.has(key)),
  )
}

/**
 * Throws `cli/other-organization`, and `cli/other-user`: the forecast of a plan holds for one user. Another key of the same user
 * is accepted. What a watch proposes, anybody with a key of the organization may have applied: the worker that made the plan submits it.
 * Whatever was begun, also by another user, is followed.
 */
async function assertOurs(place: Place, { organization, actor, digest }: Plan, dataDir: string): Promise<void> {
  if (organization.id !== place.organizationId) {
    throw new QuorateError('cli/other-organization', 'the plan belongs to another organization', {
      facts: { plan: organization.id, settings: place.organizationId, submitted: 'nothing' },
      next: 'apply it with the settings that it was made with',
    })
  }
  if (actor.publicKey.toLowerCase() === place.key.publicKey.toLowerCase()) return
  const { userId, username } = await reader(place).query('whoami', {})
  if (userId === actor.userId) return
  if ((await proposalOf({ dataDir, organizationId: organization.id })) === digest) return
  if ((await createPlanStore(join(dataDir, 'plans')).spentBy(digest)) !== undefined) return
  throw new QuorateError('cli/other-user', `the plan was made for ${actor.userName}, and the key is ${username}'s`, {
    facts: { submitted: 'nothing' },
    next: `apply it with a key of ${actor.userName}, or plan again with this key`,
  })
}
