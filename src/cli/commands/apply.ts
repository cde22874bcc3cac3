import { existsSync, statSync } from 'node:fs'
import type { ApplyProgress } from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  type ApplyPlace,
  applyInside,
  assertFreshInside,
  exitOf,
  followApply,
  type InsideApply,
  type InsideOutcome,
  type Place,
  plansToApply,
  reader,
  startApply,
  withRejectionsAnywhere,
} from '../../operations/index.ts'
import { appliedPlans, isStandIn, type Plan, readPlan } from '../../plan/index.ts'
import { findPlace } from '../background/connect.ts'
import { withApplies } from '../background/temporal.ts'
import { asksAgain, type CommandInput } from '../command.ts'
import { writePrivate } from '../files.ts'
import { jsonText } from '../io.ts'
import { looking } from '../looking.ts'
import { planFolder, saveLock } from '../planning.ts'
import { line } from '../screen.ts'
import { createEvents, type EventStream } from '../views/events.ts'
import { assertAllowed, assertNoKeysSubmitted, assertNotRejected, assertPermitted, showPlan } from '../views/plan.ts'
import { createProgressView, renderResult, renderWaiting } from '../views/progress.ts'
import { readText } from './show.ts'

/** Carries out a saved plan and nothing else, or plans a folder and carries that out. */
export async function apply(input: CommandInput): Promise<ExitCode> {
  const events = input.options['events'] ? createEvents(input.io, Date.now) : undefined
  // Beside events nothing else goes to stdout.
  const given = events ? { ...input, json: false } : input
  try {
    const place = await findPlace(given)
    const named = given.args[0] ?? '.'
    const carry = isFile(named) ? applySaved : applyFolder
    const exit = await carry(given, place, named, events)
    events?.ended(exit)
    return exit
  } catch (error) {
    events?.failed(error)
    throw error
  }
}

/** A saved plan was confirmed when it was reviewed. The lock is written when its definitions are there, as they were. */
async function applySaved(
  input: CommandInput,
  place: Place,
  path: string,
  events: EventStream | undefined,
): Promise<ExitCode> {
  const saved = savedPlan(place, path)
  await assertSameUser(place, saved)
  // Somebody may have rejected it since it was made, or the run that carries it out may not have heard of that yet.
  const plan = await withRejectionsAnywhere(reader(place), saved, { askAgain: asksAgain(input) })
  events?.planned(plan)
  assertNoKeysSubmitted(plan)
  assertAllowed(plan)
  assertNotRejected(plan)
  assertPermitted(plan)
  await assertFreshInside(reader(place), plan, input.settings)
  const exit = await carryOut(input, place, plan, events)
  if (exit === EXIT.done && !input.options['detach']) await saveLockOf(input, place, plan)
  return exit
}

/** Nothing is wrong when it cannot be written here: the next plan from the definitions makes the lock again. */
async function saveLockOf(input: CommandInput, place: Place, plan: Plan): Promise<void> {
  const { folder } = plan
  if (folder === undefined || !existsSync(folder)) return
  const quiet = { ...input, json: false, io: { ...input.io, say: () => {}, out: () => {} } }
  const after = await planFolder(quiet, { folder, place, client: reader(place) }).catch(() => undefined)
  if (after?.plan.definitionsDigest === plan.definitionsDigest && mayLock(after.plan, plan))
    await saveLock(after, place)
  else input.io.say(line`The lock in ${folder} was not written: the definitions there are not those of this plan.\n`)
}

/** Whether nothing is left, and nothing that would be taken as defined has come up since the plan was looked at. */
function mayLock(after: Plan, plan: Plan): boolean {
  const stops = (one: Plan) =>
    one.guards.flatMap(({ name, addresses, allowed }) =>
      addresses.map((address) => ({ key: JSON.stringify([one.organization.name, name, address]), allowed })),
    )
  const given = new Set(
    appliedPlans(plan)
      .flatMap(stops)
      .flatMap(({ key, allowed }) => (allowed ? [key] : [])),
  )
  return appliedPlans(after).every(
    (one) => one.batches.length === 0 && stops(one).every(({ key, allowed }) => allowed || given.has(key)),
  )
}

