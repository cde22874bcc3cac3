/**
 * Stands between a client and the service and does to chosen requests what networks and overloaded services do. What is
 * not chosen passes unchanged. It speaks HTTP, so that a fault can be aimed at one request; `tcp.ts` aims at bytes.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A request on its way. */
export interface Passing {
  /** Counts every request from 0. */
  readonly index: number
  /** Counts what is asked from 0: a request that is sent again has the number that it had. */
  readonly question: number
  readonly path: string
  readonly body: string
  readonly submits: boolean
}

export type Fault =
  /** Answered here: nothing reaches the service. */
  | { readonly kind: 'answer'; readonly status: number; readonly body?: string; readonly retryAfter?: string }
  /** The connection breaks before anything reaches the service. */
  | { readonly kind: 'cut before' }
  /** The service carries it out, and the connection breaks before its answer. */
  | { readonly kind: 'cut after' }
  /** The service carries it out, and the connection breaks in the middle of its answer. */
  | { readonly kind: 'cut within' }
  /** The service carries it out, and its answer comes late. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The service carries it out, and its answer never comes. */
  | { readonly kind: 'silence' }
  /** The service carries it out, and its answer arrives changed. */
  | { readonly kind: 'changed'; readonly change: (text: string) => string }

/** What happens to a request; nothing unless it says so. Waiting in it holds the request back. */
export type Meddle = (passing: Passing) => Fault | undefined | Promise<Fault | undefined>

export interface Between {
  readonly url: string
  /** Every request that came, in order. */
  readonly passed: readonly Passing[]
  /** How many were meddled with. */
  readonly faults: number
  meddle: Meddle
  close(): Promise<void>
}

/** What a service answered to each question: for a world that stands still, which many readings go through. */
export type Memory = Map<string, Promise<Answered | undefined>>

/** The numbers of questions, the same in all readings that share a memory: those that go out at once come in any order. */
const numbers = new WeakMap<Memory, Map<string, number>>()

function numbersOf(memory: Memory): Map<string, number> {
  const known = numbers.get(memory) ?? new Map<string, number>()
  numbers.set(memory, known)
  return known
}

/** Starts one before the service at `target`, on any free port of this machine; what it remembers it does not ask again. */
export async function startBetween(
  target: string,
  meddle: Meddle = () => undefined,
  memory?: Memory,
): Promise<Between> {
  const passed: Passing[] = []
  const questions = memory ? numbersOf(memory) : new Map<string, number>()
  const between = { url: '', passed, faults: 0, meddle, close }
  const server = createServer(async (incoming, outgoing) => {
    const body = (await textOf(incoming)) ?? ''
    const path = incoming.url ?? ''
    const asked = `${path} ${body}`
    if (!questions.has(asked)) questions.set(asked, questions.size)
    const submits = path.includes('/submit/')
    const passing = { index: passed.length, question: questions.get(asked)!, path, body, submits }
    passed.push(passing)
    const fault = await between.meddle(passing)
    if (fault) between.faults++
    const answer = () => {
      const known = memory?.get(asked) ?? forward({ target, incoming, body })
      memory?.set(asked, known)
      return known
    }
    await carry(fault, answer, outgoing)
  })

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  between.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return between
}

interface Asked {
  readonly target: string
  readonly incoming: IncomingMessage
  readonly body: string
}

interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

type Ask = () => Promise<Answered | undefined>

async function carry(fault: Fault | undefined, ask: Ask, outgoing: ServerResponse): Promise<void> {
  const cut = () => void outgoing.destroy()
  if (fault?.kind === 'answer') {
    const later = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
    outgoing.writeHead(fault.status, { 'content-type': 'application/json', ...later })
    outgoing.end(fault.body ?? '')
    return
  }
  if (fault?.kind === 'cut before') return cut()
  const answer = await ask()
  if (answer === undefined || fault?.kind === 'cut after') return cut()
  if (fault?.kind === 'silence') return
  if (fault?.kind === 'late') await delay(fault.ms)
  const text = fault?.kind === 'changed' ? fault.change(answer.text) : answer.text
  const length = Buffer.byteLength(text)
  outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': length })
  if (fault?.kind !== 'cut within') return void outgoing.end(text)
  outgoing.write(text.slice(0, text.length / 2), cut)
}

/** What the service answers; nothing when it is not there. */
async function forward({ target, incoming, body }: Asked): Promise<Answered | undefined> {
  const { host, 'transfer-encoding': _, ...headers } = incoming.headers
  const sent = request(`${target}${incoming.url}`, { method: incoming.method, headers })
  const answer = new Promise<IncomingMessage | undefined>((resolve) => {
    sent.once('response', resolve)
    sent.once('error', () => resolve(undefined))
  })
  sent.end(body)
  const got = await answer
  const text = got && (await textOf(got))
  return got && text !== undefined ? { status: got.statusCode ?? 502, headers: got.headers, text } : undefined
}

async function textOf(message: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  try {
    for await (const part of message) parts.push(part as Buffer)
    return Buffer.concat(parts).toString()
  } catch {
    return undefined
  }
}
