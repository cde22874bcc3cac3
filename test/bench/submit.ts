/**
 * Submits a second: one organization with 100 policies, an ordinary user whom the last of them allows, each request
 * stamped, judged, executed and on disk before it is answered. Beside it two floors, in the same process and with the same
 * requests: Fastify and an asynchronous signature check alone, and these with one row a request, made durable by the service's
 * own store in rounds as the service's are. No service that keeps what it was told can do with less than the second. The load
 * comes from a process of its own, on the same cores. The aim is 0.55 of the second floor. Where PostgreSQL is installed, the
 * service and the second floor run on it too, its disk waited for as in earnest.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { createPublicKey, hash, verify } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fastify } from 'fastify'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { createService, type Service } from '../../src/service/index.ts'
import { openDatabase, openPostgres } from '../../src/service/store/index.ts'
import { prepare } from '../../src/service/store/prepared.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { findPostgres, startPostgres } from '../postgres.ts'

const AIM = 0.55
const POLICIES = 100
/** Before what is counted: a service runs for days, and the first twenty thousand requests pay for compiling it. */
const WARM_UP = 33
const ROUNDS = 31
/** Requests in a round of one contender: few, so that what else the machine does slows all of a round alike. */
const REQUESTS = 600
const CONNECTIONS = 32

/** What the loading process is told, and what it answers: milliseconds. */
export interface Load {
  readonly url: string
  readonly path: string
  readonly connections: number
  /** Of every request, besides its stamp. */
  readonly headers?: Readonly<Record<string, string>>
  /** Bodies with their stamps; an empty stamp is none. */
  readonly requests: readonly (readonly [body: string, stamp: string])[]
}

