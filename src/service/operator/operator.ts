import { rmSync } from 'node:fs'
import { readPrivate, writePrivate } from '../../local/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'
import {
  createFaults,
  FAULT_STATUSES,
  type Faults,
  type InjectedFault,
  matches,
  type NewFault,
  type RequestFault,
  type WebhookFault,
} from './faults.ts'

/** Requests of an operator to a running service. Every request is answered with the state after it. */
export type OperatorRequest =
  | { readonly kind: 'state' }
  | { readonly kind: 'move-clock'; readonly ms: number }
  | { readonly kind: 'reset-clock' }
  | { readonly kind: 'add-fault'; readonly fault: NewFault }
  | { readonly kind: 'clear-faults'; readonly id?: number }

/** The changes of an operator that are in force. */
export interface OperatorState {
  /** The time of the service: milliseconds since the epoch. */
  readonly now: number
  /** How far that is ahead of the machine's clock. */
  readonly aheadMs: number
  readonly faults: readonly InjectedFault[]
}

/** The operator's control, for tests and rehearsals: move the service's time, and ask for faults. */
export interface Operator {
  /** The service's clock: the machine's and what it was moved by. Everything that has a time in it follows. */
  readonly clock: () => number
  readonly faults: Faults
  state(): OperatorState
  /** Throws `service/operator-invalid`. */
  answer(request: OperatorRequest): OperatorState
}

/** Where dates end that every client can read: the year 10000. */
const END_OF_TIME = Date.UTC(10_000, 0)

/** The state that outlives a restart: a database from a moved time belongs to a moved clock. */
type Kept = Pick<OperatorState, 'aheadMs' | 'faults'>

/**
 * Creates the operator's control; what was in force when the service last ran is in force again.
 * @param file keeps what is in force; there is none while nothing is
 * @param paths of the API and of the authentication proxy, so that a fault which can never come is refused
 */
export function createOperator(options: {
  readonly clock: () => number
  readonly file: string
  readonly paths: readonly string[]
  /** Types of events, likewise. */
  readonly events: readonly string[]
}): Operator {
  const { file } = options
  let { aheadMs, faults: initial } = readKept(file)
  const keep = () => {
    if (aheadMs === 0 && faults.list().length === 0) return rmSync(file, { force: true })
    writePrivate(file, `${JSON.stringify({ aheadMs, faults: faults.list() } satisfies Kept, null, 2)}\n`)
  }
  const faults = createFaults(initial, keep)
  const clock = () => options.clock() + aheadMs
  const state = () => ({ now: clock(), aheadMs, faults: faults.list() })
  const moveTo = (ms: number) => {
    aheadMs = ms
    keep()
  }
  return {
    clock,
    faults,
    state,
    answer(request) {
      switch (request.kind) {
        case 'state':
          break
        case 'move-clock':
          checkMove(request.ms, clock())
          moveTo(aheadMs + request.ms)
          break
        case 'reset-clock':
          moveTo(0)
          break
        case 'add-fault':
          faults.add(checkFault(request.fault, options))
          break
        case 'clear-faults':
          if (!faults.clear(request.id))
            throw invalid(`no fault has the id ${request.id}`, 'list them: `quorate fault list`')
          break
        default:
          throw invalid(`\`${(request as { kind?: unknown }).kind}\` is no request of an operator`)
      }
      return state()
    },
  }
}

/** Says what an operator left behind in a folder that is served without an operator's control: it is not in force. */
export function warnOfKept(file: string, logger: Logger): void {
  if (readPrivate(file) === undefined) return
  logger.warn('a moved clock or faults are kept in this folder and are not in force', { file })
}

function readKept(file: string): Kept {
  const text = readPrivate(file)
  if (text === undefined) return { aheadMs: 0, faults: [] }
  try {
    return JSON.parse(text) as Kept
  } catch (cause) {
    throw new ServiceError('service/data-folder-damaged', `\`${file}\` is no JSON`, {
      facts: { path: file },
      next: 'remove it: it holds nothing but a moved clock and faults',
      cause,
    })
  }
}

function checkMove(ms: number, now: number): void {
  if (Number.isSafeInteger(ms) && ms > 0 && now + ms < END_OF_TIME) return
  throw invalid('expected to move the clock forward, to a time before the year 10000', 'give a time such as +25h')
}

function checkFault(
  fault: NewFault,
  { paths, events }: { readonly paths: readonly string[]; readonly events: readonly string[] },
): NewFault {
  return 'webhook' in fault ? checkWebhookFault(fault, events) : checkRequestFault(fault, paths)
}

function checkWebhookFault(fault: WebhookFault, events: readonly string[]): WebhookFault {
  const { webhook, times, lose, twice, delayMs } = fault
  checkWholes({ times, delayMs })
  if ([lose, twice, delayMs].filter(Boolean).length !== 1) {
    throw invalid('a webhook is lost, comes twice, or comes late: one of them', 'give --lose, --twice or --delay')
  }
  const other = Object.keys(fault).find((name) => !['webhook', 'times', 'lose', 'twice', 'delayMs'].includes(name))
  if (other !== undefined) throw invalid(`\`${other}\` is of faults of requests, not of webhooks`)
  if (!events.some((one) => matches(webhook, one))) {
    throw invalid(`no event is \`${webhook}\``, `give one of ${events.join(', ')}, or \`*\` for any`)
  }
  return fault
}

function checkWholes(wholes: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(wholes)) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw invalid(`expected \`${name}\` to be a whole number above 0, got \`${value}\``)
    }
  }
}

function checkRequestFault(fault: RequestFault, paths: readonly string[]): RequestFault {
  const { path, times, delayMs, status, retryAfter, drop } = fault
  checkWholes({ times, delayMs, retryAfter })
  if (status !== undefined && !(status in FAULT_STATUSES)) {
    throw invalid(`expected the status to be one of ${Object.keys(FAULT_STATUSES).join(', ')}, got \`${status}\``)
  }
  if (status !== undefined && drop)
    throw invalid('a request is refused with a status, or its answer is dropped: not both')
  if (status === undefined && !drop && delayMs === undefined) {
    throw invalid('the fault does nothing', 'give a status, a delay, or let the answer be dropped')
  }
  if (retryAfter !== undefined && status === undefined)
    throw invalid('only a refusal says when to try again', 'give a status')
  if (!paths.some((one) => matches(path, one))) {
    throw invalid(
      `no path of the API or of the authentication proxy is \`${path}\``,
      'give one such as /public/v1/submit/create_users, /public/v1/submit/*, or /v1/otp_init_v2 of the proxy',
    )
  }
  return fault
}

function invalid(message: string, next?: string): ServiceError {
  return new ServiceError('service/operator-invalid', message, next === undefined ? {} : { next })
}
