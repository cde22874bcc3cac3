import type { ApplyProgress } from '../../activities/index.ts'
import { EXIT, type ExitCode } from '../diagnostics/index.ts'

/** Whether nothing more will come of an apply. */
export function isOver({ state }: ApplyProgress): boolean {
  return state !== 'running' && state !== 'waiting'
}

/** The exit code of a whole apply. */
export function exitOf({ state, batches }: Pick<ApplyProgress, 'state' | 'batches'>): ExitCode {
  if (state === 'done') return EXIT.done
  if (state === 'waiting' || state === 'running') return EXIT.waiting
  if (state === 'stale') return EXIT.stale
  return batches.some((batch) => batch.state === 'completed') ? EXIT.partial : EXIT.error
}
