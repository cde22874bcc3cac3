import { readFileSync, statSync } from 'node:fs'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { type Plan, readPlan } from '../../plan/index.ts'
import { followApply, startApply } from '../applying.ts'
import type { CommandInput } from '../command.ts'
import { findPlace, type Place, reader } from '../connect.ts'
import { planFolder, saveLock } from '../planning.ts'
import { withApplies } from '../temporal.ts'
import { assertAllowed, assertPermitted, showPlan } from '../views/plan.ts'
import { createProgressView, exitOf, renderResult, renderWaiting } from '../views/progress.ts'

/** Carries out a saved plan and nothing else, or plans a folder and carries that out. */
export async function apply(input: CommandInput): Promise<ExitCode> {
  const place = await findPlace(input)
  const named = input.args[0] ?? '.'
  return isFile(named) ? applySaved(input, place, named) : applyFolder(input, place, named)
}

/** A saved plan was confirmed when it was reviewed. */
async function applySaved(input: CommandInput, place: Place, path: string): Promise<ExitCode> {
  const plan = savedPlan(place, path)
  assertAllowed(plan)
  assertPermitted(plan)
  return carryOut(input, place, plan)
}

/** A fresh plan is confirmed now. When nothing is left to do, which live thing each name means is written down. */
async function applyFolder(input: CommandInput, place: Place, folder: string): Promise<ExitCode> {
  const makePlan = () => planFolder(input, { folder, place, client: reader(place, input.settings) })
  const planned = await makePlan()
  if (!planned) return EXIT.error
  const { plan } = planned
  if (!input.json) showPlan(input, plan)
  assertAllowed(plan)
  assertPermitted(plan)
  if (plan.batches.length > 0) await confirm(input, plan)
  const exit = await carryOut(input, place, plan)
  if (exit !== EXIT.done) return exit
  const after = await makePlan()
  if (!after) return EXIT.error
  if (after.plan.batches.length === 0) await saveLock(after)
  if (!input.json) showPlan(input, after.plan)
  return after.plan.batches.length === 0 ? EXIT.done : EXIT.partial
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** A saved plan is done as it is: an edited one is refused, and one that live state has moved away from as well. */
function savedPlan(place: Place, path: string): Plan {
  const plan = readPlan(readFileSync(path, 'utf8'))
  if (plan.organization.id !== place.organizationId) {
    throw new QuorateError('cli/other-organization', 'the plan belongs to another organization', {
      facts: { plan: plan.organization.id, settings: place.organizationId, submitted: 'nothing' },
      next: 'apply it with the settings that it was made with',
    })
  }
  return plan
}

async function confirm({ io, options }: CommandInput, plan: Plan): Promise<void> {
  if (options['yes'] || (io.terminal && (await io.ask(`Apply this plan to ${plan.organization.name}?`)))) return
  throw new QuorateError('cli/not-confirmed', 'the plan was not confirmed, and nothing was submitted', {
    next: io.terminal
      ? 'run it again and answer yes'
      : 'save the plan with `quorate plan --out FILE` and apply that, or give --yes',
  })
}

/** Starts the apply and follows it: to its end on a terminal, to the first wait for a person anywhere else. */
function carryOut(input: CommandInput, place: Place, plan: Plan): Promise<ExitCode> {
  const { io, json, options } = input
  if (plan.batches.length === 0) {
    if (json) io.out(`${JSON.stringify({ planDigest: plan.digest, state: 'done', batches: [] }, null, 2)}\n`)
    return Promise.resolve(EXIT.done)
  }
  return withApplies(input, place, async (applies) => {
    const handle = await startApply(applies, plan)
    if (options['detach']) {
      io.say('The apply goes on in the background; follow it with `quorate status --follow`.\n')
      return EXIT.done
    }
    const view = createProgressView(io)
    const progress = await followApply(handle, view, ({ state }) => state === 'waiting' && !io.terminal)
    if (json) io.out(`${JSON.stringify(progress, null, 2)}\n`)
    else io.out(renderResult(progress, io.style, Date.now()))
    if (progress.state === 'waiting') io.say(renderWaiting(progress, plan, io.style))
    return exitOf(progress)
  })
}
