/**
 * The worst that one request of at most 1 MiB can do to everybody else. A search over all activities and queries finds the
 * bodies that keep the service's main thread longest; for the worst of them, how long others wait meanwhile: `/healthz` and
 * the submits of another organization, each with its own service process, beside the same while nothing is sent. The aim is
 * 100 ms at p99. `npm run bench worst -- --seconds 120 --seed 7`.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { type ActivityType, activities, type QueryName, queries } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { begin, type Candidate, createDice, type Dice, mutate, writeParameters } from './worst-search.ts'
import type { Ask, Busy } from './worst-service.ts'
import { type Caller, makeStage, type Stage } from './worst-stage.ts'

const AIM_MS = 100
/** How many of the worst bodies are measured, each of another activity or query. */
const WORST = 8
/** Each is sent so often, no faster than the rates allow: what is refused by them is not worked on. */
const BODIES = 150
const PAUSE_MS = 110
/** For how long is measured what is there without it. */
const IDLE_MS = 4_000
/** Requests after which the service starts again on a fresh copy: what was made must not change what comes after it. */
const FRESH_AFTER = 150

interface Found {
  readonly candidate: Candidate
  readonly busy: Busy
  readonly status: number
  readonly bytes: number
}

/** Prints the worst bodies and what others waited while they were worked on; the process exits with 1 when the aim is missed. */
export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
  })
  const seconds = Number(values.seconds)
  const stage = await makeStage()
  const server = await startServer(stage)
  try {
    const worst = await search(server, stage, createDice(Number(values.seed)), seconds)
    await server.fresh()
    const idle = await waitBeside(server, stage, undefined)
    console.log(
      `held and CPU: ms of the main thread, in CPU time; load ${loadavg()
        .map((load) => load.toFixed(2))
        .join(' ')}; p99 in ms; aim ${AIM_MS}`,
    )
    const line = (...cells: readonly string[]) =>
      console.log(
        `  ${cells[0]!.padEnd(94)}${cells
          .slice(1)
          .map((cell) => cell.padStart(9))
          .join('')}`,
      )
    line('', 'status', 'kB', 'held', 'CPU', '/healthz', 'submits', 'counted')
    line('nothing', '', '', '', '', idle.health.toFixed(0), idle.submit.toFixed(0), String(idle.counted))
    await server.fresh({ isCold: true })
    await server.measure()
    const cold = await waitBeside(server, stage, smallOf(stage))
    const first = await server.measure()
    line(
      'the first of an organization with large policies after a start',
      '',
      '',
      first.held.toFixed(0),
      first.all.toFixed(0),
      cold.health.toFixed(0),
      cold.submit.toFixed(0),
      String(cold.counted),
    )
    let missed = Math.max(cold.health, cold.submit) > AIM_MS
    for (const { candidate, busy, status, bytes } of worst) {
      await server.fresh()
      const { health, submit, counted } = await waitBeside(server, stage, candidate)
      missed ||= Math.max(health, submit) > AIM_MS
      line(
        nameOf(candidate),
        String(status),
        (bytes / 1_000).toFixed(0),
        busy.held.toFixed(0),
        busy.all.toFixed(0),
        health.toFixed(0),
        submit.toFixed(0),
        String(counted),
      )
    }
    console.log(missed ? 'MISSED' : 'met')
    if (missed) process.exitCode = 1
  } finally {
    await server.close()
    stage.remove()
  }
}

/** What is asked, by whom, and the longest of what it is about. */
function nameOf({ asks, caller, parameters }: Candidate): string {
  const what = 'activity' in asks ? asks.activity.replace('ACTIVITY_TYPE_', '') : asks.query
  const [longest = ['', '']] = Object.entries(parameters)
    .map(([name, value]) => [name, JSON.stringify(value)] as const)
    .sort(([, a], [, b]) => b.length - a.length)
  return `${what} by ${caller.name}: ${longest[0]} ${longest[1].slice(0, 40)}`.slice(0, 92)
}

/**
 * A search that climbs: of each activity and query, by each caller, the worst body so far is changed at random, and kept where
 * it is worse. What nobody's body has kept busy is tried as often as what has: half of the time each.
 */
