/**
 * Everything fails at once: Toxiproxy stands between worker, service and Temporal, and each of them, and PostgreSQL, is killed at
 * random moments of an apply of 50 changes that stops twice for people, of rotations of one key, one after the other, and of
 * incidents whose command is killed. Nobody helps but the approver. What must hold: everything ends as it was to end, each
 * intent is one activity, and the user of the rotated key is never without a credential. The naive variant must make twins.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ApplyProgress, createPlanStore, type RotationProgress } from '../../activities/index.ts'
import { createSubmitClient, type SubmitClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { canonicalJson } from '../../src/encoding/index.ts'
import { orderRotation } from '../../src/operations/index.ts'
import { castVote } from '../../src/operations/waiting.ts'
import { makeBody } from '../../src/plan/index.ts'
import { type ActivityType, activities as catalogue, isWaiting, type Wire } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { connectTemporal, findTemporal, startTemporalServer } from '../../src/worker/index.ts'
import type { apply, rotate } from '../../workflows/index.ts'
import { startPostgres } from '../postgres.ts'
import { commandFile } from '../programs.ts'
import { readClient, startProcess } from '../service/process.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { makePlanOf } from '../workflows/made-plan.ts'
import { kill } from './field.ts'
import { startWorkerProcess } from './start-worker.ts'
import { makeStops } from './storm-plan.ts'
import { CUTS, LOSES_ANSWERS, startToxiproxy } from './toxiproxy.ts'
import type { WorkerProcessSettings } from './worker-process.ts'

export interface Storm {
  readonly rounds: number
  /** Rounds that struck while the apply had changes to make. */
  readonly pending: number
  readonly kills: number
  readonly cuts: number
  readonly state: string
  /** Changes that were to be made and are not there. */
  readonly lost: number
  /** Intents of the apply, and keys made or deleted by a rotation or an incident, that are more than one activity. */
  readonly dup: number
  readonly rotations: number
  /** The fewest credentials that the user of the rotated key was seen with. */
  readonly fewestKeys: number
  readonly incidents: number
  /** Leaked keys that the service still takes. */
  readonly stillTaken: number
}

