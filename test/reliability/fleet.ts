/** One worker that watches many sub-organizations: whether each is looked at in its turn and none is starved, and whether the rate is kept. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlanStore } from '../../activities/index.ts'
import { createSubmitClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { environmentOf, writeFiles } from '../cli/harness.ts'
import { commandFile, compiledPrograms } from '../programs.ts'
import { startProcess } from '../service/process.ts'
import { type TestTemporal, temporalEnvironment } from '../temporal.ts'
import { keepsRate, mostIn, watchHoldUps, watchRequests } from './door.ts'
import { line } from './figures.ts'
import { openStage } from './stage.ts'

/** Published for one sub-organization (docs/protocol/limits.md#requests-a-second). */
const INSIDE_PER_SECOND = 10
/** More requests than one look at a sub-organization takes: the time that a run may take is counted by it. */
const MOST_REQUESTS = 40
/** How often the Schedule begins a look, where none is under way. */
const EVERY_SECONDS = 5

/** One root user each, and a tag, which is taken away by hand in one of them. */
const CUSTOMER = `rootQuorum: { threshold: 1, users: [ops] }
users: { ops: { apiKeys: { k: { curve: P256, publicKey: "\${var.key}" } } } }
tags: { vip: {} }
`

export interface FleetSettings {
  readonly temporal: TestTemporal
  /** How many sub-organizations. */
  readonly count: number
  readonly requestsPerSecond: number
  readonly signal?: AbortSignal
}

/**
 * Watches so many sub-organizations over three looks at least; after the first, somebody changes one of them by hand. All that is
 * counted is counted at the service's door. Throws where the rate was passed, one was not looked at or starved, or the change was not told.
 */
