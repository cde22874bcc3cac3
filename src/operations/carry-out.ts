/** Carries out a plan that may be applied: begins it, and follows it until nothing is left to look at. */
import type { ApplyProgress } from '../../activities/index.ts'
import { EXIT, type ExitCode } from '../diagnostics/index.ts'
import { appliedPlans, type Plan } from '../plan/index.ts'
import { type ApplyHandle, type ApplyPlace, followApply, planOfRun, type StartedApply, startApply } from './apply.ts'
import { exitOf } from './apply-end.ts'
import { followInside, type InsideOutcome } from './apply-inside.ts'

/** What is told while a plan is carried out. */
export type CarryOutEvent =
  /** The organization's own apply was asked; with the plan that was to be applied: an earlier one may still be carried out. */
  | {
      readonly kind: 'progress'
      readonly plan: Plan
      readonly progress: ApplyProgress
      readonly before: ApplyProgress | undefined
    }
  /** The organization's own apply has ended, or waits and nobody watches; with the plan that it carries out. */
  | { readonly kind: 'rested'; readonly plan: Plan; readonly progress: ApplyProgress }
  /** The apply of a sub-organization was asked. */
  | {
      readonly kind: 'inside progress'
      readonly plan: Plan
      readonly progress: ApplyProgress
      readonly before: ApplyProgress | undefined
    }
  /** The apply of a sub-organization has ended, or waits. */
  | { readonly kind: 'inside rested'; readonly outcome: InsideOutcome }

export interface CarryOut {
  readonly plan: Plan
  readonly applies: ApplyPlace
  readonly tell: (event: CarryOutEvent) => void
  /** Whether the organization's own apply, which waits for people, is followed no longer. */
  readonly isEnough: (progress: ApplyProgress, handle: ApplyHandle) => boolean | Promise<boolean>
}

/** What came of a plan. */
export interface CarriedOut {
  /** The organization's own apply, and the plan that it carries out: of a run that was joined, its own. */
  readonly progress: ApplyProgress
  readonly plan: Plan
  readonly inside: readonly InsideOutcome[]
  readonly exit: ExitCode
}

/** Whether anything is submitted for a plan, inside or out. */
export function hasWork(plan: Plan): boolean {
  return appliedPlans(plan).some(({ batches }) => batches.length > 0)
}

/** Begins the applies and follows them: the organization's own first, then those of what is inside. */
export async function carryOut(input: CarryOut): Promise<CarriedOut> {
  const { applies, tell } = input
  const begun = await startApply(applies, input.plan)
  const { progress, plan } = await followOwn(input, begun)
  const inside =
    begun.inside && mayGoOn(progress)
      ? await followInside({
          ...begun.inside,
          applies,
          isOwnOver: progress.state !== 'waiting',
          ended: (outcome) => tell({ kind: 'inside rested', outcome }),
          look: (of, now, before) => tell({ kind: 'inside progress', plan: of, progress: now, before }),
        })
      : []
  const began = progress.batches.length > 0 || inside.length === 0 ? [exitOf(progress)] : []
  return { progress, plan, inside, exit: exitOfAll([...began, ...inside.map((one) => one.exit)]) }
}

/** What is inside depends on nothing outside but its own creation; yet where nothing at all could be done, nothing is tried. */
function mayGoOn(own: ApplyProgress): boolean {
  const exit = exitOf(own)
  if (own.state === 'cancelled') return false
  return exit === EXIT.done || exit === EXIT.waiting || exit === EXIT.partial
}

/** The exit code of several applies: done when all are, and partial when some are and one could not be. */
export function exitOfAll(exits: readonly ExitCode[]): ExitCode {
  const failed = exits.filter((exit) => exit !== EXIT.done && exit !== EXIT.waiting)
  if (failed.length > 0) return failed.length === exits.length && new Set(failed).size === 1 ? failed[0]! : EXIT.partial
  return exits.includes(EXIT.waiting) ? EXIT.waiting : EXIT.done
}

async function followOwn(
  { plan, applies, tell, isEnough }: CarryOut,
  { own }: StartedApply,
): Promise<Pick<CarriedOut, 'plan' | 'progress'>> {
  if (!own)
    return {
      plan,
      progress: { planDigest: plan.digest, state: 'done', startedAt: new Date().toISOString(), batches: [] },
    }
  const show = (progress: ApplyProgress, before: ApplyProgress | undefined) =>
    tell({ kind: 'progress', plan, progress, before })
  const progress = await followApply(own, show, (now) => now.state === 'waiting' && isEnough(now, own))
  const carriedOut = { plan: await planOfRun(applies, plan, progress), progress }
  tell({ kind: 'rested', ...carriedOut })
  return carriedOut
}
