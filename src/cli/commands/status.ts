import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { askProgress, cancelApply, findApply, followApply } from '../applying.ts'
import type { CommandInput } from '../command.ts'
import { findPlace } from '../connect.ts'
import { withApplies } from '../temporal.ts'
import { createProgressView, exitOf, renderResult } from '../views/progress.ts'

/** Says how the organization's apply stands; follows it, or stops it at its next safe point. */
export async function status(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  return withApplies(input, place, async (applies) => {
    const { organizationId } = applies
    const handle = await findApply(applies)
    if (!handle) {
      if (json) io.out(`${JSON.stringify({ organizationId, apply: null }, null, 2)}\n`)
      else io.out(`Nothing has been applied to organization ${organizationId} from here.\n`)
      return EXIT.done
    }
    if (options['cancel']) await cancelApply(handle)
    const follow = options['follow'] === true || options['cancel'] === true
    const progress = follow ? await followApply(handle, createProgressView(io)) : await askProgress(handle)
    if (json) io.out(`${JSON.stringify({ organizationId, apply: progress }, null, 2)}\n`)
    else io.out(`${progress.state}, since ${progress.startedAt}\n${renderResult(progress, io.style, Date.now())}`)
    return follow ? exitOf(progress) : EXIT.done
  })
}
