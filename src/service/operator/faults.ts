import { type ApiError, apiError } from '../../protocol/index.ts'

/** Answers that a fault may give instead of the service's own. */
export const FAULT_STATUSES = {
  429: () => apiError('rateLimited'),
  500: () => apiError('internal', 'asked for by the operator'),
  503: () => apiError('unavailable'),
} as const satisfies Record<number, () => ApiError>
export type FaultStatus = keyof typeof FAULT_STATUSES

/** A fault, before it has an id. */
export type NewFault = RequestFault | WebhookFault

/** A fault for the webhooks that match it: they are lost, come twice, or come late. A retry meets none. */
export interface WebhookFault {
  /** Of the event types it meets; `*` stands for any characters. */
  readonly webhook: string
  /** How many webhooks it meets. @default every one until it is cleared */
  readonly times?: number
  /** Counts as delivered, and is not. */
  readonly lose?: boolean
  /** Is delivered two times, by the same event id. */
  readonly twice?: boolean
  /** How long it waits before its first attempt, by the service's clock; what comes after it does not wait. */
  readonly delayMs?: number
}

/** A fault for the requests that match it: they wait, are refused, or are carried out and never answered. */
export interface RequestFault {
  /** Of the requests it meets; `*` stands for any characters. */
  readonly path: string
  /** How many requests it meets. @default every one until it is cleared */
  readonly times?: number
  /** How long a request waits before anything else is done with it: votes that come late make a slow quorum. */
  readonly delayMs?: number
  /** Refuses the request with this status; it changes nothing. */
  readonly status?: FaultStatus
  /** Whole seconds, for the `Retry-After` of the refusal. */
  readonly retryAfter?: number
  /** Carries the request out and closes the connection instead of answering. */
  readonly drop?: boolean
}

/** A fault in force. `times` counts down. */
export type InjectedFault = NewFault & { readonly id: number }

/** The list of faults in force, in the order in which they were asked for. */
export interface Faults {
  list(): readonly InjectedFault[]
  add(fault: NewFault): InjectedFault
  /** Ends one, or all of them. False when there is none of this id. */
  clear(id?: number): boolean
  /** The first that meets a request to this path, which counts as one of its times. */
  take(path: string): (RequestFault & { readonly id: number }) | undefined
  /** The first that meets a webhook of this type, likewise. */
  takeForWebhook(eventType: string): (WebhookFault & { readonly id: number }) | undefined
}

/** Creates the list; `changed` is told after every change. */
export function createFaults(initial: readonly InjectedFault[], changed: () => void): Faults {
  let faults = initial
  const put = (next: readonly InjectedFault[]) => {
    faults = next
    changed()
  }
  return {
    list: () => faults,
    add(fault) {
      const added = { id: 1 + Math.max(0, ...faults.map(({ id }) => id)), ...fault }
      put([...faults, added])
      return added
    },
    clear(id) {
      const left = id === undefined ? [] : faults.filter((fault) => fault.id !== id)
      const found = id === undefined || left.length < faults.length
      put(left)
      return found
    },
    take: (path) => count(faults.find((fault) => 'path' in fault && matches(fault.path, path))),
    takeForWebhook: (eventType) =>
      count(faults.find((fault) => 'webhook' in fault && matches(fault.webhook, eventType))),
  }

  /** The list has it, so that it is of the sort that was looked for. */
  function count<Taken extends InjectedFault>(taken: InjectedFault | undefined): Taken | undefined {
    if (taken?.times === undefined) return taken as Taken | undefined
    const rest = taken.times > 1 ? [{ ...taken, times: taken.times - 1 }] : []
    put(faults.flatMap((fault) => (fault === taken ? rest : [fault])))
    return taken as Taken
  }
}

/** Whether a pattern stands for a path. */
export function matches(pattern: string, path: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return pattern === path
  const last = rest.pop()!
  if (!path.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return path.length - last.length >= at && path.endsWith(last)
}
