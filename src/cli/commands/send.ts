import type { SendProgress } from '../../../activities/index.ts'
import { EXIT, type ExitCode, hasErrors, QuorateError } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import type { Explanation } from '../../policy/index.ts'
import { worldOfActual } from '../../scenarios/index.ts'
import type { CommandInput } from '../command.ts'
import { findPlace, type Place, reader } from '../connect.ts'
import { assertConfirmed } from '../io.ts'
import { loadFolder } from '../planning.ts'
import { describeSend } from '../sending/describe.ts'
import { forecastSend } from '../sending/forecast.ts'
import { type Directory, makeOrder, readDirectory, type SendRequest } from '../sending/order.ts'
import { beginSend, followSend, isFinal } from '../sending/running.ts'
import { usage } from '../sending/usage.ts'
import { withApplies } from '../temporal.ts'
import { sayDiagnostics } from '../views/diagnostics.ts'
import { exitOfSend, renderOrder, renderSend, toSendJson } from '../views/send.ts'

type Names = Pick<Directory, 'addressBook' | 'assets'>

/** Sends one transaction under a reference and follows it to its end; a reference is sent once, however often it is asked. */
export async function send(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  const names = await readNames(input, place)
  if (!names) return EXIT.error
  const { order, ...meaning } = await prepare(input, place, names)
  const { explanation } = meaning
  if (!json) io.say(renderOrder(order, meaning, io.style))
  if (options['dryRun']) {
    if (json) io.out(`${JSON.stringify(toSendJson({ order, ...meaning }), null, 2)}\n`)
    return EXIT.done
  }
  assertNotDenied(explanation)
  await assertConfirmed(input, { question: 'Send this?', otherwise: 'it was not sent' })
  return withApplies(input, place, async (applies) => {
    const { sendId, handle } = await beginSend(applies, order)
    const show = (progress: SendProgress) => {
      if (!json) io.say(renderSend(progress, io.style, Date.now()))
    }
    // Where nobody watches, approvals are not waited for: the same command finds the send again.
    const enough = (progress: SendProgress) =>
      options['detach'] === true ? progress.activityId !== undefined : !io.terminal && progress.state === 'waiting'
    const progress = await followSend(handle, show, enough)
    if (json) io.out(`${JSON.stringify(toSendJson({ order, sendId, progress }), null, 2)}\n`)
    return options['detach'] === true && !isFinal(progress) ? EXIT.done : exitOfSend(progress)
  })
}

/** Receivers and tokens have names where a folder of definitions is named; elsewhere receivers are addresses. */
async function readNames(input: CommandInput, place: Place): Promise<Names | undefined> {
  const [folder] = input.args
  if (folder === undefined) return { addressBook: {}, assets: {} }
  const loaded = await loadFolder(input, folder, place.embedded)
  sayDiagnostics(input, loaded.diagnostics)
  return hasErrors(loaded.diagnostics) ? undefined : loaded
}

async function prepare(input: CommandInput, place: Place, { addressBook, assets }: Names) {
  const client = reader(place)
  const request = readRequest(input)
  const [directory, actual] = await Promise.all([
    readDirectory(client, { addressBook, assets, from: request.from }),
    readActual(client),
  ])
  const { baseUrl, organizationId: id } = place
  const now = place.now()
  const order = makeOrder(request, { directory, organization: { id, name: actual.organizationName, baseUrl }, now })
  const world = worldOfActual(actual)
  return {
    order,
    description: describeSend(order, { directory, interfaces: world.interfaces }),
    explanation: forecastSend(order, { actual, world, directory, now }),
  }
}

function readRequest({ options }: CommandInput): SendRequest {
  const find = (name: string) => {
    const text = options[name]
    return typeof text === 'string' && text !== '' ? text : undefined
  }
  const given = (name: string) => {
    const text = find(name)
    if (text === undefined) throw usage(`expected --${name}`, 'see `quorate send --help`')
    return text
  }
  const optional = Object.fromEntries(
    OPTIONAL.flatMap((name) => {
      const text = find(name)
      return text === undefined ? [] : [[name, text]]
    }),
  )
  return { from: given('from'), to: given('to'), reference: given('ref'), ...optional }
}

const OPTIONAL = ['amount', 'asset', 'chain', 'data', 'maxFee', 'gas'] as const

/** The service would say no, in the same words; asking it anyway would only leave a denial behind. */
function assertNotDenied({ outcome, decidedBy }: Explanation): void {
  if (outcome === 'OUTCOME_ALLOW' || outcome === 'OUTCOME_REQUIRES_CONSENSUS') return
  const message = decidedBy.length === 0 ? 'no policy allows this send' : `denied by ${decidedBy.join(', ')}`
  throw new QuorateError('cli/send-denied', message, {
    facts: { submitted: 'nothing' },
    exit: EXIT.refused,
    next: 'look at why with --dry-run, and at the policies with `quorate policy explain --live`',
  })
}
