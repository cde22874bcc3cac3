import { setTimeout as delay } from 'node:timers/promises'
import { failedHow, type SendOrder, type SendProgress, sendIdOf } from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { type Place, reader } from '../../operations/index.ts'
import type { Explanation } from '../../policy/index.ts'
import { isWaiting } from '../../protocol/index.ts'
import {
  alikeWords,
  askedAnew,
  assertFirstAlike,
  assertFunded,
  assertNotAlike,
  assertNotElsewhere,
  asTheyStand,
  beginSend,
  createHeldByApi,
  type EarlierSend,
  enterAgain,
  findAlikeReferences,
  findEarlier,
  findReplacers,
  followSend,
  isDenied,
  isFinal,
  ledgerOf,
  nextOf,
  type prepareSend,
  releaseGivenUp,
  type SendDescription,
  type Simulation,
  simulateSends,
  stateOf,
  whyDenied,
  withFinality,
} from '../../sending/index.ts'
import { readNodeSettings } from '../background/kept-chains.ts'
import { carrierOf, withApplies } from '../background/temporal.ts'
import { asksAgain, type CommandInput } from '../command.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { looking } from '../looking.ts'
import { exitOfSend, renderNext, renderOrder, renderSend, toSendJson } from '../views/send.ts'
import { createPatience } from '../waiting.ts'

/** Shows a send, asks, begins it and follows it to its end; with `--dry-run` it only shows it. */
export async function carryOut(
  input: CommandInput,
  place: Place,
  { order, assets, ...prepared }: Awaited<ReturnType<typeof prepareSend>>,
): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const earlier = await findEarlier(settings.dataDir, order)
  // What was given up was never broadcast: it is sent anew, with other bytes.
  const isAgain = asksAgain(input) && earlier?.progress?.state === 'rejected'
  const isFree = earlier === undefined || earlier.progress?.state === 'given up' || isAgain
  const alike = isFree ? await readAlike(settings.dataDir, [order]) : []
  const meaning = alike.length === 0 ? prepared : { ...prepared, description: withAlike(prepared.description, alike) }
  const simulation = isFree ? await simulateOne(input, place, { order, assets, ...meaning }) : undefined
  // What is told of it is what is so now; what is done follows from the ledger, which its own workflow writes.
  const asking = { api: async () => reader(place), now: place.now, nodes: readNodeSettings(input) }
  const { sends: ledger } = ledgerOf(settings.dataDir)
  const [stands] = earlier ? await asTheyStand([earlier], { ledger, ...asking }) : []
  const shown = renderOrder(order, { ...meaning, earlier: stands, simulation }, io.style)
  if (options['dryRun']) {
    if (json) writeJson(io, toSendJson({ order, ...meaning, simulation, ...stands }))
    else io.out(shown)
    return EXIT.done
  }
  if (!json) io.say(shown)
  // What was asked for before goes on by itself or has ended: whatever would come of it now, it is only looked at.
  if (!isFree) {
    const { progress } = earlier
    if (progress !== undefined && isFinal(progress)) return end(input, place, { ...earlier, progress })
    // Its workflow may hear of it later; nothing is left to follow.
    if (stands?.progress?.state === 'included') return end(input, place, { ...earlier, progress: stands.progress })
  }
  let ordered: readonly SendOrder[] = [order]
  if (isFree) {
    assertNotDenied(meaning.explanation)
    assertNotAlike(alike, readNot(input))
    const rejected = isAgain ? new Map([[order, earlier.order.round ?? 0]]) : undefined
    ordered = await notElsewhere(input, place, { orders: [order], rejected })
    const isJoined = ordered[0]!.bodyTimeMs !== undefined
    if (!json && isJoined) io.say(JOINED)
    // One that is joined may have taken the funds already.
    if (simulation && !isJoined) assertFunded([simulation])
    await assertConfirmed(input, { question: 'Send this?', otherwise: 'it was not sent' })
    await assertFirstAlike(ledger, order, readNot(input))
    if (isAgain) await enterAgain(reader(place), { dataDir: settings.dataDir, order: ordered[0]! })
    else if (earlier !== undefined)
      await releaseGivenUp(reader(place), { dataDir: settings.dataDir, sendId: earlier.sendId })
  }
  return begin(input, place, ordered[0]!, isFree ? undefined : stands?.progress)
}

async function simulateOne(
  input: CommandInput,
  place: Place,
  { order, description, assets }: Awaited<ReturnType<typeof prepareSend>>,
): Promise<Simulation> {
  const sources = { nodes: readNodeSettings(input).nodes, heldByApi: createHeldByApi(reader(place)), assets }
  return (await simulateSends([{ order, description }], sources))[0]!
}

const JOINED = 'This reference was sent from elsewhere: it is followed from here too, and not sent again.\n'

type Alike = ReturnType<typeof findAlikeReferences>

/** Orders that this ledger does not know, and those in it whose references look alike. */
export async function readAlike(dataDir: string, orders: readonly SendOrder[]): Promise<Alike> {
  const [first] = orders
  if (first === undefined) return []
  const listed = await ledgerOf(dataDir).sends.list(first.organization.id)
  const own = new Set(orders.map(({ reference }) => reference))
  const entered = listed.flatMap(({ order, stopped }) => (stopped || own.has(order.reference) ? [] : [order]))
  return findAlikeReferences(orders, { entered })
}

function withAlike(description: SendDescription, alike: Alike): SendDescription {
  return { ...description, lookAlikes: [...(description.lookAlikes ?? []), ...alike.map(alikeWords)] }
}

/** What the user said is another payment. */
export function readNot({ options }: Pick<CommandInput, 'options'>): readonly string[] {
  const { not } = options
  return typeof not === 'string' ? [not, ...not.split(',')].map((one) => one.trim()) : []
}