export async function weather({
  rounds,
  store = 'SQLite',
  naive = false,
}: {
  readonly rounds: number
  readonly store?: 'SQLite' | 'PostgreSQL'
  /** Lets workers make their bodies themselves, which must show. */
  readonly naive?: boolean
}): Promise<Storm> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-storm-'))
  const dataDir = join(folder, 'service')
  const bundleFile = join(folder, 'bundle.js')
  writeFileSync(bundleFile, (await testBundle()).code)
  const postgres = store === 'PostgreSQL' ? await startPostgres() : undefined
  const database = postgres ? { databaseUrl: (await postgres.create()).reveal() } : {}
  const proxy = await startToxiproxy()
  const announce = () => {}
  const binary = await findTemporal({ announce })
  const temporalFolder = join(folder, 'temporal')
  let server = await startTemporalServer({ binary, folder: temporalFolder, announce })
  const port = Number(server.address.split(':')[1])
  let service = await startProcess(dataDir, database)
  const toService = await proxy.link('service', new URL(service.url).host)
  const toTemporal = await proxy.link('temporal', server.address)

  const { organizationId, rootUserId } = readClient(dataDir)
  const { apiPrivateKey } = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')) as Record<string, string>
  const direct = (privateKey: string): SubmitClient =>
    createSubmitClient({
      baseUrl: service.url,
      organizationId,
      stamper: createApiKeyStamper({ privateKey: new Secret(privateKey) }),
    })
  /** Asks until somebody answers. */
  const insist = async <T>(ask: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        const { code = '' } = error as { readonly code?: string }
        if (!/unreachable|outcome|unavailable|timed-out|ECONN/.test(String(code))) throw error
        await delay(50)
      }
    }
  }
  const submit = async (type: ActivityType, parameters: object): Promise<Wire.Activity> => {
    const body = makeBody({ type, organizationId, parameters: parameters as never, timestampMs: String(Date.now()) })
    return insist(() => direct(apiPrivateKey!).submit(catalogue[type].path, body))
  }
  const addUser = async (userName: string, keys = 1) => {
    const pairs = Array.from({ length: keys }, () => generateP256KeyPair())
    const apiKeys = pairs.map(({ publicKey }, n) => {
      return { apiKeyName: `${userName}-${n}`, publicKey, curveType: 'API_KEY_CURVE_P256' }
    })
    const users = [{ userName, apiKeys, authenticators: [], oauthProviders: [], userTags: [] }]
    const { result } = await submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users })
    const { userIds } = (result as { createUsersResult: { userIds: string[] } }).createUsersResult
    return { userId: userIds[0]!, pairs }
  }
  const bob = await addUser('bob')
  const ci = await addUser('ci')
  const userIds = [rootUserId, bob.userId]
  await submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds })
  const victims = await Promise.all(
    Array.from({ length: Math.max(1, Math.round(rounds / 10)) }, (_, n) => addUser(`victim${n}`, 2)),
  )

  const settings: WorkerProcessSettings = {
    temporal: { address: toTemporal.address, tls: server.tls },
    taskQueue: `storm-${randomUUID()}`,
    baseUrl: `http://${toService.address}`,
    organizationId,
    privateKey: apiPrivateKey!,
    storeFolder: folder,
    bundleFile,
    naive,
    rotates: true,
  }
  let over = false
  let worker: ChildProcess | undefined
  const keepWorker = () => {
    worker = startWorkerProcess(settings)
    worker.once('exit', () => setTimeout(() => over || keepWorker(), 200))
  }
  keepWorker()

  const plans = createPlanStore(join(folder, 'plans'))
  const { publicKey } = direct(apiPrivateKey!)
  const batches = makeStops(userIds)
  const plan = makePlanOf({ organizationId, baseUrl: settings.baseUrl, userId: rootUserId, publicKey }, batches)
  await plans.putPlan(plan)
  const temporal = await connectTemporal({ address: server.address, tls: server.tls }, testSeal)
  const handles: { terminate(): Promise<unknown> }[] = []
  const begin = async <Flow extends typeof apply | typeof rotate>(
    type: string,
    id: string,
    input: Parameters<Flow>[0],
  ) => {
    for (;;) {
      try {
        const options = { workflowId: id, taskQueue: settings.taskQueue } as const
        const handle = await temporal.client.workflow.start<Flow>(type, { ...options, args: [input] as never })
        handles.push(handle)
        return handle
      } catch (error) {
        if ((error as Error).name === 'WorkflowExecutionAlreadyStartedError')
          return temporal.client.workflow.getHandle<Flow>(id)
        if (over) throw error
        await delay(100)
      }
    }
  }
  const resultOf = async <T>(handle: { result(): Promise<unknown> }): Promise<T> => {
    for (;;) {
      if (over) throw new Error('the storm was given up')
      try {
        return (await handle.result()) as T
      } catch (error) {
        if ((error as Error).name === 'WorkflowFailedError') throw error
        await delay(200)
      }
    }
  }
  const run = await plans.runs.open(plan.digest)
  const applying = await begin<typeof apply>('apply', `apply/${organizationId}`, {
    organizationId,
    planDigest: plan.digest,
    run,
  })
  let applied: ApplyProgress | undefined
  const ended = resultOf<ApplyProgress>(applying).then((result) => {
    applied = result
  })

  /** Approves whatever waits. */
  const voting = (async () => {
    const client = direct(bob.pairs[0]!.privateKey)
    while (!over) {
      const { activities } = await client
        .query('list_activities', {
          filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
          filterByType: [],
          paginationOptions: { limit: '20' },
        })
        .catch(() => ({ activities: [] as Wire.Activity[] }))
      for (const { fingerprint, status, votes } of activities) {
        if (!isWaiting(status) || votes.some(({ userId }) => userId === bob.userId)) continue
        await castVote(client, fingerprint, { vote: 'approve', now: Date.now() }).catch(() => {})
      }
      await delay(250)
    }
  })()

  let fewestKeys = Number.POSITIVE_INFINITY
  const counting = (async () => {
    while (!over) {
      const answer = await direct(apiPrivateKey!)
        .query('get_api_keys', { userId: ci.userId })
        .catch(() => undefined)
      if (answer) fewestKeys = Math.min(fewestKeys, answer.apiKeys.length)
      await delay(100)
    }
  })()

  const keyPath = join(folder, 'ci.key')
  writeFileSync(keyPath, JSON.stringify({ privateKey: ci.pairs[0]!.privateKey }), { mode: 0o600 })
  let rotations = 0
  const rotating = (async () => {
    while (!applied && !over) {
      const request = {
        user: ci.userId,
        key: await currentKey(),
        overlapMs: 0,
        sink: { kind: 'file', path: keyPath } as const,
      }
      const at = { now: Date.now(), organizationName: 'acme' }
      const order = await insist(() => orderRotation(direct(apiPrivateKey!), request, at))
      await plans.rotations.enter(order)
      const { rotationId } = order
      const id = `rotate/${organizationId}/${ci.userId}/${rotations}`
      const handle = await begin<typeof rotate>('rotate', id, { organizationId, rotationId })
      const { state, error } = await resultOf<RotationProgress>(handle)
      if (state !== 'done') throw new Error(`a rotation ended as ${state}: ${error?.message}`)
      rotations++
    }
  })()
  async function currentKey(): Promise<string> {
    const { apiKeys } = await insist(() => direct(apiPrivateKey!).query('get_api_keys', { userId: ci.userId }))
    return apiKeys[0]!.credential.publicKey
  }

  const environment = {
    ...process.env,
    QUORATE_BASE_URL: settings.baseUrl,
    QUORATE_ORGANIZATION_ID: organizationId,
    QUORATE_API_KEY_FILE: join(folder, 'root.key'),
    QUORATE_DATA_DIR: join(folder, 'desk'),
  }
  writeFileSync(environment.QUORATE_API_KEY_FILE, apiPrivateKey!, { mode: 0o600 })
  /** The command is killed once, and then given again until it has done all. */
  const containing = (async () => {
    for (const { pairs } of victims) {
      for (let tries = 0; !over; tries++) {
        const args = [commandFile(), 'incident', 'key', pairs[0]!.publicKey, '--contain', '--yes', '--json']
        const command = spawn(process.execPath, args, { env: environment, stdio: 'ignore' })
        const exited = once(command, 'exit') as Promise<[number | null]>
        if (tries === 0) setTimeout(() => command.kill('SIGKILL'), 600 + Math.random() * 900)
        const [status] = await exited
        if (status === 0) break
        await delay(300)
      }
    }
  })()

  const kills: readonly (() => Promise<void>)[] = [
    async () => {
      await kill(worker!)
    },
    async () => {
      await service.end('SIGKILL')
      service = await startProcess(dataDir, { ...database, port: Number(new URL(service.url).port) })
    },
    async () => {
      process.kill(server.pid, 'SIGKILL')
      await server.stop()
      server = await startTemporalServer({ binary, folder: temporalFolder, port, announce })
    },
    ...(postgres ? [async () => postgres.crash(100)] : []),
  ]
  const counts = async () => {
    const found = new Map<string, number>()
    for (const activity of await insist(() => allActivities(direct(apiPrivateKey!)))) {
      const intent = `${activity.type} ${canonicalJson(activity.intent as never)}`
      found.set(intent, (found.get(intent) ?? 0) + 1)
    }
    return found
  }
  const wanted = new Set(batches.map(({ type }) => type).filter((type) => type !== 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM'))
  const isOurs = (intent: string) =>
    [...wanted, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', 'ACTIVITY_TYPE_DELETE_API_KEYS'].some((type) =>
      intent.startsWith(`${type} `),
    )
  const twins = (found: ReadonlyMap<string, number>) =>
    [...found].filter(([intent, count]) => count > 1 && isOurs(intent)).length
  // Where the storm is given up nobody waits for them.
  for (const one of [ended, rotating, containing]) one.catch(() => {})
  const figures = { rounds: 0, pending: 0, kills: 0, cuts: 0 }
  try {
    let seen = 0
    while (figures.rounds < rounds && !applied) {
      // Something has come about since the last fault.
      for (let found = seen; found < seen + 2 && !applied; await delay(20)) found = (await counts()).size
      seen = (await counts()).size
      if (naive && twins(await counts()) > 0) break
      await delay(Math.random() * 250)
      if (applied) break
      figures.pending++
      // Lost answers alone are what shows that a repetition is another request.
      if (naive) await toService.suffer(LOSES_ANSWERS, 600)
      else if (figures.rounds % 2 === 0) {
        await kills[Math.floor(figures.kills++ % kills.length)]!()
      } else {
        const link = figures.cuts % 3 === 2 ? toTemporal : toService
        await link.suffer(CUTS[figures.cuts++ % CUTS.length]!, 200 + Math.random() * 500)
      }
      figures.rounds++
    }
    if (naive) {
      const dup = twins(await counts())
      return { ...figures, state: 'given up', lost: 0, dup, rotations, fewestKeys, incidents: 0, stillTaken: 0 }
    }
    await Promise.all([ended, rotating, containing])
    const found = await counts()
    const left = await insist(() =>
      Promise.all([
        direct(apiPrivateKey!).query('list_user_tags', {}),
        direct(apiPrivateKey!).query('list_policies', {}),
      ]),
    )
    const there = new Set([
      ...left[0].userTags.map(({ tagName }) => tagName),
      ...left[1].policies.map(({ policyName }) => policyName),
    ])
    const names = batches
      .flatMap(({ changes }) => changes.map((one) => one.split('.')[1]!))
      .filter((name) => /^[tp]\d+$/.test(name))
    const rotated = await direct(
      (JSON.parse(readFileSync(keyPath, 'utf8')) as { privateKey: string }).privateKey,
    ).query('whoami', {})
    if (rotated.userId !== ci.userId) throw new Error("the file has somebody else's key")
    const taken = await Promise.all(
      victims.map(({ pairs }) =>
        direct(pairs[0]!.privateKey)
          .query('whoami', {})
          .then(
            () => 1,
            () => 0,
          ),
      ),
    )
    return {
      ...figures,
      state: applied!.state,
      lost: names.filter((name) => !there.has(name)).length,
      dup: twins(found),
      rotations,
      fewestKeys,
      incidents: victims.length,
      stillTaken: taken.reduce<number>((sum, one) => sum + one, 0),
    }
  } finally {
    over = true
    // A question that is still asked when the connection closes would be asked again after that.
    for (const one of handles) await one.terminate().catch(() => {})
    await Promise.allSettled([voting, counting, containing, ended, rotating])
    if (worker) await kill(worker)
    await temporal.close()
    await service.end('SIGKILL')
    await server.stop()
    await proxy.close()
    await postgres?.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function allActivities(client: SubmitClient): Promise<readonly Wire.Activity[]> {
  const all: Wire.Activity[] = []
  for (;;) {
    const before = all.at(-1)?.id
    const { activities } = await client.query('list_activities', {
      filterByStatus: [],
      filterByType: [],
      paginationOptions: { limit: '100', ...(before ? { before } : {}) },
    })
    all.push(...activities)
    if (activities.length < 100) return all
  }
}
