/**
 * What a service counts, for Prometheus. Premise: a reader of metrics need not be trusted with who the tenants are, and no
 * request makes a label of its own: labels are routes of the catalogue, statuses, reasons and names from this code.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { RequestEnd } from '../http/index.ts'
import type { SendEnd } from '../sends/index.ts'
import type { Round } from '../store/index.ts'

/** Counters of other parts, read when metrics are asked for. */
export interface Counted {
  readonly writesWaiting: () => number
  readonly jobs: () => { readonly waiting: number; readonly running: number; readonly done: number }
  /** By outcome. */
  readonly deliveries: () => Readonly<Record<string, number>>
  /** By rate. */
  readonly rateRefusals: () => Readonly<Record<string, number>>
  readonly logLinesLost: () => number
  /** By where they are. */
  readonly sends: () => Promise<Readonly<Record<string, number>>>
  /** Waiting, or given up. */
  readonly deliveriesKept: () => Promise<Readonly<Record<string, number>>>
  /** E-mails and text messages, by whether an attempt has failed. */
  readonly messages: () => Promise<Readonly<Record<string, number>>>
}

/** What a server counts. */
export interface ServerCounts {
  readonly connections: { count(): number; refused(): number }
  readonly inFlight: { count(): number; heldBytes(): number }
}

export interface Metrics {
  readonly onRequest: (end: RequestEnd) => void
  readonly onRound: (round: Round) => void
  /** Told of the steps that a decision by policies took. */
  readonly onDecision: (steps: number) => void
  /** Told of a send that has come to its end. */
  readonly onSendEnd: (end: SendEnd) => void
  /** Begins to read what servers count, by their names. */
  readServers(servers: Readonly<Record<string, ServerCounts>>): void
  /** Begins to read what is counted elsewhere. */
  read(counted: Counted): void
  /** Everything, in the text format of Prometheus. */
  text(): Promise<{ readonly type: string; readonly text: string }>
  close(): void
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** All are told from the start: what begins to be told with its first is no increase. */
const SEND_ENDS = ['included', 'reverted', 'failed'] as const satisfies readonly SendEnd[]

/** The delays of the event loop are measured by a timer of so many ms. */
const RESOLUTION_MS = 10

/** Creates the metrics of one service. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  loop.enable()

  function counter<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) {
    return new Counter({ name, help, labelNames, registers })
  }
  function histogram<Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly Label[] = [],
  ) {
    return new Histogram({ name, help, buckets, labelNames, registers })
  }
  /** A count that stands elsewhere: one number, or one for each value of a label. */
  function read(
    kind: typeof Counter | typeof Gauge,
    name: string,
    help: string,
    count: () => number | Labelled | Promise<Labelled>,
    label?: string,
  ) {
    new kind({
      name,
      help,
      registers,
      labelNames: label === undefined ? [] : [label],
      async collect() {
        const now = await inTime(count)
        this.reset()
        if (typeof now === 'number') this.inc(now)
        else for (const [value, times] of Object.entries(now)) this.inc({ [label!]: value }, times)
      },
    })
  }

