/**
 * Root users of small organizations propose, approve, reject and change their root quorum at the same time, and read what came of
 * it, while the services that answer them are killed, and their database too. What each was answered, and when, is checked against
 * a model that does one thing after another.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { startPostgres } from '../postgres.ts'
import { type ProcessClient, readClient, type ServingProcess, startProcess } from '../service/process.ts'
import { findFault, findOrder } from './linearizable.ts'
import { type Edge, type Person, type QuorumCall, recordCalls } from './quorum-calls.ts'
import { quorumModel } from './quorum-model.ts'

const PEOPLE = 4
const THRESHOLD = 2
/** Organizations that are at it at once. */
const AT_ONCE = 4
const ANSWERED_BETWEEN_KILLS = 20
/** One kill in so many is of the database server. */
const CRASHES = 3

export interface QuorumHistories {
  /** Of services, and of the database server. */
  readonly kills: number
  readonly crashes: number
  readonly organizations: number
  readonly calls: number
  /** Calls of which nobody was answered. */
  readonly unanswered: number
  readonly completed: number
  readonly quorumChanges: number
  readonly refused: number
  /** Histories that no order of their calls explains. */
  readonly unexplained: number
}

/** Kills so many times: the one process on SQLite, or three on PostgreSQL and its server. */
export async function recordQuorums({
  kills,
  store,
}: {
  readonly kills: number
  readonly store: 'SQLite' | 'PostgreSQL'
}): Promise<QuorumHistories> {
  const root = mkdtempSync(join(tmpdir(), 'quorate-quorums-'))
  const server = store === 'PostgreSQL' ? await startPostgres() : undefined
  const settings = server ? { databaseUrl: (await server.create()).reveal() } : {}
  const folders = Array.from({ length: server ? 3 : 1 }, (_, index) => join(root, String(index)))
  const services: ServingProcess[] = []
  const figures = { kills: 0, crashes: 0 }
  const seen = { organizations: 0, calls: 0, unanswered: 0, completed: 0, quorumChanges: 0, refused: 0, unexplained: 0 }
  const isDone = () => figures.kills + figures.crashes >= kills
  let answered = 0
  let ending: Promise<void> | undefined

  async function kill(): Promise<void> {
    answered = 0
    if (server && (figures.kills + figures.crashes) % CRASHES === CRASHES - 1) {
      figures.crashes++
      await server.crash(100)
    } else {
      figures.kills++
      const victim = Math.floor(Math.random() * services.length)
      await services[victim]!.end('SIGKILL')
      services[victim] = await startProcess(folders[victim]!, settings)
    }
    ending = undefined
  }
  const edge: Edge = {
    url: () => services[Math.floor(Math.random() * services.length)]!.url,
    onAnswer() {
      answered++
      if (!ending && answered >= ANSWERED_BETWEEN_KILLS && !isDone()) ending = kill()
    },
  }
  async function work(client: ProcessClient): Promise<void> {
    while (!isDone()) {
      const { organizationId, people } = await makeOrganization(client, edge)
      const calls = await recordCalls(edge, organizationId, people)
      seen.organizations++
      count(seen, calls)
      const members = people.map(({ id }) => id).sort()
      const model = quorumModel({ threshold: THRESHOLD, members })
      if (findOrder(calls, model)) continue
      seen.unexplained++
      const fault = findFault(calls, model) ?? calls
      console.log(fault.map((call) => JSON.stringify(call)).join('\n'))
    }
  }
  try {
    for (const [index, folder] of folders.entries()) {
      mkdirSync(folder, { mode: 0o700 })
      if (index > 0)
        for (const file of ['master.key', 'bootstrap.json']) copyFileSync(join(folders[0]!, file), join(folder, file))
      services.push(await startProcess(folder, settings))
    }
    const client = readClient(folders[0]!)
    await Promise.all(Array.from({ length: AT_ONCE }, () => work(client)))
    await ending
    return { ...figures, ...seen }
  } finally {
    await Promise.all(services.map((service) => service.end('SIGKILL')))
    await server?.close()
    rmSync(root, { recursive: true, force: true })
  }
}

/** Makes a sub-organization of root users alone, all of whom are in its quorum. */
async function makeOrganization(client: ProcessClient, edge: Edge) {
  const stampers = Array.from({ length: PEOPLE }, () =>
    createApiKeyStamper({ privateKey: new Secret(generateP256KeyPair().privateKey) }),
  )
  const rootUsers = stampers.map(({ publicKey }, index) => ({
    ...{ userName: `person ${index}`, authenticators: [], oauthProviders: [] },
    apiKeys: [{ apiKeyName: 'key', publicKey, curveType: 'API_KEY_CURVE_P256' }],
  }))
  const wanted = { subOrganizationName: 'quorum', rootUsers, rootQuorumThreshold: THRESHOLD }
  const body = client.body('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', wanted)
  for (;;) {
    const activity = await client.send(edge.url(), body).catch(orUnavailable)
    const made = activity?.result.createSubOrganizationResultV7
    if (made) {
      const people: Person[] = stampers.map((stamper, index) => ({ id: made.rootUserIds![index]!, stamper }))
      return { organizationId: made.subOrganizationId, people }
    }
    await pause(20)
  }
}

/** The store cannot be used: the same bytes may be sent again. */
function orUnavailable(error: unknown): undefined {
  if (error instanceof Error && error.message.startsWith('refused with 503')) return undefined
  throw error
}

function count(seen: Record<string, number>, calls: readonly QuorumCall[]): void {
  const add = (name: string, by: number) => {
    seen[name] = (seen[name] ?? 0) + by
  }
  add('calls', calls.length)
  const changes = new Set(
    calls.map(({ asked }) => (asked.kind === 'propose' && asked.becomes ? asked.body : undefined)),
  )
  for (const { asked, answered } of calls) {
    if (answered === undefined) add('unanswered', 1)
    if (answered === 'refused') add('refused', 1)
    if (typeof answered !== 'object' || !('status' in answered)) continue
    if (answered.status !== 'COMPLETED' || asked.kind === 'read') continue
    add('completed', 1)
    if (changes.has(asked.kind === 'approve' ? asked.of : asked.kind === 'propose' ? asked.body : ''))
      add('quorumChanges', 1)
  }
}
