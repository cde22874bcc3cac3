import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { assertAllowed, assertApplicable, assertNotRejected, lockNews, reader } from '../../operations/index.ts'
import { hasChanges, type Plan, writePlan } from '../../plan/index.ts'
import type { CommandInput } from '../command.ts'
import { writePrivate } from '../files.ts'
import { findPlaceOf } from '../place-of.ts'
import { planAndShow } from '../planning.ts'
import { line } from '../screen.ts'
import { shellWord } from '../shell-word.ts'
import { presentPlan } from '../views/plan.ts'

/** Plans a folder of definitions; submits nothing: its client has no way to. */
export async function plan(input: CommandInput): Promise<ExitCode> {
  const { args, options, io } = input
  const folder = args[0] ?? '.'
  const place = await findPlaceOf(input, folder)
  const planned = await planAndShow(input, { folder, place, client: reader(place) })
  if (!planned) return EXIT.error
  presentPlan(input, planned.plan)
  for (const { from, to } of lockNews(planned).renamed)
    io.say(
      line`The lock has ${from} for what is ${to} now: \`quorate apply ${shellWord(folder)}\` writes it, and submits nothing for that.\n`,
    )
  const { out } = options
  if (typeof out === 'string') {
    writePrivate(out, writePlan(planned.plan))
    io.say(savedIn(out, planned.plan))
  }
  assertAllowed(planned.plan, { isShown: !input.json })
  assertNotRejected(planned.plan)
  return options['detailedExitcode'] && hasChanges(planned.plan) ? EXIT.changes : EXIT.done
}

/** Where the plan is, and how it is carried out; or why it is not, and what lets it pass. */
function savedIn(path: string, plan: Plan): string {
  const file = shellWord(path)
  const shown = line`The plan is in ${path}: show it with \`quorate show ${file}\``
  const against = reasonAgainst(plan)
  if (!against) return `${shown}${line`, carry it out with \`quorate apply ${file}\`.`}\n`
  const { guards } = against.facts
  const why = typeof guards === 'string' ? `${guards.includes(', ') ? 'guards' : 'guard'} ${guards}` : against.message
  return `${shown}.\n${line`It is refused as it is (${why}): ${against.next ?? 'plan again'}.`}\n`
}

/** What would stop an apply of the saved plan. */
function reasonAgainst(plan: Plan): QuorateError | undefined {
  try {
    assertApplicable(plan, { isSaved: true })
    return undefined
  } catch (error) {
    if (error instanceof QuorateError) return error
    throw error
  }
}