/** Asks the organization's activities about orders that this ledger does not know; see `assertNotElsewhere`. */
export function notElsewhere(
  input: CommandInput,
  place: Place,
  {
    orders,
    rejected = new Map(),
  }: {
    readonly orders: readonly SendOrder[]
    /** Those that the ledger has as rejected, with their rounds. */
    readonly rejected?: ReadonlyMap<SendOrder, number> | undefined
  },
): Promise<readonly SendOrder[]> {
  const { io, settings } = input
  const { sends: ledger } = ledgerOf(settings.dataDir)
  const pause = (ms: number) => {
    io.say('Another machine may be sending this: waiting a few seconds for it to be listed.\n')
    return delay(ms)
  }
  const again = asksAgain(input) ? { again: rejected } : {}
  return assertNotElsewhere(reader(place), orders, { ledger, not: readNot(input), now: place.now, pause, ...again })
}

/** Says how a send ended, or what it waits for. */
async function end(
  input: CommandInput,
  place: Place,
  { sendId, order, progress: told }: Required<EarlierSend>,
): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const { sends: ledger } = ledgerOf(settings.dataDir)
  const known = [{ order, sendId, progress: told }]
  // What its approvals came to since its workflow has looked, or what its API was wrong about.
  const mayBeOld = told.state === 'waiting' || failedHow(told) === 'reverted'
  const now = mayBeOld ? await askedAnew(known, { api: async () => reader(place), now: place.now }) : known
  const replaced = await findReplacers(ledger, now)
  const nodes = readNodeSettings(input)
  const [stands] = await withFinality(replaced, ledger, nodes, async () => reader(place))
  const { replacedBy, finality, progress = told } = stands ?? {}
  const also = { ...(replacedBy && { replacedBy }), ...(finality && { finality }) }
  if (json) writeJson(io, toSendJson({ order, sendId, progress, ...also }))
  else if (isFinal(told) || progress.lapsed !== undefined) io.say(renderSend(progress, io.style, place.now(), also))
  if (!json) io.say(renderNext(progress, io.style, replacedBy))
  const isDetached = options['detach'] === true && !isFinal(progress)
  if (isDetached && !json && progress.activityId === undefined) io.say(UNSUBMITTED)
  // `--detach` promises a send that was submitted.
  return isDetached && progress.activityId !== undefined ? EXIT.done : exitOfSend(progress)
}

const UNSUBMITTED =
  'It is not known to be submitted. It is tried again by itself with the same bytes; the same command follows it, and `quorate sends --open` lists it.\n'

/**
 * Begins a send, or joins the one that its reference has, and follows it to its end.
 * @param joined how one that is joined stands by the API: what its workflow has not been told yet is no news. @default it is begun
 */
export function begin(input: CommandInput, place: Place, order: SendOrder, joined?: SendProgress): Promise<ExitCode> {
  const { io, json, options } = input
  return withApplies(input, place, async (applies, answers) => {
    const { sends: ledger } = ledgerOf(applies.dataDir)
    const wasBegun = (await ledger.findOrder(sendIdOf(order))) !== undefined
    const { sendId, handle } = await beginSend(applies, order)
    // Where it has run for long, it would ask the API within a minute only.
    if (wasBegun) await handle.signal('nudge').catch(() => {})
    const show = (progress: SendProgress) => {
      if (!json && !isFinal(progress) && !isBehind(progress, joined))
        io.say(renderSend(progress, io.style, place.now()))
    }
    const client = reader(place)
    let told = joined
    const next = () =>
      (told && nextOf({ progress: told })) ?? 'run the same command again: it finds the send, which is made once'
    const patience = createPatience(input, { what: 'the send', next, carrier: carrierOf(input) })
    patience.asking(answers)
    const enough = async (progress: SendProgress) => {
      const { activityId, state, error } = progress
      told = progress
      patience.look(() => `the send is ${stateOf({ progress })}${error ? `, last answer: ${error.message}` : ''}`)
      // Its worker has another folder: nobody who only waits here changes that.
      if (error?.code === 'apply/order-missing') return !io.terminal
      // An error is told once several tries have had the same end, such as while the API has no node of the chain.
      if (options['detach'] === true) return activityId !== undefined || error !== undefined
      if (io.terminal || state !== 'waiting') return false
      // Where nobody watches, approvals are not waited for: the same command finds the send again. It may have been decided
      // since the workflow looked.
      const { activity } = await client.query('get_activity', { activityId: activityId! })
      if (isWaiting(activity.status)) return true
      // One that has ended meanwhile needs none.
      await handle.signal('nudge').catch(() => {})
      return false
    }
    const otherwise = 'The same command follows it again; what waits for approval is ended with `quorate reject`.'
    const progress = await looking(io, { what: 'the send', otherwise, patience }, () =>
      followSend(handle, show, enough),
    )
    return end(input, place, { order, sendId, progress })
  })
}

/** The states that a send goes through until it is over. */
const WAY: readonly SendProgress['state'][] = ['submitting', 'waiting', 'broadcasting']

function isBehind({ state }: SendProgress, now: SendProgress | undefined): boolean {
  const at = (one: SendProgress['state']) => (WAY.includes(one) ? WAY.indexOf(one) : WAY.length)
  return now !== undefined && at(state) < at(now.state)
}

/** The service would say no, in the same words; asking it anyway would only leave a denial behind. */
function assertNotDenied(explanation: Explanation): void {
  if (!isDenied(explanation)) return
  throw new QuorateError('cli/send-denied', whyDenied(explanation), {
    facts: { submitted: 'nothing' },
    exit: EXIT.refused,
    next: 'send it with the key of somebody whom a policy allows it, or change the policies; `quorate policy explain --live` shows how each decides',
  })
}
