import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ClientError, type QueryClient, type SubmitClient } from '../../client/index.ts'
import { EXIT, type ExitCode, messageOf, QuorateError } from '../../diagnostics/index.ts'
import { castVote, type Place, reader, submitter } from '../../operations/index.ts'
import { makeBody, shortCode } from '../../plan/index.ts'
import { activities, isWaiting, type Wire } from '../../protocol/index.ts'
import { ServiceError } from '../../service/index.ts'
import { askAboutWebhooks } from '../../service/operator/index.ts'
import { silentLogger } from '../../telemetry/index.ts'
import { isWebhookEventType, WEBHOOK_EVENTS } from '../../webhook/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { keepOrder } from '../command-orders.ts'
import { writeJsonLine } from '../io.ts'
import { readPort } from '../ports.ts'
import { line } from '../screen.ts'
import { serviceFolder } from '../service-folder.ts'
import { MEANING_OF_FAULT, renderEvent } from '../views/webhooks.ts'
import { withoutSecrets } from '../views/without-secrets.ts'
import { type CameIn, startWebhookReceiver } from '../webhook-receiver.ts'
import { createVerifier } from '../webhook-verifier.ts'

/** How often the service is asked whether it is still there, from which nothing may come for hours. */
const ASK_EVERY_MS = 10_000
/** How often it is said that it is gone. */
const SAY_EVERY_MS = 10_000
/** The least time between two rounds of tries while it is gone. */
const LOOK_EVERY_MS = 1_000
/** What a service that is gone, or that stands there broken, is told by. */
const GONE: readonly string[] = ['client/unreachable', 'client/server-error']

/** So long is the end waited for, once it was asked for: somebody waits for the command to end. */
const END_MS = 5_000

/** A service waits for ten seconds; what it is told in its place must come before. */
const FORWARD_MS = 9_000

/**
 * Makes an endpoint of its own, shows each event that comes and is verified, and forwards it, until Ctrl-C; then the endpoint
 * goes, and one that waits for approval is asked for no more.
 */
export async function listenForWebhooks(input: CommandInput): Promise<ExitCode> {
  const { io, options } = input
  const events = readEvents(options['event'])
  const most = readCount(options['count'])
  const forwardTo = readUrl(options['forwardTo'], '--forward-to')
  const publicUrl = readUrl(options['url'], '--url')
  const place = await findPlace(input, { acts: true })
  const client = submitter(place)
  const stopped = Promise.withResolvers<void>()
  const ending = new AbortController()
  const asked = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      asked.abort()
      stopped.resolve()
    })
  const path = publicUrl === undefined ? `/${randomUUID()}` : new URL(publicUrl).pathname
  let shown = 0
  const take = createTaker(input, { place, forwardTo })
  const receiver = await startWebhookReceiver(
    { port: readPort(options['port'], '--port') ?? 0, path },
    async (came) => {
      const { status, isEvent } = await take(came)
      // Once it is answered: what was shown must not come again.
      if (isEvent && ++shown === most) setImmediate(stopped.resolve)
      return status
    },
  )
  const url = publicUrl ?? `http://127.0.0.1:${receiver.port}${path}`
  const folder = serviceFolder(input)
  const isOpened = publicUrl === undefined && (await openLoopback(folder, receiver.port))
  let mayExist = true
  let waiting: Wire.Activity | undefined
  try {
    const made = { url, events, now: place.now(), signal: asked.signal }
    waiting = await makeEndpoint(client, made).catch((error: unknown) => {
      mayExist = !(error instanceof ClientError && error.submitted === 'no')
      if (mayExist) io.say(line`Whether the endpoint was made is not known: ${messageOf(error)}\n`)
      throw error
    })
    if (waiting)
      keepOrder(input.settings.dataDir, {
        activityId: waiting.id,
        command: 'webhooks listen',
        what: 'makes its endpoint',
      })
    io.say(
      waiting === undefined
        ? line`Listening for ${events.join(', ')} of ${place.organizationId}; Ctrl-C ends it.\n`
        : line`The endpoint waits for approval as ${shortCode(waiting.fingerprint)}: others vote with \`quorate approve ${shortCode(waiting.fingerprint)}\`. Nothing comes before. Ctrl-C ends it.\n`,
    )
    if (forwardTo !== undefined) io.say(line`Each event goes to ${forwardTo}, which answers the service.\n`)
    // It says itself what it waits for.
    const gone = untilGone(place, { limitMs: input.deadline.limitMs, signal: ending.signal, say: io.say })
    await Promise.race([stopped.promise, gone]).catch((error: unknown) => {
      mayExist = false
      throw notThere(error, url)
    })
  } finally {
    ending.abort()
    if (mayExist) await takeBack(input, { place, url, waiting })
    if (isOpened) await askAboutWebhooks(folder, { kind: 'close-loopback', port: receiver.port }).catch(() => {})
    await receiver.close()
  }
  return EXIT.done
}

