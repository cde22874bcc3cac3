import type { PlanStore } from '../../../activities/index.ts'
import type { QueryClient } from '../../client/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { foreignEndOf, reader, sendWorkflowId } from '../../operations/index.ts'
import {
  assertNone,
  chainOf,
  createHeldByApi,
  exitOfStates,
  findBatch,
  ledgerOf,
  readBatchReport,
  readSenders,
  SEND_STATES,
  stateOf,
  toldNow,
  toReportCsv,
  withFinality,
  withNonces,
  withOffered,
  withReplacers,
} from '../../sending/index.ts'
import { type Away, findAway, findNodesAway } from '../background/away.ts'
import { findPlace, findSeen, type SeenApi } from '../background/connect.ts'
import { findAbove, LOOK_MS, noServiceHere } from '../background/index.ts'
import { readNodeSettings } from '../background/kept-chains.ts'
import { findRunningTemporal } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import {
  assertReportable,
  createAwayWatch,
  followListed,
  isOver,
  type ListedSend,
  writeReport,
} from '../sending/index.ts'
import { renderAway } from '../views/away.ts'
import { nextStep, renderListedSend, renderNextOfMany, renderSenders, SEND_AGAIN, toSendJson } from '../views/send.ts'
import { renderSendBatchEnd } from '../views/send-batch.ts'

/** Lists what was sent from here, oldest first, and how each stands, or follows what is open. The ledger knows; nodes of the user's own say what is final. */
export async function sends(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  if (typeof options['batch'] === 'string') {
    assertNone(options, { names: ['open', 'follow'], unless: 'it is for the list of all sends, without --batch' })
    return reportBatch(input, options['batch'])
  }
  assertNone(options, { names: ['csv', 'report'], unless: 'it is for the rows of a batch, --batch ID' })
  const follows = options['follow'] === true
  const found: SeenApi | undefined = follows ? await findPlace(input) : await findSeen(input)
  if (found === undefined) throw noServiceHere(input, {}, findAbove({}))
  const { organizationId, now } = found
  const { sends: ledger } = ledgerOf(settings.dataDir)
  const all = await readListed(ledger, organizationId)
  const nodes = readNodeSettings(input)
  const flying = new Set(all.filter((one) => !isOver(one)).map(({ order }) => chainOf(order)))
  const findAwayNow = async () => {
    const looks = [findAway(input, organizationId, found.silent), findNodesAway(nodes.nodes, flying)]
    return all.length === 0 ? [] : (await Promise.all(looks)).flat()
  }
  // Looked for first: an API that is away would be asked again and again.
  const begun = await findAwayNow()
  const api = found.isDown || (isApiAway(begun) && !follows) ? undefined : apiOf(input)
  // Who follows has the workflows ask.
  const asked = withOffered(follows ? all : withReplacers(await toldNow(all, { api, now, ledger })))
  const chosen = options['open'] === true || follows ? asked.filter((one) => !isOver(one)) : asked
  const isAskedInVain = begun.some(({ part }) => part === 'Temporal' || part === 'background')
  const left = isAskedInVain ? new Set<string>() : await findLeft(input, chosen)
  const marked = (one: ListedSend): ListedSend =>
    left.has(one.sendId) && !isOver(one) ? { ...one, isLeft: true } : one
  const held = (one: ListedSend, away: readonly Away[]): ListedSend =>
    isOver(one) ? one : { ...one, heldUp: one.isLeft ? SEND_AGAIN : heldUpBy(away) }
  const show = (one: ListedSend) => {
    if (!json) io.out(renderListedSend(one, io.style, now()))
  }
  if (!json && chosen.length === 0) io.say(all.length === 0 ? 'Nothing was sent from here.\n' : 'Nothing is open.\n')
  const ids = new Set(chosen.map(({ sendId }) => sendId))
  const read = async () =>
    (await readListed(ledger, organizationId)).filter(({ sendId }) => ids.has(sendId)).map(marked)
  const settled = async (all: readonly ListedSend[]) => withNonces(await withFinality(all, ledger, nodes, api), nodes)
  const watch = createAwayWatch(io, begun, findAwayNow)
  const showSettled = async (one: ListedSend) =>
    (await settled([one])).forEach((settledOne) => {
      show(held(settledOne, watch.away()))
    })
  const nudge = (waiting: readonly ListedSend[]) => nudgeSends(input, waiting)
  const followed = follows
    ? await followListed(io, { read, show: showSettled, nudge, look: watch.look }).finally(watch.end)
    : chosen.map(marked)
  const away = follows ? await findAwayNow() : begun
  const shown = (await settled(followed)).map((one) => held(one, away))
  if (!follows) shown.forEach(show)
  const asks = isApiAway(away) ? undefined : api
  const heldByApi = asks && createHeldByApi({ query: async (...asked) => (await asks()).query(...asked) })
  const senders = await readSenders(shown, { ...nodes, heldByApi })
  const told = shown.some((one) => !isOver(one)) ? away : []
  if (json) writeJson(io, { organizationId, sends: shown.map(toSendJson), senders, away: told })
  else {
    io.say(renderNextOfMany(shown.map(nextStep), io.style))
    io.say(renderSenders(senders, io.style))
    io.say(renderAway(told, io.style))
  }
  return follows ? exitOfStates(shown.map(stateOf)) : EXIT.done
}

