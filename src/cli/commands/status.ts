import type { ApplyProgress } from '../../../activities/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { type ApplyHandle, askProgress, cancelApply, findApply, followApply } from '../applying.ts'
import { type RunningInside, runningInside } from '../applying-inside.ts'
import type { CommandInput } from '../command.ts'
import { findPlace } from '../connect.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { withApplies } from '../temporal.ts'
import { createProgressView, exitOf, renderResult } from '../views/progress.ts'

/** Says how the organization's apply stands, and those inside that have not ended; follows it, or stops them at their next safe points. */
export async function status(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  return withApplies(input, place, async (applies) => {
    const { organizationId } = applies
    const handle = await findApply(applies)
    const inside = await runningInside(applies)
    if (!handle && inside.length === 0) {
      if (json) writeJson(io, { organizationId, apply: null })
      else io.out(line`Nothing has been applied to organization ${organizationId} from here.\n`)
      return EXIT.done
    }
    const all = [...(handle ? [handle] : []), ...inside.map((one) => one.handle)]
    if (options['cancel']) for (const one of all) await cancelApply(one)
    const follow = options['follow'] === true || options['cancel'] === true
    const watch = follow ? (one: ApplyHandle) => followApply(one, createProgressView(io)) : askProgress
    const progress = handle ? await watch(handle) : undefined
    if (json) writeJson(io, { organizationId, apply: progress ?? null, ...asData(inside) })
    else {
      if (progress) io.out(renderStatus(progress, io))
      for (const one of inside) io.out(line`\n${io.style.strong(one.organization)}\n` + renderStatus(one.progress, io))
    }
    return follow && progress ? exitOf(progress) : EXIT.done
  })
}

function asData(inside: readonly RunningInside[]): object {
  const rows = inside.map(({ organization, organizationId, progress }) => ({
    organization,
    organizationId,
    apply: progress,
  }))
  return rows.length > 0 ? { subOrganizations: rows } : {}
}

function renderStatus(progress: ApplyProgress, { style }: CommandInput['io']): string {
  return `${progress.state}, since ${progress.startedAt}\n${renderResult(progress, style, Date.now())}`
}