export async function watchFleet({ temporal, count, requestsPerSecond, signal }: FleetSettings) {
  const mostMs = 300_000 + (count * MOST_REQUESTS * 1_000) / requestsPerSecond
  const stage = openStage({ mostMs, ...(signal === undefined ? {} : { signal }) })
  return stage.run(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quorate-fleet-'))
    stage.atEnd(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const service = await startProcess(join(folder, 'service'))
    stage.atEnd(() => service.end('SIGKILL'))
    const door = await watchRequests(service.url)
    stage.atEnd(door.close)
    const { organizationId, apiPrivateKey } = JSON.parse(
      readFileSync(join(folder, 'service/bootstrap.json'), 'utf8'),
    ) as Record<'organizationId' | 'apiPrivateKey', string>

    // They are made past the door.
    const ops = generateP256KeyPair()
    const submitTo = async (organizationId: string, privateKey: string, type: ActivityType, parameters: object) => {
      const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
      const client = createSubmitClient({ baseUrl: service.url, organizationId, stamper })
      const body = JSON.stringify({ type, timestampMs: String(Date.now()), organizationId, parameters })
      const { result } = await client.submit(activities[type].path, body)
      return Object.values(result ?? {})[0] as unknown as Record<string, string>
    }
    const apiKeys = [{ apiKeyName: 'k', publicKey: ops.publicKey, curveType: 'API_KEY_CURVE_P256' }]
    const rootUsers = [{ userName: 'ops', apiKeys, authenticators: [], oauthProviders: [] }]
    const made: { readonly id: string; readonly tagId: string }[] = []
    stage.standing = 'the sub-organizations are being made'
    while (made.length < count) {
      const some = Array.from({ length: Math.min(16, count - made.length) }, async (_, at) => {
        const { subOrganizationId: id = '' } = await submitTo(
          organizationId,
          apiPrivateKey,
          'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7',
          { subOrganizationName: `c${made.length + at}`, rootUsers, rootQuorumThreshold: 1 },
        )
        const tag = { userTagName: 'vip', userIds: [] }
        const { userTagId: tagId = '' } = await submitTo(id, ops.privateKey, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag)
        return { id, tagId }
      })
      made.push(...(await Promise.all(some)))
    }

    const each = made.map((_, at) => `  c${at}: { key: "${ops.publicKey}" }\n`).join('')
    writeFiles(folder, {
      'defs/acme.yaml': 'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\n',
      'defs/customers/customer.yaml': CUSTOMER,
      'defs/customers/customers.yaml': `each:\n${each}`,
    })
    const env = environmentOf({ url: door.url, organizationId }, folder, apiPrivateKey, {
      ...temporalEnvironment(temporal),
      ...compiledPrograms(),
      QUORATE_REQUESTS_PER_SECOND: String(requestsPerSecond),
      CI: 'true',
    })
    const start = (args: readonly string[]) => {
      const child = spawn(process.execPath, [commandFile(), ...args], {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      stage.atEnd(async () => void child.kill('SIGKILL'))
      let said = ''
      child.stderr.setEncoding('utf8').on('data', (text) => {
        said = `${said}${text}`.slice(-5_000)
      })
      const exit = new Promise<number | null>((resolve) => void child.once('close', resolve))
      return { pid: child.pid!, exit, said: () => said }
    }
    stage.standing = 'the watch is being added'
    const adding = start(['watch', 'add', 'defs', '--every', `${EVERY_SECONDS}s`, '--sweep', `${EVERY_SECONDS}s`])
    const added = await adding.exit
    if (added !== 0) throw new Error(`watch add ended with ${added}: ${adding.said()}`)
    const before = door.seen.length
    const holdUps = watchHoldUps()
    stage.atEnd(async () => holdUps.close())

    const worker = start(['worker', '--json'])
    const { watches } = createPlanStore(join(folder, 'data/plans'))
    const state = async () => {
      await stage.pause(250)
      const told = await watches.stateOf(organizationId)
      stage.standing = `${door.seen.length - before} requests of the worker; ${JSON.stringify({ ...told, drift: told?.drift.length })}`
      if (told?.error) throw new Error(`a look failed: ${JSON.stringify(told.error)}`)
      return told
    }
    const swept = async (times: number) => {
      for (;;) {
        const told = await state()
        if ((told?.sweeps ?? 0) >= times) return told!
      }
    }
    const first = await swept(1)
    if (first.drift.length > 0) throw new RangeError(`${first.drift[0]!.address} and others are told without a change`)
    const memoryBefore = spentBy(worker.pid).memoryMb
    const edited = Math.floor(count / 3)
    await submitTo(made[edited]!.id, ops.privateKey, 'ACTIVITY_TYPE_DELETE_USER_TAGS', {
      userTagIds: [made[edited]!.tagId],
    })
    const editedAt = performance.now()
    let told = first
    while (told.drift.length === 0) told = (await state())!
    const toldAt = performance.now()
    // The next whole one shows that nobody is left out for the change.
    const last = await swept(told.sweeps + 1)
    const { cpuSeconds, memoryMb } = spentBy(worker.pid)

    const asked = door.seen.slice(before)
    const looks = new Map<string, number[]>(made.map(({ id }) => [id, []]))
    for (const { at, path, organizationId: id = '' } of asked) if (path.endsWith('/list_users')) looks.get(id)?.push(at)
    const times = [...looks.values()]
    const starts = Array.from({ length: last.sweeps }, (_, at) => Math.min(...times.map((one) => one[at] ?? Infinity)))
    const cycles = starts.slice(1).map((at, index) => at - starts[index]!)
    const gaps = times.flatMap((one) => one.slice(1).map((at, index) => at - one[index]!))
    const inside = asked.filter(({ organizationId: id = '' }) => looks.has(id))
    const seconds = (ms: number) => (ms / 1_000).toFixed(1)
    const all = asked.map(({ at }) => at)
    const ofEach = made.map(({ id }) => asked.filter((one) => one.organizationId === id).map(({ at }) => at))
    const heldUpMs = holdUps.mostMs()
    const figures = {
      count,
      requestsPerSecond,
      sweeps: last.sweeps,
      requestsPerSweep: Math.round(asked.length / last.sweeps),
      requestsEach: (inside.length / times.flat().length).toFixed(1),
      mostInASecond: mostIn(1_000, all),
      mostInTenSeconds: mostIn(10_000, all),
      mostInOneInASecond: Math.max(...ofEach.map((times) => mostIn(1_000, times))),
      heldUpMs,
      cycleSeconds: cycles.map(seconds).join(' '),
      largestGapSeconds: seconds(Math.max(...gaps)),
      fewestLooks: Math.min(...times.map(({ length }) => length)),
      toldSeconds: seconds(toldAt - editedAt),
      cpuSecondsPerSweep: (cpuSeconds / last.sweeps).toFixed(1),
      memoryMb: `${memoryBefore} then ${memoryMb}`,
    }
    const wrong = [
      ...(keepsRate(all, requestsPerSecond, heldUpMs) ? [] : ['the rate was passed in a second']),
      ...(figures.mostInTenSeconds <= 10 * requestsPerSecond ? [] : ['the rate was passed in ten seconds']),
      ...(ofEach.every((times) => keepsRate(times, INSIDE_PER_SECOND, heldUpMs)) ? [] : ['the rate of one was passed']),
      ...(figures.fewestLooks < last.sweeps ? ['one was not looked at in each sweep'] : []),
      // All are looked at in the same order: between two looks at one lies one sweep.
      ...(Math.max(...gaps) > 1.25 * Math.max(...cycles) + 2_000 ? ['one was starved'] : []),
      ...(toldAt - editedAt > 2 * Math.max(...cycles) + 10_000 ? ['the change was told late'] : []),
      ...(last.drift.map(({ address }) => address).join() === `c${edited}/tag.vip` ? [] : ['something else is told']),
    ]
    if (wrong.length > 0) throw new RangeError(`${wrong.join(', ')}: ${line(figures)}`)
    return figures
  })
}

/** What the system says of a process: processor time of all its threads, and its memory. */
function spentBy(pid: number): { readonly cpuSeconds: number; readonly memoryMb: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  const [, kb = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100, memoryMb: Math.round(Number(kb) / 1_024) }
}
