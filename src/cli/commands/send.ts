import type { SendOrder, SendProgress } from '../../../activities/index.ts'
import { EXIT, type ExitCode, hasErrors, QuorateError } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import type { Explanation } from '../../policy/index.ts'
import type { CommandInput } from '../command.ts'
import { findPlace, type Place, reader } from '../connect.ts'
import { assertConfirmed } from '../io.ts'
import { loadFolder } from '../planning.ts'
import { forecastSend } from '../sending/forecast.ts'
import { type AddressBook, makeOrder, readDirectory } from '../sending/order.ts'
import { beginSend, followSend, isFinal } from '../sending/running.ts'
import { withApplies } from '../temporal.ts'
import { sayDiagnostics } from '../views/diagnostics.ts'
import { exitOfSend, renderOrder, renderSend, toSendJson } from '../views/send.ts'

/** Sends one transaction under a reference and follows it to its end; a reference is sent once, however often it is asked. */
export async function send(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  const addressBook = await readAddressBook(input, place)
  if (!addressBook) return EXIT.error
  const { order, explanation } = await prepare(input, place, addressBook)
  if (!json) io.say(renderOrder(order, explanation, io.style))
  if (options['dryRun']) {
    if (json) io.out(`${JSON.stringify(toSendJson({ order, explanation }), null, 2)}\n`)
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

/** Receivers have names where a folder of definitions is named; elsewhere they are addresses. */
async function readAddressBook(input: CommandInput, place: Place): Promise<AddressBook | undefined> {
  const [folder] = input.args
  if (folder === undefined) return {}
  const loaded = await loadFolder(input, folder, place.embedded)
  sayDiagnostics(input, loaded.diagnostics)
  return hasErrors(loaded.diagnostics) ? undefined : loaded.addressBook
}

async function prepare(
  { options }: CommandInput,
  place: Place,
  addressBook: AddressBook,
): Promise<{ readonly order: SendOrder; readonly explanation: Explanation }> {
  const client = reader(place)
  const given = (name: string) => {
    const text = options[name]
    if (typeof text === 'string' && text !== '') return text
    throw new QuorateError('cli/usage', `expected --${name}`, {
      facts: { submitted: 'nothing' },
      next: 'see `quorate send --help`',
    })
  }
  const request = {
    from: given('from'),
    to: given('to'),
    amount: given('amount'),
    chain: given('chain'),
    reference: given('ref'),
  }
  const [directory, actual] = await Promise.all([
    readDirectory(client, { addressBook, from: request.from }),
    readActual(client),
  ])
  const { baseUrl, organizationId: id } = place
  const now = place.now()
  const order = makeOrder(request, { directory, organization: { id, name: actual.organizationName, baseUrl }, now })
  return { order, explanation: forecastSend(order, { actual, directory, now }) }
}

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
