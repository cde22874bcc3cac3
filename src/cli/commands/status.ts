import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ApplyProgress, createPlanStore, readStorePlace } from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  APPLY,
  type ApplyHandle,
  type ApplyPlace,
  askAnew,
  askInside,
  askProgress,
  beginningInside,
  cancelApply,
  exitOf,
  exitOfAll,
  failedRotations,
  findApply,
  followApply,
  followBegun,
  foreignEndOf,
  giveUpRotation,
  type InsideHandle,
  type InsideOutcome,
  listWatches,
  nudgeApply,
  type OpenRotation,
  openRotationsWithEnds,
  ROTATION,
  type RunningInside,
  runningInside,
  type Watched,
} from '../../operations/index.ts'
import type { Plan } from '../../plan/index.ts'
import type { GivenUpWebhooks } from '../../service/index.ts'
import { type AuthProxyState, originsText, readAuthProxyState } from '../auth-proxy-state.ts'
import { findPlace } from '../background/connect.ts'
import { assertServiceHere, backgroundDown, lookAtBackground, silentBackground } from '../background/index.ts'
import { namedTemporal, withApplies } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { parseDuration } from '../durations.ts'
import { type Style, writeJson, writeJsonLine } from '../io.ts'
import { line } from '../screen.ts'
import { createProgressView, renderResult, renderStanding, withNeeds } from '../views/progress.ts'
import { exitOfRotation, renderRotation } from '../views/rotation.ts'
import { renderWatch, watchJson } from '../views/watch.ts'
import { withReasons } from '../vote-reasons.ts'
import { createPatience, type Patience } from '../waiting.ts'
import { givenUpText, readLatelyGivenUp } from '../webhooks-given-up.ts'

/** How often `--watch` asks for the state. */
const LOOK_EVERY_MS = 5_000

/** Shows the state of the organization's apply, once or, with `--watch`, each time that it changes. */
export async function status(input: CommandInput): Promise<ExitCode> {
  const { io, options } = input
  if (options['watch'] !== true) return look(input)
  const limitMs =
    typeof options['wait'] === 'string' ? parseDuration(options['wait'], '--wait') : Number.POSITIVE_INFINITY
  const patience = createPatience({ io, options: {} }, { what: 'the apply', next: '' })
  const startedAt = performance.now()
  let shown = ''
  for (;;) {
    let text = ''
    const keep = {
      ...io,
      out: (more: string) => {
        text += more
      },
    }
    const exit = await look({ ...input, io: keep, options: { ...options, follow: false, cancel: false } })
    // A program reads one document a line, as each comes.
    if (text !== shown) input.json ? writeJsonLine(io, JSON.parse(text)) : io.out(text)
    patience.look(() => `as it was, looked at again at ${new Date().toISOString()}`, text !== shown)
    shown = text
    const leftMs = limitMs - (performance.now() - startedAt)
    if (leftMs <= 0) return exit
    await delay(Math.min(LOOK_EVERY_MS, leftMs))
  }
}

/**
 * Makes sure that something runs that can be asked, and starts nothing: what is down is an error, not a state of the apply. Throws
 * `cli/no-service-here`, `cli/background-down` and `cli/background-silent`.
 */
async function assertUp(input: CommandInput): Promise<void> {
  const { settings, environment } = input
  const { baseUrl, dataDir } = settings
  await assertServiceHere(input)
  const isElsewhere = baseUrl !== undefined && namedTemporal(environment) !== undefined
  if (isElsewhere) return
  const answer = await lookAtBackground(dataDir)
  if (answer?.state === 'silent') throw silentBackground(dataDir, answer.pid)
  if (answer !== undefined) return
  throw backgroundDown(dataDir)
}

