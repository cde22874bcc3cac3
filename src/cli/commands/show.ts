import { readFileSync } from 'node:fs'
import { EXIT, type ExitCode, QuorateError, unreadWords } from '../../diagnostics/index.ts'
import { movedAnywhere, reader } from '../../operations/index.ts'
import { type Plan, readPlan } from '../../plan/index.ts'
import { findPlace } from '../background/connect.ts'
import { findBackground, nothingRuns } from '../background/index.ts'
import type { CommandInput } from '../command.ts'
import { writePrivate } from '../files.ts'
import { jsonText } from '../io.ts'
import { line } from '../screen.ts'
import { presentPlan } from '../views/plan.ts'

/**
 * Shows a saved plan, however old, and says whether it is stale. It refuses nothing: that is for `apply`. Without an
 * API that can be asked, or with `--offline`, it shows the plan all the same and says that it was not compared.
 */
export async function show(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const path = input.args[0]!
  const plan = readPlan(readText(path))
  const { moved, why } = await comparedWithLive(input, plan)
  if (json) {
    const text = jsonText({ stale: moved ? moved.length > 0 : null, moved: moved ?? null, plan })
    io.out(text)
    if (typeof options['jsonInto'] === 'string') writePrivate(options['jsonInto'], text)
    return EXIT.done
  }
  presentPlan(input, plan, moved ?? [])
  if (!moved) io.say(line`Not compared with the live organization: ${why ?? ''}.\n`)
  else if (moved.length === 0) io.say('The live organization is as it was when this plan was made.\n')
  else {
    const lines = moved.map((one) => line`  ${one}\n`).join('')
    io.say(line`${io.style.warning('Stale:')} the organization has moved since this plan was made:\n` + lines)
  }
  return EXIT.done
}

/** The differences since the plan was made; absent, with the reason, when they cannot be read. */
async function comparedWithLive(
  input: CommandInput,
  plan: Plan,
): Promise<{ readonly moved?: readonly string[]; readonly why?: string }> {
  const { settings, options } = input
  if (options['offline']) return { why: '--offline was given' }
  // Looking at a file must not bring up a service.
  if (settings.baseUrl === undefined && !(await findBackground(settings.dataDir)))
    return { why: `no API is configured, and ${nothingRuns(settings.dataDir)}` }
  const place = await findPlace(input)
  if (place.organizationId !== plan.organization.id) return { why: 'the settings name another organization' }
  try {
    return { moved: await movedAnywhere(reader(place), plan) }
  } catch (error) {
    if (error instanceof QuorateError) return { why: error.message }
    throw error
  }
}

/** Throws `cli/unreadable`. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new QuorateError('cli/unreadable', `\`${path}\` cannot be read: ${unreadWords(cause)}`, {
      facts: { file: path, submitted: 'nothing' },
      next: 'name a plan that `quorate plan --out` has written',
      cause,
    })
  }
}
