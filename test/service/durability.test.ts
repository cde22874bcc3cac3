import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import { type ActivityType, activities, type Wire } from '../../src/protocol/index.ts'
import { createApiKeyStamper, type Stamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { type ServingProcess, startProcess } from './process.ts'

const ACTIVITIES = 200
const CLIENTS = 8

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'quorate-durability-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

interface Bootstrap {
  readonly organizationId: string
  readonly stamper: Stamper
}

function readBootstrap(): Bootstrap {
  const file = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8'))
  return {
    organizationId: file.organizationId,
    stamper: createApiKeyStamper({ privateKey: new Secret(file.apiPrivateKey) }),
  }
}

/** A body that derives one more account of a wallet: accounts of a wallet are the one thing without a limit. */
function createBody(organizationId: string, walletId: string, path: string): string {
  const account = {
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    path,
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  }
  return bodyOf(organizationId, 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', { walletId, accounts: [account] })
}

function bodyOf(organizationId: string, type: ActivityType, parameters: object): string {
  return JSON.stringify({ type, timestampMs: String(Date.now()), organizationId, parameters })
}

async function createWallet(url: string, { organizationId, stamper }: Bootstrap): Promise<string> {
  const body = bodyOf(organizationId, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'durable', accounts: [] })
  const activity = await send(url, stamper, body)
  return activity!.result.createWalletResult!.walletId
}

/** Sends a body once; the activity, or nothing when nobody answered. */
async function send(url: string, stamper: Stamper, body: string): Promise<Wire.Activity | undefined> {
  const stamp = await stamper.stamp(encodeUtf8(body))
  try {
    const { path } = activities[JSON.parse(body).type as ActivityType]
    const response = await fetch(`${url}${path}`, { method: 'POST', body, headers: { [stamp.name]: stamp.value } })
    const answer = (await response.json()) as { activity?: Wire.Activity }
    expect(answer).toMatchObject({ activity: { status: 'ACTIVITY_STATUS_COMPLETED' } })
    return answer.activity
  } catch (error) {
    // `fetch failed`: the socket broke. Anything else is a finding.
    if (error instanceof TypeError || (error instanceof Error && 'code' in error)) return undefined
    throw error
  }
}

describe('durability', () => {
  test('durability: killed at random while 8 clients submit, every acknowledged activity is there and none twice', async () => {
    let service: ServingProcess = await startProcess(dataDir)
    const bootstrap = readBootstrap()
    const { organizationId, stamper } = bootstrap
    const walletId = await createWallet(service.url, bootstrap)
    const acknowledged = new Map<string, string>()
    const figures = { kills: 0, pendingAtKill: 0, resent: 0 }
    const left = Array.from({ length: ACTIVITIES }, (_, i) => `m/44'/60'/0'/0/${i}`)
    let inFlight = 0
    let restarting: Promise<void> | undefined

    async function kill(): Promise<void> {
      figures.kills++
      figures.pendingAtKill += inFlight
      await service.end('SIGKILL')
      service = await startProcess(dataDir)
      restarting = undefined
    }
    async function work(): Promise<void> {
      for (let path = left.pop(); path !== undefined; path = left.pop()) {
        const body = createBody(organizationId, walletId, path)
        for (;;) {
          await restarting
          inFlight++
          const sent = send(service.url, stamper, body)
          // Every thirtieth or so request is on its way when the process dies.
          if (!restarting && Math.random() < 1 / 30) restarting = kill()
          const activity = await sent
          inFlight--
          if (activity === undefined) {
            figures.resent++
            continue
          }
          acknowledged.set(path, activity.id)
          break
        }
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, work))
    await restarting
    if (figures.kills === 0) await kill()
    await service.end('SIGTERM')

    const database = new DatabaseSync(join(dataDir, 'quorate.db'))
    const rows = database
      .prepare("select id, intent, status from activities where type = 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS'")
      .all()
    const accounts = database.prepare('select path from wallet_accounts').all()
    const integrity = database.prepare('pragma integrity_check').get()
    database.close()
    const byPath = Map.groupBy(rows, (row) => JSON.parse(String(row['intent'])).accounts[0].path as string)
    const lost = [...acknowledged].filter(([path, id]) => !byPath.get(path)?.some((row) => row['id'] === id)).length
    const twice = [...byPath.values()].filter((same) => same.length > 1).length
    console.log(
      `acknowledged=${acknowledged.size} kills=${figures.kills} pending=${figures.pendingAtKill} resent=${figures.resent} lost=${lost} twice=${twice}`,
    )
    expect(figures.kills).toBeGreaterThan(0)
    expect(figures.pendingAtKill).toBeGreaterThan(0)
    expect(acknowledged.size).toBe(ACTIVITIES)
    expect({ lost, twice }).toEqual({ lost: 0, twice: 0 })
    // Executed once as well as recorded once.
    expect(new Set(accounts.map((row) => row['path'])).size).toBe(ACTIVITIES)
    expect(accounts).toHaveLength(ACTIVITIES)
    expect(new Set(rows.map((row) => row['status']))).toEqual(new Set(['ACTIVITY_STATUS_COMPLETED']))
    expect({ ...integrity }).toEqual({ integrity_check: 'ok' })
  }, 120_000)

  test.skipIf(!hasStrace())('durability: there is an fsync for every commit (needs strace)', async () => {
    const log = join(dataDir, 'strace.log')
    const trace = ['strace', '-f', '-c', '-o', log, '-e', 'trace=fsync,fdatasync']
    const first = await startProcess(dataDir)
    await first.end('SIGTERM')
    const service = await startProcess(dataDir, trace)
    const bootstrap = readBootstrap()
    const walletId = await createWallet(service.url, bootstrap)
    const COMMITS = 40
    // One after the other, so that each is a commit of its own.
    for (let i = 0; i < COMMITS; i++) {
      await send(service.url, bootstrap.stamper, createBody(bootstrap.organizationId, walletId, `m/44'/60'/0'/0/${i}`))
    }
    await service.end('SIGTERM')
    const counts = readFileSync(log, 'utf8').matchAll(
      /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?f(?:data)?sync$/gm,
    )
    const syncs = [...counts].reduce((sum, [, calls]) => sum + Number(calls), 0)
    console.log(`commits=${COMMITS} fsyncs=${syncs}`)
    expect(syncs).toBeGreaterThanOrEqual(COMMITS)
  })
})

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