/** Shows the state. If Temporal does not answer, it shows what is known of the organization's watch without it, and then throws that. */
async function look(input: CommandInput): Promise<ExitCode> {
  const patience = createPatience(input, { what: 'the apply', next: 'run `quorate status --follow` again' })
  try {
    return await patience.during(() => lookAtTemporal(input, patience))
  } catch (error) {
    if (error instanceof QuorateError && error.code === 'worker/temporal-unreachable' && !input.json)
      await tellKept(input)
    throw error
  }
}

async function tellKept({ io, settings }: CommandInput): Promise<void> {
  const { watches } = createPlanStore(join(settings.dataDir, 'plans'))
  const kept = (await watches.list()).filter(
    ({ organizationId }) => settings.organizationId === undefined || organizationId === settings.organizationId,
  )
  for (const watch of kept) {
    const state = await watches.stateOf(watch.organizationId)
    const known: Watched = { watch, ...(state ? { state } : {}), isLost: false, isUnknown: true }
    io.out('Watched, as the last look left it\n')
    io.out(renderWatch(known, io.style, Date.now()))
  }
}

/** Shows the state of the apply, with the applies of sub-organizations that have not ended; follows or cancels them. */
async function lookAtTemporal(input: CommandInput, patience: Patience): Promise<ExitCode> {
  const { io, json, options } = input
  const cancels = options['cancel'] === true
  if (!cancels) await assertUp(input)
  const place = await findPlace(input, { acts: cancels })
  const service = !cancels && options['follow'] !== true ? await readServiceState(input) : {}
  return withApplies(
    input,
    place,
    async (applies, answers) => {
      patience.asking(answers)
      const { organizationId } = applies
      const store = readStorePlace(join(applies.dataDir, 'plans'))
      if (store && !json) io.out(line`Plan store  ${store.shown}\n`)
      const handle = await findApply(applies)
      const inside = await runningInside(applies)
      const beginning = await beginningInside(applies)
      const watched = await findWatched(input, applies)
      const shown = watched ? { watch: watchJson(watched) } : {}
      const watchLines = watched ? `\nWatched\n${renderWatch(watched, io.style, Date.now())}` : ''
      const open = await openRotationsWithEnds(applies)
      const rotations = cancels ? open : [...open, ...(await failedRotations(applies, Date.now()))]
      if (options['cancel'])
        for (const { end, rotationId } of open) if (end) await giveUpRotation(applies.dataDir, rotationId)
      if (!json)
        for (const one of rotations)
          io.out(renderRotation(one, io.style, place.now()) + renderRotationEnd(one, options['cancel'] === true))
      const rotating = rotations.length > 0 ? { rotations } : {}
      if (!handle && inside.length === 0 && beginning.length === 0) {
        if (json) writeJson(io, { organizationId, apply: null, ...shown, ...rotating, ...service })
        else {
          const nothing = line`Nothing has been applied to organization ${organizationId} from here.\n`
          io.out(nothing + watchLines + renderService(service))
        }
        const left = options['cancel'] ? rotations.filter(({ end }) => end === undefined) : rotations
        return exitOfAll(left.map(exitOfOpen))
      }
      // A workflow that somebody ended at Temporal answers for ever with its state of that time.
      const end = handle && (await foreignEndOf(handle))
      const all = [...(handle && !end ? [handle] : []), ...inside.map((one) => one.handle)]
      // `applyInside` first, or it would begin more applies.
      if (options['cancel']) for (const one of [...beginning, ...all]) await cancelApply(one)
      // Its runs are ended too, so that nobody who kept the start of the workflow can go on with it.
      if (options['cancel'] && end) await createPlanStore(join(applies.dataDir, 'plans')).endRuns(organizationId)
      const follow = !end && (options['follow'] === true || options['cancel'] === true)
      // A program that looks again and again is told what the apply has seen; a person who looks, how it is now.
      const askNow = end || json || options['watch'] === true ? askProgress : askAnew
      const followAnew = async (one: ApplyHandle) => {
        if (options['cancel'] !== true) await nudgeApply(one)
        const show = createProgressView(io, { now: place.now, patience })
        let plan: ReturnType<typeof planOf> | undefined
        return followApply(one, async (now, before) => {
          plan ??= planOf(now, applies.dataDir)
          show(now, before, await plan)
        })
      }
      const watch = follow ? followAnew : askNow
      const progress = handle ? await watch(handle) : undefined
      const followed: InsideOutcome[] = []
      if (follow && !options['cancel']) {
        const ended = (one: InsideOutcome) =>
          json ? undefined : io.out(renderInside(one, { style: io.style, now: place.now() }))
        for (const one of beginning) followed.push(...(await followBegun(one, { applies, ended, look: () => {} })))
      }
      const names = new Set(followed.map(({ plan }) => plan.organization.name))
      const others = inside.filter((one) => !names.has(one.organization))
      const pending = options['cancel'] ? [] : await namesToBegin(beginning)
      const data = {
        ...asData([...others, ...followed.flatMap(runOf)]),
        ...(pending.length > 0 ? { pendingSubOrganizations: pending } : {}),
      }
      if (json)
        writeJson(io, {
          organizationId,
          apply: await dataOf(progress, applies.dataDir),
          ...(end ? { end } : {}),
          ...data,
          ...shown,
          ...rotating,
          ...service,
        })
      else {
        const seen = { style: io.style, now: place.now(), dataDir: applies.dataDir }
        if (progress) io.out(await renderStatus(progress, seen))
        if (end) io.out(renderEnd(end, options['cancel'] === true))
        for (const one of others)
          io.out(line`\n${io.style.strong(one.organization)}\n` + (await renderStatus(one.progress, seen)))
        io.out(watchLines + renderService(service))
        if (pending.length > 0) io.out(line`\nNot begun yet inside: ${pending.join(', ')}\n`)
      }
      if (options['cancel'] !== true && end) return EXIT.error
      if (!follow) {
        const applies = [...(progress && !end ? [progress] : []), ...others.map((one) => one.progress)]
        return exitOfAll([...applies.map(exitOfLook), ...rotations.map(exitOfOpen)])
      }
      if (options['cancel']) return !progress || end ? EXIT.done : exitOfStopped(progress)
      return exitOfAll([...(progress ? [exitOf(progress)] : []), ...followed.map(({ exit }) => exit)])
    },
    { isLook: !cancels, follows: options['follow'] === true },
  )
}

