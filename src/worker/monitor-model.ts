/** What the health and the metrics of a worker are made of. */
import type { Watch, WatchState } from '../../activities/index.ts'
import type { TemporalConnections } from './connect.ts'

/** What does not answer within this time is away; probes give up after a few seconds themselves. */
export const ANSWERS_MS = 2_000

export interface MonitorOptions {
  /** 0 for any free one. */
  readonly port: number
  readonly temporal: Pick<TemporalConnections, 'client' | 'namespace'>
  readonly taskQueue: string
  /** Of the API. */
  readonly baseUrl: string
  readonly organizationId: string
  readonly watches: {
    get(organizationId: string): Promise<Watch | undefined>
    stateOf(organizationId: string): Promise<WatchState | undefined>
  }
}

/** What `/healthz` says; 200 when all of it is good, else 503. */
export interface Health {
  readonly status: 'ok' | 'failing'
  /** `starting`, or what Temporal's SDK calls it: `running`, `draining`, … */
  readonly worker: string
  readonly temporal: 'ok' | 'away'
  readonly api: 'ok' | 'away'
}