/** Has the endpoint asked for no more, or deleted; where the service does not answer, says what is left. */
async function takeBack(
  { io, settings }: CommandInput,
  { place, url, waiting }: { readonly place: Place; readonly url: string; readonly waiting: Wire.Activity | undefined },
): Promise<void> {
  const signal = AbortSignal.timeout(END_MS)
  // A client that had no answer yet is told at once that nothing is there.
  const client = submitter(place)
  try {
    if (waiting && (await isStillAsked(client, waiting, signal))) {
      await castVote(client, waiting.fingerprint, { vote: 'reject', now: place.now(), signal })
      io.say('Ending: nobody has approved the endpoint, and it is asked for no more.\n')
      return
    }
    const { dataDir } = settings
    const isDeleted = await deleteEndpoint(client, url, { now: place.now(), say: io.say, dataDir, signal })
    if (isDeleted) io.say('Ending: the endpoint is deleted.\n')
  } catch (error) {
    const why = signal.aborted ? `the service has not answered within ${END_MS / 1000} s` : messageOf(error)
    const left = waiting ? ` Its request may still wait: \`quorate reject ${shortCode(waiting.fingerprint)}\`.` : ''
    io.say(line`Ending: the endpoint ${url} may still be there: ${why}.${left}\n`)
  }
}

/** Asks the service now and then whether it is there; throws what it was answered with once it was gone for so long. */
async function untilGone(
  place: Place,
  {
    limitMs,
    signal,
    say,
  }: { readonly limitMs: number; readonly signal: AbortSignal } & Pick<CommandInput['io'], 'say'>,
): Promise<never> {
  let goneSince: number | undefined
  let saidAt = 0
  const tell = ({ message }: ClientError) => {
    const now = performance.now()
    if (now - saidAt < SAY_EVERY_MS) return
    saidAt = now
    const leftMs = Math.max(0, limitMs - (now - goneSince!))
    say(line`Waiting: ${message}; looked for again, for ${Math.round(leftMs / 1000)} s more\n`)
  }
  for (;;) {
    if (goneSince === undefined) await delay(ASK_EVERY_MS, undefined, { signal, ref: false })
    const askedAt = performance.now()
    try {
      // The tries are counted here: a client's own would be counted from one again in each round.
      await reader({ ...place, logger: silentLogger }).query('whoami', {}, { signal })
      if (goneSince !== undefined) say(line`${place.baseUrl} answers again.\n`)
      saidAt = 0
      goneSince = undefined
    } catch (error) {
      // Whatever else it refuses with, it is there, and its events come.
      if (!(error instanceof ClientError)) throw error
      const isGone = GONE.includes(error.code)
      goneSince = isGone ? (goneSince ?? askedAt) : undefined
      if (isGone) tell(error)
      // One that may not be tried again is past the deadline.
      if (isGone && (!error.retryable || performance.now() - goneSince! >= limitMs)) throw error
      await delay(LOOK_EVERY_MS, undefined, { signal })
    }
  }
}

function notThere(cause: unknown, url: string): QuorateError {
  return new QuorateError('cli/not-listening', `the service is gone: ${messageOf(cause)}`, {
    facts: { endpoint: url, submitted: 'the endpoint, which the service still has when it comes back' },
    next: 'see that the service runs (`quorate doctor`), listen again, and delete the endpoint that is left',
    cause,
  })
}

/** Verifies, shows and forwards what comes. The status answers the service: what fails with 5xx comes again. */
function createTaker(
  { io, json }: CommandInput,
  { place, forwardTo }: { readonly place: Place; readonly forwardTo: string | undefined },
): (came: CameIn) => Promise<{ readonly status: number; readonly isEvent: boolean }> {
  const verify = createVerifier(place)
  return async (came) => {
    const verdict = await verify(came)
    if (!verdict.ok) {
      if (json) writeJsonLine(io, { verified: false, reason: verdict.reason })
      else io.say(line`Something came that is not verified: ${verdict.reason}. ${MEANING_OF_FAULT[verdict.reason]}\n`)
      return { status: 400, isEvent: false }
    }
    const forwarded = forwardTo === undefined ? undefined : await forward(came, forwardTo)
    const event = {
      at: new Date(verdict.timestampMs).toISOString(),
      eventType: String(came.headers['x-turnkey-event-type']),
      eventId: verdict.eventId,
      organizationId: String(came.headers['x-turnkey-organization-id']),
      body: Object(withoutSecrets(JSON.parse(Buffer.from(came.body).toString('utf8')))) as Readonly<
        Record<string, unknown>
      >,
      ...(forwarded === undefined ? {} : { forwarded: forwarded.said }),
    }
    if (json) writeJsonLine(io, { verified: true, ...event })
    else io.out(renderEvent(event))
    return { status: forwarded?.status ?? 200, isEvent: true }
  }
}