async function search(server: Server, stage: Stage, dice: Dice, seconds: number): Promise<readonly Found[]> {
  const all: readonly Candidate['asks'][] = [
    ...(Object.keys(activities) as ActivityType[]).map((activity) => ({ activity })),
    ...(Object.keys(queries) as QueryName[]).map((query) => ({ query })),
  ]
  const best = new Map<string, Found>()
  const keyOf = ({ asks, caller }: Candidate) => `${JSON.stringify(asks)} ${caller.name}`
  const ends = performance.now() + seconds * 1_000
  let tried = 0
  let sent = 0
  while (performance.now() < ends) {
    const ranked = [...best.values()].sort((a, b) => b.busy.held - a.busy.held)
    const isClimb = ranked.length > 0 && dice.next() < 0.6
    const parent = isClimb
      ? dice.pick(ranked.slice(0, 30)).candidate
      : begin(dice.pick(stage.callers), dice.pick(all), dice)
    const candidate = mutate(isClimb ? parent : (best.get(keyOf(parent))?.candidate ?? parent), dice)
    if (sent++ % FRESH_AFTER === 0) await server.fresh()
    const found = await weigh(server, stage, candidate)
    tried++
    const known = best.get(keyOf(candidate))
    if (!known || found.busy.held > known.busy.held) {
      // Code that runs for the first time, and memory that is collected, only ever add. What has changed something is weighed once.
      const again = await weigh(server, stage, candidate)
      const isSame = again.status === found.status && again.busy.held < found.busy.held
      const weighed = isSame ? again : found
      if (!known || weighed.busy.held > known.busy.held) best.set(keyOf(candidate), weighed)
    }
  }
  console.log(`${tried} bodies of ${all.length} activities and queries by ${stage.callers.length} callers`)
  const worst: Found[] = []
  for (const found of [...best.values()].sort((a, b) => b.busy.held - a.busy.held)) {
    const { asks } = found.candidate
    if (!worst.some(({ candidate }) => JSON.stringify(candidate.asks) === JSON.stringify(asks))) worst.push(found)
  }
  return worst.slice(0, WORST)
}

/** Sends a body, and after it a small request in the same organization: what it has changed may be dear to the next one. */
async function weigh(server: Server, stage: Stage, candidate: Candidate): Promise<Found> {
  const body = write(candidate)
  const sending = await server.stamp(candidate.caller, body)
  const next = await server.stamp(candidate.caller, write(smallOf(stage, candidate.caller)))
  await server.measure()
  const status = await sending()
  await next()
  const busy = await server.measure()
  return { candidate, busy, status, bytes: Buffer.byteLength(body.text) }
}

/** A request that is decided about and changes nothing that matters. */
function smallOf({ callers }: Stage, caller: Caller = callers.at(-1)!): Candidate {
  const parameters = { userId: caller.known['userId']![0]!, userName: 'n' }
  return { caller, asks: { activity: 'ACTIVITY_TYPE_UPDATE_USER_NAME' }, parameters }
}

interface Body {
  readonly path: string
  readonly text: string
}

let bodies = 0
function write(candidate: Candidate): Body {
  const { asks, caller } = candidate
  const parameters = writeParameters(candidate)
  const { organizationId } = caller
  if ('query' in asks) {
    const text = JSON.stringify({ ...(JSON.parse(parameters) as object), organizationId })
    return { path: queries[asks.query].path, text }
  }
  const timestampMs = String(Date.now() + (bodies++ % 100_000))
  const head = JSON.stringify({ type: asks.activity, timestampMs, organizationId })
  return { path: activities[asks.activity].path, text: `${head.slice(0, -1)},"parameters":${parameters}}` }
}

