import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { assertAllowed, assertNotRejected, reader } from '../../operations/index.ts'
import { hasChanges, writePlan } from '../../plan/index.ts'
import type { CommandInput } from '../command.ts'
import { writePrivate } from '../files.ts'
import { findPlaceOf } from '../place-of.ts'
import { planAndShow } from '../planning.ts'
import { line } from '../screen.ts'
import { presentPlan } from '../views/plan.ts'
import { shellWord } from '../views/shell-word.ts'

/** Plans a folder of definitions; submits nothing: its client has no way to. */
export async function plan(input: CommandInput): Promise<ExitCode> {
  const { args, options, io } = input
  const folder = args[0] ?? '.'
  const place = await findPlaceOf(input, folder)
  const planned = await planAndShow(input, { folder, place, client: reader(place) })
  if (!planned) return EXIT.error
  presentPlan(input, planned.plan)
  const { out } = options
  if (typeof out === 'string') {
    writePrivate(out, writePlan(planned.plan))
    const file = shellWord(out)
    io.say(
      line`The plan is in ${out}: show it with \`quorate show ${file}\`, carry it out with \`quorate apply ${file}\`.\n`,
    )
  }
  assertAllowed(planned.plan)
  assertNotRejected(planned.plan)
  return options['detailedExitcode'] && hasChanges(planned.plan) ? EXIT.changes : EXIT.done
}