/** How the organization is watched; undefined if an apply is only followed or cancelled. */
async function findWatched({ options }: CommandInput, applies: ApplyPlace): Promise<Watched | undefined> {
  if (options['follow'] || options['cancel']) return undefined
  return (await listWatches(applies)).find(({ watch }) => watch.organizationId === applies.organizationId)
}

/** The state of the apply, with the people who may vote if its plan is on this machine. */
async function dataOf(progress: ApplyProgress | undefined, dataDir: string): Promise<object | null> {
  return progress ? withNeeds(progress, await planOf(progress, dataDir)) : null
}

/** The plan that is applied; undefined if this machine does not have it. */
function planOf({ planDigest }: ApplyProgress, dataDir: string): Promise<Plan | undefined> {
  return createPlanStore(join(dataDir, 'plans'))
    .getPlan(planDigest)
    .catch(() => undefined)
}

/** The exit code for a probe: an apply that goes on by itself is in order, one that waits or has failed is not. */
function exitOfLook(progress: ApplyProgress): ExitCode {
  return progress.state === 'running' ? EXIT.done : exitOf(progress)
}

/** The exit code after `--cancel`: 0 if the apply has stopped, otherwise that of its end. */
function exitOfStopped(progress: ApplyProgress): ExitCode {
  return progress.state === 'cancelled' ? EXIT.done : exitOf(progress)
}

/** The state of the service on this machine that is shown beside the apply. */
interface ServiceState {
  readonly authProxy?: AuthProxyState
  readonly webhooksGivenUp?: Required<GivenUpWebhooks>
}

