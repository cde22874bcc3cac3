import { writeFileSync } from 'node:fs'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { findPlace, reader } from '../connect.ts'
import { planFolder } from '../planning.ts'
import { assertAllowed, showPlan } from '../views/plan.ts'

/** Plans a folder of definitions; submits nothing: its client has no way to. */
export async function plan(input: CommandInput): Promise<ExitCode> {
  const { settings, args, options } = input
  const place = await findPlace(input)
  const planned = await planFolder(input, { folder: args[0] ?? '.', place, client: reader(place, settings) })
  if (!planned) return EXIT.error
  showPlan(input, planned.plan)
  if (typeof options['out'] === 'string') writePlan(options['out'], planned.plan)
  assertAllowed(planned.plan)
  return options['detailedExitcode'] && planned.plan.changes.length > 0 ? EXIT.changes : EXIT.done
}

function writePlan(path: string, document: object): void {
  try {
    writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 })
  } catch (cause) {
    throw new QuorateError('cli/unwritable', `the plan cannot be written: ${(cause as Error).message}`, {
      facts: { file: path, submitted: 'nothing' },
      next: 'make room or choose another file, and plan again',
      cause,
    })
  }
}
