/**
 * The service is killed at random moments while clients submit; a client that is not answered sends the same bytes again. What
 * was acknowledged must be there, nothing twice, nothing by half. The broken variant answers before it has committed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type ProcessClient, readClient, type ServingProcess, startProcess } from '../service/process.ts'

const CLIENTS = 8
/** Between two kills at least so many requests are answered, */
const ANSWERED_BETWEEN_KILLS = 12
/** and then about so many more are sent. */
const SENT_BETWEEN_KILLS = 20

export interface ServiceKills {
  readonly kills: number
  /** Requests on their way when it was killed, over all kills. */
  readonly pending: number
  readonly acknowledged: number
  readonly resent: number
  /** Acknowledged, and not there. */
  readonly lost: number
  /** Intents that are more than one activity. */
  readonly twice: number
  /** Activities without their effect, or effects without their activity. */
  readonly half: number
  readonly integrity: string
}

/** Kills it `kills` times. */
export async function killService({
  kills,
  lateCommit = false,
}: {
  readonly kills: number
  readonly lateCommit?: boolean
}): Promise<ServiceKills> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-durability-'))
  const start = () => startProcess(dataDir, lateCommit ? { tampering: 'late-commit' } : {})
  const arm = () => {
    if (lateCommit) service.arm()
  }
  let service: ServingProcess = await start()
  try {
    const client = readClient(dataDir)
    const walletId = await createWallet(service.url, client)
    arm()
    const acknowledged = new Map<string, string>()
    const figures = { kills: 0, pending: 0, resent: 0 }
    let inFlight = 0
    let paths = 0
    let restarting: Promise<void> | undefined

    let answered = 0
    async function kill(): Promise<void> {
      figures.kills++
      answered = 0
      figures.pending += inFlight
      await service.end('SIGKILL')
      service = await start()
      arm()
      restarting = undefined
    }
    async function work(): Promise<void> {
      while (figures.kills < kills) {
        const path = `m/44'/60'/0'/0/${paths++}`
        const body = createBody(client, walletId, path)
        for (;;) {
          await restarting
          inFlight++
          const sent = client.send(service.url, body)
          // Whatever is on its way is so when the process dies.
          const due = answered >= ANSWERED_BETWEEN_KILLS && Math.random() < 1 / SENT_BETWEEN_KILLS
          if (!restarting && figures.kills < kills && due) restarting = kill()
          const activity = await sent
          inFlight--
          if (activity !== undefined) {
            acknowledged.set(path, activity.id)
            answered++
            break
          }
          figures.resent++
        }
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, work))
    await restarting
    await service.end('SIGTERM')
    return { ...figures, acknowledged: acknowledged.size, ...examine(dataDir, acknowledged) }
  } finally {
    await service.end('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function examine(dataDir: string, acknowledged: ReadonlyMap<string, string>) {
  const database = new DatabaseSync(join(dataDir, 'quorate.db'))
  const rows = database
    .prepare("select id, intent, status from activities where type = 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS'")
    .all()
  const accounts = database.prepare('select path from wallet_accounts').all()
  const integrity = String(database.prepare('pragma integrity_check').get()?.['integrity_check'])
  database.close()
  const byPath = Map.groupBy(rows, (row) => JSON.parse(String(row['intent'])).accounts[0].path as string)
  const effects = Map.groupBy(accounts, ({ path }) => String(path))
  const paths = new Set([...byPath.keys(), ...effects.keys()])
  return {
    lost: [...acknowledged].filter(([path, id]) => !byPath.get(path)?.some((row) => row['id'] === id)).length,
    twice: [...byPath.values()].filter((same) => same.length > 1).length,
    half: [...paths].filter(
      (path) => effects.get(path)?.length !== 1 || byPath.get(path)?.[0]?.['status'] !== 'ACTIVITY_STATUS_COMPLETED',
    ).length,
    integrity,
  }
}

/** A body that derives one more account of a wallet: accounts of a wallet are the one thing without a limit. */
export function createBody(client: ProcessClient, walletId: string, path: string): string {
  const account = {
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    path,
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  }
  return client.body('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', { walletId, accounts: [account] })
}

export async function createWallet(url: string, client: ProcessClient): Promise<string> {
  const body = client.body('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'durable', accounts: [] })
  return (await client.send(url, body))!.result.createWalletResult!.walletId
}