  const requests = counter('quorate_requests_total', 'Requests that are over, by route, status and reason of refusal', [
    'route',
    'status',
    'reason',
  ])
  const durations = histogram('quorate_request_duration_seconds', 'How long requests took, by route', SECONDS, [
    'route',
  ])
  const denials = counter('quorate_denials_total', 'Denied requests that were kept, or only counted', ['outcome'])
  const roundWrites = histogram(
    'quorate_store_round_writes',
    'Writes of one round, which are on disk with one commit',
    [1, 2, 4, 8, 16, 32, 64, 128],
  )
  const roundSeconds = histogram('quorate_store_round_seconds', 'How long a round took, its commit included', SECONDS)
  const decisionSteps = histogram(
    'quorate_policy_steps',
    'Steps that a decision by policies took',
    [10, 30, 100, 300, 1_000, 3_000, 10_000, 100_000, 1_000_000],
  )
  const sendsEnded = counter(
    'quorate_sends_ended_total',
    'Sends that have come to their end, by what it was: `included`, `reverted` or `failed`',
    ['state'],
  )
  for (const state of SEND_ENDS) sendsEnded.inc({ state }, 0)
  const roundFailures = counter('quorate_store_round_failures_total', 'Rounds that a fault of the machine undid')
  read(
    Gauge,
    'quorate_event_loop_delay_seconds',
    'Delay of the event loop since the last reading, by quantile',
    () => {
      const at = (percent: number) => Math.max(0, loop.percentile(percent) / 1e9 - RESOLUTION_MS / 1e3)
      const delays = { '0.5': at(50), '0.99': at(99), '1': at(100) }
      loop.reset()
      return delays
    },
    'quantile',
  )
  read(Counter, 'process_cpu_seconds_total', 'Processor time of the process', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  read(Gauge, 'process_resident_memory_bytes', 'Memory of the process', () => process.memoryUsage.rss())
  read(
    Gauge,
    'process_start_time_seconds',
    'When the process started, since the epoch',
    () => performance.timeOrigin / 1e3,
  )

  return {
    onRequest({ route = 'none', status, reason = '', ms, denial }) {
      const name = nameOf(route)
      requests.inc({ route: name, status, reason })
      durations.observe({ route: name }, ms / 1e3)
      if (denial) denials.inc({ outcome: denial })
    },
    onRound({ writes, ms, failed }) {
      roundWrites.observe(writes)
      roundSeconds.observe(ms / 1e3)
      if (failed) roundFailures.inc()
    },
    onDecision: (steps) => decisionSteps.observe(steps),
    onSendEnd: (state) => sendsEnded.inc({ state }),
    readServers(servers) {
      const of = (
        name: string,
        help: string,
        count: (one: ServerCounts) => number,
        kind: typeof Counter | typeof Gauge = Gauge,
      ) =>
        read(
          kind,
          name,
          `${help}, by server`,
          () => Object.fromEntries(Object.entries(servers).map(([server, one]) => [server, count(one)])),
          'server',
        )
      of('quorate_connections', 'Connections that are open', ({ connections }) => connections.count())
      of(
        'quorate_connections_refused_total',
        'Connections that were refused as one too many',
        ({ connections }) => connections.refused(),
        Counter,
      )
      of('quorate_requests_in_flight', 'Requests whose answer has not been taken', ({ inFlight }) => inFlight.count())
      of('quorate_in_flight_bytes', 'Bytes of requests and answers that are held', ({ inFlight }) =>
        inFlight.heldBytes(),
      )
    },
    read(counted) {
      read(Gauge, 'quorate_store_writes_waiting', 'Writes that wait for a round', counted.writesWaiting)
      read(Counter, 'quorate_rate_refusals_total', 'Requests that were refused, by rate', counted.rateRefusals, 'rate')
      read(
        Gauge,
        'quorate_jobs',
        'Dear parts of requests, waiting for their turn and running in threads',
        () => {
          const { waiting, running } = counted.jobs()
          return { waiting, running }
        },
        'state',
      )
      read(Counter, 'quorate_jobs_done_total', 'Dear parts of requests done in threads', () => counted.jobs().done)
      read(
        Counter,
        'quorate_webhook_attempts_total',
        'Attempts to deliver a webhook, by outcome',
        counted.deliveries,
        'outcome',
      )
      read(
        Gauge,
        'quorate_webhook_deliveries',
        'Webhooks that wait to be delivered, and that were given up',
        counted.deliveriesKept,
        'state',
      )
      read(Gauge, 'quorate_sends', 'Sends that have not come to their end, by where they are', counted.sends, 'state')
      read(
        Gauge,
        'quorate_messages',
        'E-mails and text messages that wait to be sent, by whether an attempt has failed',
        counted.messages,
        'state',
      )
      read(Counter, 'quorate_log_lines_lost_total', 'Log lines that could not be written', counted.logLinesLost)
    },
    text: async () => ({ type: registry.contentType, text: await registry.metrics() }),
    close: () => loop.disable(),
  }
}

type Labelled = Readonly<Record<string, number>>

const NOTHING: Labelled = {}

/** How long a store has to answer. */
const STORE_TAKES_MS = 1_000

/** What a store would tell is left out while it does not answer: the rest is wanted most then. */
async function inTime(count: () => number | Labelled | Promise<Labelled>): Promise<number | Labelled> {
  const now = count()
  if (!(now instanceof Promise)) return now
  return Promise.race([now.catch(() => NOTHING), delay(STORE_TAKES_MS, NOTHING, { ref: false })])
}

/** Routes are told as the catalogue names them; the star is what browsers ask first. */
function nameOf(route: string): string {
  return route === '*' ? 'preflight' : route.replace(/^\/(public\/v1\/)?/, '')
}