async function readServiceState(input: CommandInput): Promise<ServiceState> {
  const [proxy, webhooksGivenUp] = await Promise.all([readAuthProxyState(input), readLatelyGivenUp(input)])
  return {
    // An authentication proxy that is off is not shown.
    ...(proxy && proxy.state !== 'off' ? { authProxy: proxy } : {}),
    ...(webhooksGivenUp ? { webhooksGivenUp } : {}),
  }
}

function renderService({ authProxy, webhooksGivenUp: given }: ServiceState): string {
  const webhooks = given
    ? line`Webhooks: ${givenUpText(given.count, given.last)}; see them with \`quorate webhooks deliveries\`.\n`
    : ''
  return renderProxy(authProxy) + webhooks
}

function renderProxy(authProxy: AuthProxyState | undefined): string {
  if (!authProxy) return ''
  const { url, configId, state, why = '', origins, lastFailure } = authProxy
  if (state === 'unreachable') return line`The authentication proxy ${url} does not answer: ${why}\n`
  const where = origins === undefined ? '' : `; ${originsText(origins)}`
  const failed = lastFailure ? `; last failure at ${lastFailure.at}: ${lastFailure.message}` : ''
  return line`The authentication proxy ${url} answers for configuration ${configId}${where}${failed}.\n`
}

/** The sub-organizations whose applies are still to be begun. */
async function namesToBegin(beginning: readonly InsideHandle[]): Promise<readonly string[]> {
  const progress = await Promise.all(beginning.map(askInside))
  const pending = progress.flatMap(({ organizations }) => organizations.filter(({ state }) => state === 'pending'))
  return [...new Set(pending.map(({ name }) => name))].toSorted()
}

function renderEnd(end: string, isCancelled: boolean): string {
  const next = isCancelled
    ? 'It is given up: nothing more of it is submitted. What waits for approval is ended with `quorate reject`.'
    : `What was submitted is kept, and nothing more is submitted by itself. Next: ${APPLY.next}.`
  return line`Somebody ended it at Temporal (${end}): nobody carries it out now. ${next}\n`
}

function renderRotationEnd({ end, new: made, handedAt }: OpenRotation, isCancelled: boolean): string {
  if (end === undefined) return ''
  const left =
    made && handedAt === undefined ? ` If the new key ${made.publicKey} is registered, nobody has it: delete it.` : ''
  const next = isCancelled ? `It is given up, and its keys stay as they are.${left}` : `Next: ${ROTATION.next}.`
  return line`  Somebody ended it at Temporal (${end}): nobody carries it out now. ${next}\n`
}

/** The exit code for a rotation that is open: 1 if somebody ended its workflow, so that nobody carries it out. */
function exitOfOpen(rotation: OpenRotation): ExitCode {
  return rotation.end === undefined ? exitOfRotation(rotation) : EXIT.error
}

function renderInside(
  { plan, progress }: InsideOutcome,
  { style, now }: { readonly style: Style; readonly now: number },
): string {
  const name = line`\n${style.strong(plan.organization.name)}\n`
  return progress ? name + renderResult(progress, style, now) : `${name}not begun\n`
}

function runOf({ plan: { organization }, progress }: InsideOutcome): readonly ShownInside[] {
  return progress ? [{ organization: organization.name, organizationId: organization.id, progress }] : []
}

type ShownInside = Pick<RunningInside, 'organization' | 'organizationId' | 'progress'>

function asData(inside: readonly ShownInside[]): object {
  const rows = inside.map(({ organization, organizationId, progress }) => ({
    organization,
    organizationId,
    apply: progress,
  }))
  return rows.length > 0 ? { subOrganizations: rows } : {}
}

async function renderStatus(
  progress: ApplyProgress,
  { style, now, dataDir }: { readonly style: Style; readonly now: number; readonly dataDir: string },
): Promise<string> {
  const plan = await planOf(progress, dataDir)
  const told = withReasons(progress, dataDir)
  return `${progress.state}, begun at ${progress.startedAt}\n${renderStanding(told, plan, style, now)}`
}
