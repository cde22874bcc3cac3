/**
 * An apply as events for machines: one JSON object a line, the first of which names the version. Members are only ever
 * added; a reader passes over events and members that it does not know.
 */
import type { ApplyProgress } from '../../../activities/index.ts'
import type { ExitCode } from '../../diagnostics/index.ts'
import type { Plan } from '../../plan/index.ts'
import type { Io } from '../io.ts'

const VERSION = 'quorate.events/1'

export interface EventStream {
  readonly planned: (plan: Plan) => void
  /** Says what is different from the last time. */
  readonly progress: (progress: ApplyProgress, before: ApplyProgress | undefined) => void
  readonly ended: (state: string, exit: ExitCode) => void
}

/** Starts a stream on stdout; the version goes out at once. */
export function createEvents(io: Pick<Io, 'out'>, clock: () => number): EventStream {
  const emit = (event: string, members: object) =>
    io.out(`${JSON.stringify({ event, at: new Date(clock()).toISOString(), ...members })}\n`)
  emit('version', { version: VERSION })
  return {
    planned: ({ digest, organization, changes, batches }) =>
      emit('plan', {
        digest,
        organizationId: organization.id,
        changes: changes.length,
        activities: batches.map(({ index, type, summary, after, forecast }) => ({
          index,
          type,
          summary,
          after,
          ...(forecast ? { forecast } : {}),
        })),
      }),
    progress: (now, before) => {
      for (const [index, batch] of now.batches.entries()) {
        const old = before?.batches[index]
        const news =
          (old?.state ?? 'pending') !== batch.state ||
          (old?.votes?.approved.length ?? 0) !== (batch.votes?.approved.length ?? 0) ||
          old?.error?.message !== batch.error?.message
        if (news) emit('activity', { ...batch })
      }
      if (now.error && now.error.message !== before?.error?.message) emit('error', { error: now.error })
    },
    ended: (state, exit) => emit('end', { state, exit }),
  }
}
