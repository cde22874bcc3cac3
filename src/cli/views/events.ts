/**
 * An apply as events for machines: one JSON object a line, the first of which names the version. Members are only ever
 * added; a reader passes over events and members that it does not know.
 */
import type { ApplyProgress } from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError, toErrorJson } from '../../diagnostics/index.ts'
import { allPlans, type Plan } from '../../plan/index.ts'
import { type Io, writeJsonLine } from '../io.ts'

export const EVENTS_VERSION = 'quorate.events/1'

export interface EventStream {
  readonly planned: (plan: Plan) => void
  /** Says what is different from the last time in a sub-organization. */
  readonly inside: (plan: Plan, progress: ApplyProgress, before: ApplyProgress | undefined) => void
  /** Says what is different from the last time. */
  readonly progress: (progress: ApplyProgress, before: ApplyProgress | undefined) => void
  /** The last event but for what went wrong: how the organization's own apply stands, and the exit code of the command. */
  readonly ended: (exit: ExitCode) => void
  /** Says why nothing more comes, and ends. */
  readonly failed: (error: unknown) => void
}

/** Starts a stream on stdout; the version goes out at once. */
export function createEvents(io: Pick<Io, 'out'>, clock: () => number): EventStream {
  const emit = (event: string, members: object) =>
    writeJsonLine(io, { event, at: new Date(clock()).toISOString(), ...members })
  let state: string | undefined
  const ended = (exit: ExitCode) => emit('end', { state: state ?? (exit === EXIT.done ? 'done' : 'failed'), exit })
  emit('version', { version: EVENTS_VERSION })
  return {
    planned: (plan) => {
      for (const { digest, organization, changes, batches, comparedOnly } of allPlans(plan)) {
        emit('plan', {
          digest,
          organizationId: organization.id,
          organization: organization.name,
          changes: changes.length,
          ...(comparedOnly ? { comparedOnly } : {}),
          activities: batches.map(({ index, type, summary, after, forecast }) => ({
            index,
            type,
            summary,
            after,
            ...(forecast ? { forecast } : {}),
          })),
        })
      }
    },
    inside: ({ organization }, now, before) => news(now, before, { organization: organization.name }),
    progress: (now, before) => {
      state = now.state
      news(now, before, {})
    },
    ended,
    failed: (error) => {
      emit('error', { error: toErrorJson(error) })
      state = 'failed'
      ended(error instanceof QuorateError ? error.exit : EXIT.error)
    },
  }

  function news(now: ApplyProgress, before: ApplyProgress | undefined, where: object): void {
    for (const [index, batch] of now.batches.entries()) {
      const old = before?.batches[index]
      const isNews =
        (old?.state ?? 'pending') !== batch.state ||
        (old?.votes?.approved.length ?? 0) !== (batch.votes?.approved.length ?? 0) ||
        (old?.votes?.lapsed ?? []).join() !== (batch.votes?.lapsed ?? []).join() ||
        old?.error?.message !== batch.error?.message
      if (isNews) emit('activity', { ...where, ...batch })
    }
    if (now.error && now.error.message !== before?.error?.message) emit('error', { ...where, error: now.error })
  }
}