/** Runs them all in turns and prints their medians. */
export async function run(): Promise<void> {
  const loader = fork(new URL('./submit-load.ts', import.meta.url))
  const closers: (() => unknown)[] = [() => loader.kill()]
  try {
    const stages = [await openStage('SQLite')]
    closers.push(() => stages[0]!.close())
    if (findPostgres() !== undefined) {
      const postgres = await startPostgres({ isDurable: true })
      closers.push(() => postgres.close())
      stages.push(await openStage('PostgreSQL', await postgres.create(), await postgres.create()))
      closers.push(() => stages[1]!.close())
    }
    const verifying = await startFloor()
    closers.push(() => verifying.close())
    const answers = new Map<string, Rate[]>()
    for (let round = 1 - WARM_UP; round <= ROUNDS; round++) {
      for (const stage of stages) {
        const requests = await stage.requestsOf(round)
        for (const { name, url } of [
          ...(stage === stages[0] ? [{ name: ALONE, url: verifying.url }] : []),
          ...stage.served,
        ]) {
          const rate = await measure(loader, { url, path: PATH, connections: CONNECTIONS, requests })
          if (round > 0) answers.set(name, [...(answers.get(name) ?? []), rate])
        }
      }
    }
    console.log(
      `${POLICIES} policies, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds in turns; aim ${AIM} of one durable row, by CPU`,
    )
    for (const [title, of] of [
      ['requests a second, load generator on the same cores', ({ perSecond }: Rate) => perSecond],
      [
        'requests a second of CPU time of the serving process, without that of PostgreSQL',
        ({ perCpuSecond }: Rate) => perCpuSecond,
      ],
    ] as const)
      for (const stage of stages) print(`${title}, ${stage.store}`, { answers, stage, of })
    for (const { served } of stages) printTimes(served[1].name, answers.get(served[1].name)!)
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

const ALONE = 'Fastify and asynchronous verify alone'

// What is executed is a small write: the name that the user has.
const TYPE = 'ACTIVITY_TYPE_UPDATE_USER_NAME'
export const PATH = activities[TYPE].path

interface Served {
  readonly name: string
  readonly url: string
}

/** A service on one store, and the floor that keeps a row there. */
interface Stage {
  readonly store: string
  readonly served: readonly [floor: Served, service: Served]
  /** The bodies and stamps of a round. */
  requestsOf(round: number): Promise<[string, string][]>
  close(): Promise<void>
}

async function openStage(store: string, url?: Secret, floorUrl?: Secret): Promise<Stage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
  const service = await createService({ dataDir, ...(url && { database: { url } }) })
  const rows = await openRows(dataDir, floorUrl)
  const floor = await startFloor(rows.keep)
  const { requestsOf } = await prepareOrganization(service)
  return {
    store,
    served: [
      { name: `the same and one durable row, ${store}`, url: floor.url },
      { name: `stamp, 100 policies, durable commit, ${store}`, url: service.url },
    ],
    requestsOf: (round) => requestsOf(round),
    async close() {
      await floor.close()
      await rows.close()
      await service.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Gives the organization of a service an ordinary user and 100 policies, one of which allows what the user then asks for. */
export async function prepareOrganization({ url, bootstrap }: Pick<Service, 'url' | 'bootstrap'>) {
  const { organizationId, apiPrivateKey } = bootstrap
  const root = createApiKeyStamper({ privateKey: apiPrivateKey! })
  const key = generateP256KeyPair()
  const user = createApiKeyStamper({ privateKey: new Secret(key.privateKey) })
  let bodies = 0
  const bodyOf = (type: ActivityType, parameters: object) =>
    JSON.stringify({ type, timestampMs: String(Date.now() + (bodies++ % 100_000)), organizationId, parameters })
  /** As the root user, and gives the result. */
  const send = async (type: ActivityType, parameters: object) => {
    const body = bodyOf(type, parameters)
    const { name, value } = await root.stamp(encodeUtf8(body))
    const response = await fetch(`${url}${activities[type].path}`, { method: 'POST', body, headers: { [name]: value } })
    const { activity } = (await response.json()) as { activity: { result: Record<string, never> } }
    return activity.result
  }
  const { createUsersResult } = (await send('ACTIVITY_TYPE_CREATE_USERS_V3', {
    users: [
      { userName: 'ann', apiKeys: [{ apiKeyName: 'k', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }] },
    ],
  })) as unknown as { createUsersResult: { userIds: string[] } }
  const userId = createUsersResult.userIds[0]!
  await send('ACTIVITY_TYPE_CREATE_POLICIES', { policies: policiesFor(userId) })
  return {
    send,
    async requestsOf(round: number, count = REQUESTS): Promise<[string, string][]> {
      const requests: [string, string][] = []
      for (let i = 0; i < count; i++) {
        const body = bodyOf(TYPE, { userId, userName: `ann ${round} ${i}` })
        requests.push([body, (await user.stamp(encodeUtf8(body))).value])
      }
      return requests
    },
  }
}

/** Rows in the service's own store: the bytes of a request under their digest, as little as a service can keep of it. */
async function openRows(dataDir: string, url?: Secret) {
  const now = Date.now()
  const database = url ? await openPostgres({ url }, { now }) : openDatabase(join(dataDir, 'floor.db'), { now })
  const insert = prepare((tx, row: { name: string; value: string }) => tx.insertInto('settings').values(row))
  const keep = (body: Buffer) =>
    database.write(async (tx) => insert(tx, { name: hash('sha256', body), value: body.toString() }))
  return { keep, close: () => database.close() }
}

/**
 * A floor: the raw body, the stamp's signature checked off the main thread with a parsed key, a row if there is something that
 * keeps it, and a small answer.
 */
async function startFloor(
  keep?: (body: Buffer) => Promise<unknown>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = fastify()
  const check = promisify(verify)
  const keys = new Map<string, ReturnType<typeof createPublicKey>>()
  const keyOf = (hex: string) => {
    let known = keys.get(hex)
    if (!known) {
      // RFC 5480: an uncompressed-or-compressed point of prime256v1 in a SubjectPublicKeyInfo.
      const der = Buffer.from(`3039301306072a8648ce3d020106082a8648ce3d030107032200${hex}`, 'hex')
      known = createPublicKey({ format: 'der', type: 'spki', key: der })
      keys.set(hex, known)
    }
    return known
  }
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  server.post('/*', async (request, reply) => {
    const stamp = JSON.parse(Buffer.from(String(request.headers['x-stamp']), 'base64url').toString())
    const ok = await check(
      'sha256',
      request.body as Buffer,
      keyOf(stamp.publicKey),
      Buffer.from(stamp.signature, 'hex'),
    )
    if (ok) await keep?.(request.body as Buffer)
    return reply.code(ok ? 200 : 401).send({ ok })
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, close: async () => void (await server.close()) }
}

/** As an organization has them: by user, tag, kind and parameter, one of which allows what the bench does. */
function policiesFor(userId: string): object[] {
  const others = Array.from({ length: POLICIES - 1 }, (_, i) => ({
    policyName: `policy ${i}`,
    effect: i % 10 === 0 ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.tags.contains('00000000-0000-4000-8000-${String(i).padStart(12, '0')}'))`,
    condition: `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '00000000-0000-4000-8000-${String(i).padStart(12, '1')}'`,
    notes: '',
  }))
  const allowed = {
    policyName: 'names',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${userId}')`,
    condition: "activity.kind == 'UPDATE_USER_NAME'",
    notes: '',
  }
  return [...others, allowed]
}

/** How fast one round went, by the clock and by this process's CPU time, which others on the machine do not change. */
export interface Rate {
  readonly perSecond: number
  readonly perCpuSecond: number
  /** Of each request, in ms. */
  readonly times: readonly number[]
}

/** What the loading process answers. */
interface Loaded {
  readonly ms: number
  readonly refused: number
  readonly times: number[]
}

/** Has the loading process send its requests; throws where one is refused. */
export async function runLoad(loader: ChildProcess, load: Load): Promise<Loaded> {
  loader.send(load)
  const [answer] = (await once(loader, 'message')) as [Loaded]
  if (answer.refused > 0) throw new Error(`${answer.refused} of ${load.requests.length} were refused`)
  return answer
}

export async function measure(loader: ChildProcess, load: Load): Promise<Rate> {
  const before = process.cpuUsage()
  const answer = await runLoad(loader, load)
  const { user, system } = process.cpuUsage(before)
  const { length } = load.requests
  return {
    perSecond: length / (answer.ms / 1000),
    perCpuSecond: length / ((user + system) / 1e6),
    times: answer.times,
  }
}

function print(
  title: string,
  { answers, stage, of }: { answers: ReadonlyMap<string, Rate[]>; stage: Stage; of: (rate: Rate) => number },
) {
  const [floor, service] = stage.served
  const rateOf = (name: string) => median(answers.get(name)!.map(of))
  const line = (name: string) => {
    const rate = rateOf(name)
    const ratios = [rate / rateOf(floor.name), rate / rateOf(ALONE)]
      .map((ratio) => ratio.toFixed(3).padStart(7))
      .join('')
    console.log(`  ${name.padEnd(52)}${Math.round(rate).toLocaleString('en-US').padStart(8)}/s${ratios}`)
  }
  console.log(`\n${title}; of the floor with a row, of that without`)
  for (const name of [ALONE, floor.name, service.name]) line(name)
  // Each round by itself: what slows the machine slows all of them.
  const each = answers
    .get(service.name)!
    .map((rate, round) => of(rate) / of(answers.get(floor.name)![round]!))
    .sort((a, b) => a - b)
  const quartiles = [1, 2, 3].map((quarter) => each[Math.floor((each.length * quarter) / 4)]!.toFixed(3))
  console.log(`  by round, of the floor with a row, in quartiles: ${quartiles.join(' ')}`)
}

/** How long an answer takes, with all connections busy. */
export function printTimes(name: string, rates: readonly Rate[]) {
  const times = rates.flatMap(({ times }) => times).sort((a, b) => a - b)
  const at = (share: number) => `${times[Math.floor(times.length * share)]!.toFixed(1)} ms`
  console.log(`\n${name}: p50 ${at(0.5)}, p99 ${at(0.99)}`)
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