/** Whether anything is submitted for a plan, inside or out. */
function hasWork(plan: Plan): boolean {
  return appliedPlans(plan).some(({ batches }) => batches.length > 0)
}

/** A fresh plan is confirmed now. When nothing is left to do, which live thing each name means is written down. */
async function applyFolder(
  input: CommandInput,
  place: Place,
  folder: string,
  events: EventStream | undefined,
): Promise<ExitCode> {
  const talks = !input.json && !events
  const makePlan = () => planFolder(input, { folder, place, client: reader(place) })
  const planned = await makePlan()
  if (!planned) return EXIT.error
  const { plan } = planned
  events?.planned(plan)
  if (talks) showPlan(input, plan)
  assertNoKeysSubmitted(plan)
  assertAllowed(plan)
  assertNotRejected(plan)
  assertPermitted(plan)
  const begun = hasWork(plan)
  if (begun) await confirm(input, plan)
  const exit = await carryOut(input, place, plan, events)
  // Detached, the apply goes on: whether anything will be left to do is not known yet.
  if (exit !== EXIT.done || (begun && input.options['detach'])) return exit
  const after = begun ? await makePlan() : planned
  if (!after) return EXIT.error
  if (mayLock(after.plan, plan)) await saveLock(after, place)
  if (talks && begun) showPlan(input, after.plan)
  return hasWork(after.plan) ? EXIT.partial : EXIT.done
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** A saved plan is done as it is: an edited one is refused, and one that live state has moved away from as well. */
function savedPlan(place: Place, path: string): Plan {
  const plan = readPlan(readText(path))
  if (plan.organization.id !== place.organizationId) {
    throw new QuorateError('cli/other-organization', 'the plan belongs to another organization', {
      facts: { plan: plan.organization.id, settings: place.organizationId, submitted: 'nothing' },
      next: 'apply it with the settings that it was made with',
    })
  }
  return plan
}

/** The forecast of a plan holds for one user; another key of the same user is accepted. */
async function assertSameUser(place: Place, { actor }: Plan): Promise<void> {
  if (actor.publicKey.toLowerCase() === place.key.publicKey.toLowerCase()) return
  const { userId, username } = await reader(place).query('whoami', {})
  if (userId === actor.userId) return
  throw new QuorateError('cli/other-user', `the plan was made for ${actor.userName}, and the key is ${username}'s`, {
    facts: { submitted: 'nothing' },
    next: `apply it with a key of ${actor.userName}, or plan again with this key`,
  })
}

async function confirm({ io, options }: CommandInput, plan: Plan): Promise<void> {
  if (options['yes'] || (io.terminal && (await io.ask(`Apply this plan to ${plan.organization.name}?`)))) return
  throw new QuorateError('cli/not-confirmed', 'the plan was not confirmed, and nothing was submitted', {
    next: io.terminal
      ? 'run it again and answer yes'
      : 'save the plan with `quorate plan --out FILE` and apply that, or give --yes',
  })
}

/** Starts the applies and follows them: the parent's first, then those of what is inside. */
async function carryOut(
  input: CommandInput,
  place: Place,
  plan: Plan,
  events: EventStream | undefined,
): Promise<ExitCode> {
  const { io, json, options } = input
  const data = (progress: object) => {
    const text = jsonText(progress)
    if (json) io.out(text)
    if (typeof options['jsonInto'] === 'string') writePrivate(options['jsonInto'], text)
  }
  if (!hasWork(plan)) {
    data({ planDigest: plan.digest, state: 'done', batches: [] })
    return EXIT.done
  }
  return withApplies(input, place, async (applies) => {
    if (options['detach']) return startOnly(input, applies, plan)
    const own = await carryOutOwn(input, applies, plan, events)
    const inside = mayGoOn(own) ? await carryOutInside(input, { applies, place, plan, progress: own, events }) : []
    const organizations = inside.map(({ plan: { organization }, progress }) => ({
      organization: organization.name,
      organizationId: organization.id,
      apply: progress ?? null,
    }))
    data({ ...own, ...(organizations.length > 0 ? { subOrganizations: organizations } : {}) })
    const began = own.batches.length > 0 || inside.length === 0 ? [exitOf(own)] : []
    const exit = exitOfAll([...began, ...inside.map((one) => one.exit)])
    return exit
  })
}

/** What is inside depends on nothing outside but its own creation; yet where nothing at all could be done, nothing is tried. */
function mayGoOn(own: ApplyProgress): boolean {
  const exit = exitOf(own)
  return exit === EXIT.done || exit === EXIT.waiting || exit === EXIT.partial
}

/** The exit code of several applies: done when all are, and partial when some are and one could not be. */
function exitOfAll(exits: readonly ExitCode[]): ExitCode {
  const failed = exits.filter((exit) => exit !== EXIT.done && exit !== EXIT.waiting)
  if (failed.length > 0) return failed.length === exits.length && new Set(failed).size === 1 ? failed[0]! : EXIT.partial
  return exits.includes(EXIT.waiting) ? EXIT.waiting : EXIT.done
}

/** Follows the organization's own apply: to its end on a terminal, to the first wait for a person anywhere else. */
async function carryOutOwn(
  { io, json }: CommandInput,
  applies: ApplyPlace,
  plan: Plan,
  events: EventStream | undefined,
): Promise<ApplyProgress> {
  if (plan.batches.length === 0) {
    return { planDigest: plan.digest, state: 'done', startedAt: new Date().toISOString(), batches: [] }
  }
  const handle = await startApply(applies, plan)
  const view = events?.progress ?? createProgressView(io)
  const otherwise = '`quorate status --follow` follows it, `quorate status --cancel` stops it at the next safe point.'
  const progress = await looking(io, { what: 'the apply', otherwise }, () =>
    followApply(handle, view, ({ state }) => state === 'waiting' && !io.terminal),
  )
  if (!json && !events) io.out(renderResult(progress, io.style, Date.now()))
  if (progress.state === 'waiting') io.say(renderWaiting(progress, plan, io.style))
  return progress
}

/** Applies what is inside; each is shown when it has ended, or waits for people. */
function carryOutInside(
  { io, json }: CommandInput,
  at: Pick<InsideApply, 'applies' | 'plan' | 'progress'> & {
    readonly place: Place
    readonly events: EventStream | undefined
  },
): Promise<readonly InsideOutcome[]> {
  const { place, events } = at
  const ended = ({ plan, progress }: InsideOutcome) => {
    const { name } = plan.organization
    if (!progress) return io.say(line`${name}: not begun, because it was not made\n`)
    const result = line`${io.style.strong(name)}\n` + renderResult(progress, io.style, Date.now())
    if (!json && !events) io.out(result)
    if (progress.state === 'waiting') io.say(renderWaiting(progress, plan, io.style))
  }
  return applyInside({ ...at, client: reader(place), ended, ...(events ? { look: events.inside } : {}) })
}

/** Starts what can be started and leaves it to the background. */
async function startOnly({ io }: CommandInput, applies: ApplyPlace, plan: Plan): Promise<ExitCode> {
  if (plan.batches.length > 0) await startApply(applies, plan)
  const inside = plansToApply(plan)
  const living = inside.filter(({ organization }) => !isStandIn(organization.id))
  for (const one of living) await startApply({ ...applies, organizationId: one.organization.id }, one)
  io.say('The apply goes on in the background; follow it with `quorate status --follow`.\n')
  if (living.length < inside.length)
    io.say('What is inside new sub-organizations is not begun; apply again once they are made.\n')
  return EXIT.done
}
