/**
 * What a worker tells whoever watches it: `/healthz` for a probe and `/metrics` for Prometheus, to this machine alone. Premise: a
 * reader of metrics need not be trusted. Labels are the organization's id and names from this code; no name that a tenant has
 * given, no key, no text of an error.
 */
import type { Worker } from '@temporalio/worker'
import type { OnApply } from '../../activities/index.ts'
import type { ClientCode } from '../client/index.ts'
import { listenOnLoopback, readable } from '../loopback/index.ts'
import { ANSWERS_MS, type Health, type MonitorOptions } from './monitor-model.ts'
import type { OnStep } from './step-count.ts'

export interface Monitor {
  readonly healthUrl: string
  readonly metricsUrl: string
  readonly onStep: OnStep
  readonly onApply: OnApply
  /** Told the code of each answer of the API that is a refusal. */
  readonly onRefusal: (code: ClientCode) => void
  /** From now on this worker's state is told; before, that it starts. */
  observe(worker: Pick<Worker, 'getState' | 'getStatus'>): void
  close(): Promise<void>
}

/** Nobody who probes often costs the API more than one request in this time. */
const KEPT_MS = 5_000

/** Opens both on a port of 127.0.0.1. The library for metrics is loaded only here. */
export async function openMonitor(options: MonitorOptions): Promise<Monitor> {
  const { temporal, port } = options
  let worker: Pick<Worker, 'getState' | 'getStatus'> | undefined
  const api = kept(() => answers(options.baseUrl))
  const server = kept(() => temporalAnswers(temporal))
  const health = async (): Promise<Health> => {
    const [isThere, isServed] = await Promise.all([server(), api()])
    const state = worker?.getState().toLowerCase() ?? 'starting'
    const isOk = state === 'running' && isThere && isServed
    const word = (good: boolean) => (good ? 'ok' : 'away')
    return { status: isOk ? 'ok' : 'failing', worker: state, temporal: word(isThere), api: word(isServed) }
  }
  const { createWorkerMetrics } = await import('./worker-metrics.ts')
  const metrics = createWorkerMetrics(options, { health, worker: () => worker })
  const pages = readable({
    '/healthz': async () => {
      const found = await health()
      const status = found.status === 'ok' ? 200 : 503
      return { status, type: 'application/json', text: `${JSON.stringify(found)}\n` }
    },
    '/metrics': async () => ({ status: 200, ...(await metrics.text()) }),
  })
  const listener = await listenOnLoopback(pages, { port })
  return {
    healthUrl: `${listener.url}/healthz`,
    metricsUrl: `${listener.url}/metrics`,
    onStep: metrics.onStep,
    onApply: metrics.onApply,
    onRefusal: metrics.onRefusal,
    observe(running) {
      worker = running
    },
    close: listener.close,
  }
}

/** Whatever answers is there; what stands before it and answers 502 to 504 says that it is not. */
async function answers(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWERS_MS)
    const { status } = await fetch(url, { method: 'HEAD', redirect: 'manual', signal })
    return status < 500
  } catch {
    return false
  }
}

async function temporalAnswers({ client }: MonitorOptions['temporal']): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + ANSWERS_MS, () => client.workflowService.getSystemInfo({}))
    return true
  } catch {
    return false
  }
}

/** Asks at most once in a while, and once for all who ask meanwhile. */
function kept(ask: () => Promise<boolean>): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined
  let at = 0
  return () => {
    if (answer === undefined || performance.now() - at > KEPT_MS) {
      at = performance.now()
      answer = ask()
    }
    return answer
  }
}