/** How long others wait, at p99 of all who wait while a body is worked on; the same body again and again. */
async function waitBeside(server: Server, { neighbour }: Stage, candidate: Candidate | undefined) {
  const waits = { health: [] as Span[], submit: [] as Span[] }
  let isOver = false
  const time = async (list: Span[], ask: () => Promise<unknown>) => {
    while (!isOver) {
      const begun = performance.now()
      await ask()
      list.push({ begun, ended: performance.now() })
      await new Promise((resolve) => setTimeout(resolve, 3))
    }
  }
  let names = 0
  const submit = async () => {
    const text = JSON.stringify({
      type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
      timestampMs: String(Date.now() + (bodies++ % 100_000)),
      organizationId: neighbour.organizationId,
      parameters: { userId: neighbour.known['userId']![0], userName: `n${names++}` },
    })
    const sending = await server.stamp(neighbour, { path: activities.ACTIVITY_TYPE_UPDATE_USER_NAME.path, text })
    if ((await sending()) !== 200) throw new Error('the neighbour was refused')
  }
  // Made before, since this process is the one that takes the time.
  const sendings: (() => Promise<number>)[] = []
  for (let at = 0; candidate !== undefined && at < BODIES; at++)
    sendings.push(await server.stamp(candidate.caller, write(candidate)))
  const worked: Span[] = []
  const attack = async () => {
    for (const sending of sendings) {
      const begun = performance.now()
      if ((await sending()) !== 429) worked.push({ begun, ended: performance.now() })
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
    if (candidate === undefined) await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    isOver = true
  }
  await Promise.all([time(waits.health, () => server.get('/healthz')), time(waits.submit, submit), attack()])
  const beside = (spans: readonly Span[]) =>
    spans
      .filter((wait) => candidate === undefined || worked.some((span) => overlap(wait, span)))
      .map(({ begun, ended }) => ended - begun)
  const health = beside(waits.health)
  const submits = beside(waits.submit)
  return { health: p99(health), submit: p99(submits), counted: Math.min(health.length, submits.length) }
}

/** By `performance.now()`, in milliseconds. */
interface Span {
  readonly begun: number
  readonly ended: number
}

function overlap(a: Span, b: Span): boolean {
  return a.begun < b.ended && b.begun < a.ended
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * 0.99) - 1)] ?? 0
}

interface Server {
  /** Starts again, on a copy of the stage. @default isCold false: each caller has asked for something */
  fresh(options?: { readonly isCold?: boolean }): Promise<void>
  measure(): Promise<Busy>
  get(path: string): Promise<number>
  /** Stamps a body; what comes back sends it. */
  stamp(caller: Caller, body: Body): Promise<() => Promise<number>>
  close(): Promise<void>
}

async function startServer(stage: Stage): Promise<Server> {
  const child: ChildProcess = fork(new URL('./worst-service.ts', import.meta.url))
  const agent = new Agent({ keepAlive: true })
  const stampers = new Map<string, ReturnType<typeof createApiKeyStamper>>()
  let url = new URL('http://127.0.0.1')
  let folder: string | undefined
  const ask = async (asked: Ask) => {
    child.send(asked)
    return (await once(child, 'message'))[0] as unknown
  }
  const send = (
    method: string,
    path: string,
    headers: Record<string, string | number>,
    body?: Buffer,
  ): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request({ hostname: url.hostname, port: url.port, path, method, agent, headers }, (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const server: Server = {
    async fresh({ isCold = false } = {}) {
      const before = folder
      folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
      cpSync(stage.dataDir, folder, { recursive: true })
      url = new URL((await ask({ serve: folder })) as string)
      if (before !== undefined) rmSync(before, { recursive: true, force: true })
      for (const caller of isCold ? [] : [...stage.callers, stage.neighbour])
        await (await server.stamp(caller, write(smallOf(stage, caller))))()
    },
    measure: async () => (await ask({ measure: true })) as Busy,
    get: (path) => send('GET', path, {}),
    async stamp({ privateKey }, { path, text }) {
      const stamper = stampers.get(privateKey) ?? createApiKeyStamper({ privateKey: new Secret(privateKey) })
      stampers.set(privateKey, stamper)
      const body = Buffer.from(text)
      const { name, value } = await stamper.stamp(body)
      return () => send('POST', path, { [name]: value, 'content-length': body.length }, body)
    },
    async close() {
      agent.destroy()
      child.send({ end: true } satisfies Ask)
      await once(child, 'exit')
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
  return server
}
