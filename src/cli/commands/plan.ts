import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { assertAllowed, assertNotRejected, reader } from '../../operations/index.ts'
import { hasChanges, writePlan } from '../../plan/index.ts'
import type { CommandInput } from '../command.ts'
import { writePrivate } from '../files.ts'
import { findPlaceOf } from '../place-of.ts'
import { planAndShow } from '../planning.ts'
import { presentPlan } from '../views/plan.ts'

/** Plans a folder of definitions; submits nothing: its client has no way to. */
export async function plan(input: CommandInput): Promise<ExitCode> {
  const { args, options } = input
  const folder = args[0] ?? '.'
  const place = await findPlaceOf(input, folder)
  const planned = await planAndShow(input, { folder, place, client: reader(place) })
  if (!planned) return EXIT.error
  presentPlan(input, planned.plan)
  if (typeof options['out'] === 'string') writePrivate(options['out'], writePlan(planned.plan))
  assertAllowed(planned.plan)
  assertNotRejected(planned.plan)
  return options['detailedExitcode'] && hasChanges(planned.plan) ? EXIT.changes : EXIT.done
}
