/** The metrics of a worker, in Prometheus' form (docs/reconciler.md). */
import type { Worker } from '@temporalio/worker'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { OnApply, WatchState } from '../../activities/index.ts'
import type { ClientCode } from '../client/index.ts'
import { ANSWERS_MS, type Health, type MonitorOptions } from './monitor-model.ts'
import type { OnStep } from './step-count.ts'

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300]
/** Applies wait for people: up to three days. */
const APPLY_SECONDS = [1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 259_200]
const APPLY_ENDS: readonly string[] = ['done', 'failed', 'rejected', 'cancelled']
const QUEUES = { workflow: 1, activity: 2 } as const

type Running = Pick<Worker, 'getState' | 'getStatus'> | undefined

/** What is read each time that somebody asks for metrics, and what is counted until then. */
export function createWorkerMetrics(
  options: MonitorOptions,
  { health, worker }: { readonly health: () => Promise<Health>; readonly worker: () => Running },
) {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `quorate_${name}`, help, labelNames, registers })
  const stepsOver = new Counter({
    name: 'quorate_worker_steps_total',
    help: 'Steps that are over, by name and outcome',
    labelNames: ['step', 'outcome'],
    registers,
  })
  const stepSeconds = new Histogram({
    name: 'quorate_worker_step_seconds',
    help: 'How long steps took, by name',
    labelNames: ['step'],
    buckets: SECONDS,
    registers,
  })
  const applySeconds = new Histogram({
    name: 'quorate_worker_apply_seconds',
    help: 'How long applies took that are over, with all waits for approval, by outcome',
    labelNames: ['outcome'],
    buckets: APPLY_SECONDS,
    registers,
  })
  const refusals = new Counter({
    name: 'quorate_worker_api_refusals_total',
    help: 'Answers of the API that are refusals, by error code',
    labelNames: ['code'],
    registers,
  })
  // A limit that was not met yet is seen as 0, so that the first refusal is a rise.
  refusals.inc({ code: 'client/rate-limited' satisfies ClientCode }, 0)
  const up = gauge('worker_up', 'Whether the worker, Temporal and the API are there (1) or not (0)', 'part')
  const inFlight = gauge('worker_in_flight', 'What this worker has under way', 'kind')
  const backlog = gauge('worker_queue_tasks', 'Tasks that no worker has taken yet, by kind of queue', 'kind')
  const watchGauges = createWatchGauges(gauge)

  const read = async () => {
    const found = await health()
    up.set({ part: 'worker' }, Number(found.worker === 'running'))
    up.set({ part: 'temporal' }, Number(found.temporal === 'ok'))
    up.set({ part: 'api' }, Number(found.api === 'ok'))
    const status = worker()?.getStatus()
    inFlight.set({ kind: 'steps' }, status?.numInFlightActivities ?? 0)
    inFlight.set({ kind: 'workflow-tasks' }, status?.numInFlightWorkflowActivations ?? 0)
    backlog.reset()
    if (found.temporal === 'ok') {
      for (const [kind, type] of Object.entries(QUEUES)) {
        const waiting = await backlogOf(options, type).catch(() => undefined)
        if (waiting !== undefined) backlog.set({ kind }, waiting)
      }
    }
    await watchGauges(options)
  }
  return {
    onStep: (({ name, outcome, ms }) => {
      stepsOver.inc({ step: name, outcome })
      stepSeconds.observe({ step: name }, ms / 1e3)
    }) satisfies OnStep,
    onApply: (({ outcome, ms }) => {
      if (APPLY_ENDS.includes(outcome) && ms >= 0) applySeconds.observe({ outcome }, ms / 1e3)
    }) satisfies OnApply,
    onRefusal(code: ClientCode) {
      refusals.inc({ code })
    },
    async text() {
      await read()
      return { type: registry.contentType, text: await registry.metrics() }
    },
  }
}

type MakeGauge = (
  name: string,
  help: string,
  ...labels: string[]
) => { set(labels: Readonly<Record<string, string>>, value: number): void; reset(): void }

/** How the watched organization stands, by what its last look has kept: any worker of it tells the same. */
function createWatchGauges(gauge: MakeGauge): (of: MonitorOptions) => Promise<void> {
  const of = (name: string, help: string) => gauge(`watch_${name}`, help, 'organization_id')
  const seconds = (at: string | undefined) => (at ? Date.parse(at) / 1e3 : undefined)
  const rows: readonly (readonly [ReturnType<MakeGauge>, (state: WatchState) => number | undefined])[] = [
    [of('looked_at_seconds', 'When it was looked at last, since the epoch'), ({ lookedAt }) => seconds(lookedAt)],
    [of('good_at_seconds', 'When all was last as defined, since the epoch'), ({ goodAt }) => seconds(goodAt)],
    [of('swept_at_seconds', 'When all of it was last read, since the epoch'), ({ sweptAt }) => seconds(sweptAt)],
    [of('drift', 'Things that are not as defined'), ({ drift }) => drift.length],
    [of('waiting', 'Activities that wait for approval'), ({ waiting }) => waiting.length],
    [
      of('waiting_since_seconds', 'Since when the oldest of them waits, since the epoch'),
      ({ waiting }) => seconds(waiting.map(({ since }) => since).sort()[0]),
    ],
    [
      of('held', 'Whether its repair, or new definitions, are held until a person looks (1)'),
      ({ held, refused }) => Number(held !== undefined || refused !== undefined),
    ],
    [of('source_away', 'Whether new definitions cannot be fetched (1)'), ({ away }) => Number(away !== undefined)],
    [of('failing', 'Whether the last look failed (1)'), ({ error }) => Number(error !== undefined)],
  ]
  return async ({ watches, organizationId }) => {
    for (const [one] of rows) one.reset()
    const state = (await watches.get(organizationId)) && (await watches.stateOf(organizationId))
    if (!state) return
    for (const [one, read] of rows) {
      const value = read(state)
      if (value !== undefined) one.set({ organization_id: organizationId }, value)
    }
  }
}

async function backlogOf({ temporal, taskQueue }: MonitorOptions, taskQueueType: 1 | 2): Promise<number | undefined> {
  const { client, namespace } = temporal
  const { stats } = await client.withDeadline(Date.now() + ANSWERS_MS, () =>
    client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType,
      reportStats: true,
    }),
  )
  const count = stats?.approximateBacklogCount
  return count === undefined || count === null ? undefined : Number(count)
}