/** Sends the same bytes with the same headers, so that the receiver can verify them itself. */
async function forward(
  { headers, body }: CameIn,
  to: string,
): Promise<{ readonly status: number; readonly said: string }> {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    name === 'content-type' || name.startsWith('x-turnkey-') ? [[name, String(value)]] : [],
  )
  try {
    const signal = AbortSignal.timeout(FORWARD_MS)
    const answer = await fetch(to, {
      method: 'POST',
      headers: kept,
      body: Buffer.from(body),
      redirect: 'manual',
      signal,
    })
    await answer.body?.cancel()
    return { status: answer.status, said: String(answer.status) }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { status: 502, said: `not answered: ${messageOf(cause)}` }
  }
}

/** A service on this machine lets webhooks go to this one port while somebody listens there; another one was told to, or refuses. */
async function openLoopback(folder: string, port: number): Promise<boolean> {
  try {
    await askAboutWebhooks(folder, { kind: 'open-loopback', port })
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'service/no-operator') return false
    throw error
  }
}

/** Makes the endpoint; the activity where that waits for approval. */
async function makeEndpoint(
  client: SubmitClient,
  {
    url,
    events,
    now,
    signal,
  }: {
    readonly url: string
    readonly events: readonly string[]
    readonly now: number
    readonly signal: AbortSignal
  },
): Promise<Wire.Activity | undefined> {
  const parameters = {
    url,
    name: 'quorate webhooks listen',
    subscriptions: events.map((eventType) => ({ eventType })),
  }
  const activity = await submit(client, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', parameters, { now, signal })
  if (activity.status === 'ACTIVITY_STATUS_COMPLETED') return undefined
  if (isWaiting(activity.status)) return activity
  throw new QuorateError('cli/not-listening', `the endpoint was not made: the activity ended as ${activity.status}`, {
    facts: { activityId: activity.id, status: activity.status },
    next: 'see why with `quorate activities`',
  })
}

async function isStillAsked(client: QueryClient, { id }: Wire.Activity, signal: AbortSignal): Promise<boolean> {
  const { activity } = await client.query('get_activity', { activityId: id }, { signal })
  return isWaiting(activity.status)
}

/** Whether it is gone; where its deletion waits for approval, that is said. */
async function deleteEndpoint(
  client: SubmitClient,
  url: string,
  {
    now,
    say,
    dataDir,
    signal,
  }: { readonly now: number; readonly dataDir: string; readonly signal: AbortSignal } & Pick<CommandInput['io'], 'say'>,
): Promise<boolean> {
  const { webhookEndpoints = [] } = await client.query('list_webhook_endpoints', {}, { signal })
  let isDeleted = true
  for (const { endpointId } of webhookEndpoints.filter((each) => each.url === url)) {
    const asked = await submit(client, 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT', { endpointId }, { now, signal })
    const { id, status, fingerprint } = asked
    if (!isWaiting(status)) continue
    isDeleted = false
    keepOrder(dataDir, { activityId: id, command: 'webhooks listen', what: 'deletes its endpoint' })
    const code = shortCode(fingerprint)
    say(
      line`The endpoint stays until its deletion is approved: \`quorate approve ${code}\`. Nothing listens there now.\n`,
    )
  }
  return isDeleted
}

function submit(
  client: SubmitClient,
  type: 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT' | 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT',
  parameters: object,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
) {
  const { organizationId } = client
  const body = makeBody({ type, organizationId, parameters: { ...parameters }, timestampMs: String(now) })
  return client.submit(activities[type].path, body, { signal })
}

function readEvents(given: unknown): readonly string[] {
  const events = (given as readonly string[] | undefined) ?? Object.keys(WEBHOOK_EVENTS)
  const unknown = events.find((each) => !isWebhookEventType(each))
  if (unknown === undefined) return events
  throw usage(`\`${unknown}\` is no event`, `give one of ${Object.keys(WEBHOOK_EVENTS).join(', ')}`)
}

function readCount(text: unknown): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (Number.isSafeInteger(count) && count > 0) return count
  throw usage(`expected --count to be a whole number above 0, got \`${text}\``, 'correct it')
}

function readUrl(text: unknown, name: string): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(String(text))
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return url.href
  throw usage(`expected ${name} to be a URL, got \`${text}\``, 'give one such as http://127.0.0.1:3000/webhooks')
}

function usage(message: string, next: string): QuorateError {
  return new QuorateError('cli/usage', message, { next })
}