const isApiAway = (away: readonly Away[]) => away.some(({ part }) => part === 'API')

/** What has open sends go on where nobody carries them out: an API that is away is asked again by who does. */
const heldUpBy = (away: readonly Away[]) => away.find(({ part }) => part !== 'API' && part !== 'node')?.next

/** What asks the API, which is opened when the first question comes. */
function apiOf(input: CommandInput): () => Promise<QueryClient> {
  let opened: Promise<QueryClient> | undefined
  const open = async (): Promise<QueryClient> => {
    const client = reader(await findPlace(input))
    return {
      ...client,
      query: (name, request, { signal } = {}) => {
        const within = AbortSignal.timeout(LOOK_MS)
        return client.query(name, request, { signal: signal ? AbortSignal.any([signal, within]) : within })
      },
    }
  }
  return () => {
    opened ??= open()
    return opened
  }
}

/** Newest open sends of which it is asked whether anybody carries them out: each is a request to Temporal. */
const MOST_ASKED = 100

/** Which open sends somebody ended at Temporal: the ledger has what was true then. Where no Temporal runs, that is not known. */
async function findLeft(input: CommandInput, listed: readonly ListedSend[]): Promise<ReadonlySet<string>> {
  const open = listed.filter((one) => one.progress !== undefined && !isOver(one)).slice(-MOST_ASKED)
  const temporal = open.length === 0 ? undefined : await findRunningTemporal(input).catch(() => undefined)
  if (temporal === undefined) return new Set()
  const ends = await Promise.all(
    open.map(async ({ sendId, order }) => {
      const handle = temporal.client.workflow.getHandle(sendWorkflowId(order.organization.id, sendId))
      return foreignEndOf(handle).catch(() => undefined)
    }),
  )
  await temporal.close()
  return new Set(open.filter((_, index) => ends[index] !== undefined).map(({ sendId }) => sendId))
}

/** Tells the workflows to look now. A signal that fails does no harm: they also poll by themselves. */
async function nudgeSends(input: CommandInput, waiting: readonly ListedSend[]): Promise<void> {
  const temporal = waiting.length === 0 ? undefined : await findRunningTemporal(input).catch(() => undefined)
  for (const { sendId, order } of temporal === undefined ? [] : waiting) {
    const handle = temporal!.client.workflow.getHandle(sendWorkflowId(order.organization.id, sendId))
    await handle.signal('nudge').catch(() => {})
  }
  await temporal?.close()
}

async function readListed(ledger: PlanStore['sends'], organizationId: string): Promise<readonly ListedSend[]> {
  const entered = await ledger.list(organizationId)
  const listed = await Promise.all(
    entered.map(async ({ sendId, order, stopped }): Promise<ListedSend> => {
      const progress = stopped
        ? ({ sendId, reference: order.reference, state: 'stopped' } as const)
        : await ledger.getProgress(sendId)
      if (progress !== undefined) return { sendId, order, progress }
      return { sendId, order, ...((await ledger.isAsked(sendId)) ? { isAsked: true } : {}) }
    }),
  )
  return withReplacers(listed)
}

/** The state of each row of a batch, up to now. */
async function reportBatch(input: CommandInput, begins: string): Promise<ExitCode> {
  const { io, json, options, settings } = input
  assertReportable(options['report'])
  const ledger = ledgerOf(settings.dataDir)
  const batch = await findBatch(ledger.batches, begins)
  const seen = await findSeen(input)
  const nodes = readNodeSettings(input)
  const chains = new Set(batch.rows.map(({ order }) => chainOf(order)))
  const looks = [findAway(input, batch.organization.id, seen?.silent), findNodesAway(nodes.nodes, chains)]
  const away = (await Promise.all(looks)).flat()
  const api = seen === undefined || seen.isDown || isApiAway(away) ? undefined : apiOf(input)
  const asking = { nodes, api, now: seen?.now, heldUp: heldUpBy(away) }
  const report = await readBatchReport(ledger, batch, asking)
  writeReport(options['report'], report)
  const isOpen = report.rows.some(({ state }) => state !== 'included' && !SEND_STATES[state].isOver)
  const told = isOpen ? away : []
  if (json) writeJson(io, { ...report, away: told })
  else {
    io.out(options['csv'] === true ? toReportCsv(report) : renderSendBatchEnd(report, io.style))
    io.say(renderSenders(report.senders ?? [], io.style))
    io.say(renderAway(told, io.style))
  }
  return EXIT.done
}
