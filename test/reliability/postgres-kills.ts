/**
 * Three services on one PostgreSQL are killed at random moments, and so is the database server, while clients submit to
 * whichever they like; a client that is not answered sends the same bytes to another. What was acknowledged must be there, nothing
 * twice, nothing by half; every send is in the chain once, and every event about it arrives.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Wire } from '../../src/protocol/index.ts'
import { startPostgres } from '../postgres.ts'
import { SEND_STATUS, startReceiver } from '../service/outbox/receiver.ts'
import { readClient, type ServingProcess, type ServingSettings, startProcess } from '../service/process.ts'
import { startAnvil } from '../service/sends/anvil.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { accountsOf, ETHEREUM } from '../service/signing/keys.ts'
import { createBody } from './service-kills.ts'

const PROCESSES = 3
const CLIENTS = 6
/** Between two kills at least so many requests are answered. */
const ANSWERED_BETWEEN_KILLS = 12
/** One submit in so many is a send. */
const SENDS = 5
/** One kill in so many is of the database server. */
const CRASHES = 3

export interface PostgresKills {
  /** Of services, and of the database server. */
  readonly kills: number
  readonly crashes: number
  /** Requests on their way then, over all. */
  readonly pending: number
  readonly acknowledged: number
  readonly resent: number
  /** Acknowledged, and not there. */
  readonly lost: number
  /** Intents that are more than one activity. */
  readonly twice: number
  /** Activities without their effect, or effects without their activity. */
  readonly half: number
  readonly sends: number
  /** Transactions in the chain beyond one for each send, or missing. */
  readonly sentWrong: number
  /** Sends of whose end nobody was told. */
  readonly untold: number
}

/** Kills services and the database server `kills` times together. */
export async function killOnPostgres({ kills }: { readonly kills: number }): Promise<PostgresKills> {
  const root = mkdtempSync(join(tmpdir(), 'quorate-postgres-kills-'))
  const folders = Array.from({ length: PROCESSES }, (_, index) => join(root, String(index)))
  const [server, chain, receiver] = await Promise.all([startPostgres(), startAnvil(), startReceiver()])
  const url = await server.create()
  const settings: ServingSettings = {
    databaseUrl: url.reveal(),
    chains: { [SEPOLIA]: { url: chain.url, pollMs: 50 } },
    allowedWebhookHosts: [receiver.host],
  }
  const services: ServingProcess[] = []
  try {
    services.push(await startProcess(folders[0]!, settings))
    const client = readClient(folders[0]!)
    for (const folder of folders.slice(1)) {
      mkdirSync(folder, { mode: 0o700 })
      for (const file of ['master.key', 'bootstrap.json']) copyFileSync(join(folders[0]!, file), join(folder, file))
      services.push(await startProcess(folder, settings))
    }
    const figures = { kills: 0, crashes: 0, pending: 0, resent: 0 }
    let inFlight = 0
    let answered = 0
    let ending: Promise<void> | undefined

    const send = async (body: string): Promise<Wire.Activity> => {
      for (;;) {
        inFlight++
        const to = services[Math.floor(Math.random() * PROCESSES)]!
        const activity = await client.send(to.url, body).catch(orUnavailable)
        inFlight--
        if (activity !== undefined) return activity
        figures.resent++
        await pause(20)
      }
    }
    const wallet = { walletName: 'w', accounts: accountsOf(ETHEREUM) }
    const made = (await send(client.body('ACTIVITY_TYPE_CREATE_WALLET', wallet))).result.createWalletResult!
    const from = made.addresses[0]!
    await chain.fund(from, 10)
    const endpoint = { url: receiver.url, name: 'all', subscriptions: [{ eventType: SEND_STATUS }] }
    await send(client.body('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', endpoint))

    async function kill(): Promise<void> {
      answered = 0
      figures.pending += inFlight
      if ((figures.kills + figures.crashes) % CRASHES === CRASHES - 1) {
        figures.crashes++
        await server.crash(100)
      } else {
        figures.kills++
        const victim = Math.floor(Math.random() * PROCESSES)
        await services[victim]!.end('SIGKILL')
        services[victim] = await startProcess(folders[victim]!, settings)
      }
      ending = undefined
    }
    const accounts = new Map<string, string>()
    const sends = new Set<string>()
    let paths = 0
    const isDone = () => figures.kills + figures.crashes >= kills
    async function work(): Promise<void> {
      while (!isDone()) {
        const path = `m/44'/60'/1'/0/${paths++}`
        const isSend = paths % SENDS === 0
        const transfer = { from, to: from, value: '1', caip2: SEPOLIA }
        const body = isSend
          ? client.body('ACTIVITY_TYPE_ETH_SEND_TRANSACTION', transfer)
          : createBody(client, made.walletId, path)
        const sent = send(body)
        if (!ending && answered >= ANSWERED_BETWEEN_KILLS && !isDone()) ending = kill()
        const activity = await sent
        answered++
        if (isSend) sends.add(activity.result.ethSendTransactionResult!.sendTransactionStatusId)
        else accounts.set(path, activity.id)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, work))
    await ending
    const rows = await read(url.reveal())
    const ended = new Map<string, string>()
    while (ended.size < sends.size || (await rows('select 1 from webhook_deliveries')).length > 0) {
      for (const { id, status } of await rows("select id, status from sends where status in ('INCLUDED', 'FAILED')")) {
        ended.set(String(id), String(status))
      }
      await pause(100)
    }
    const inChain = Number(await chain.rpc<string>('eth_getTransactionCount', from, 'latest'))
    const told = new Set(
      receiver.received
        .map(({ body }) => body['msg'] as { sendTransactionStatusId: string; status?: string; txStatus?: string })
        .filter((message) => JSON.stringify(message).includes('INCLUDED'))
        .map((message) => message.sendTransactionStatusId),
    )
    const found = await rows(
      "select id, intent, status from activities where type = 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS'",
    )
    const derived = await rows("select path from wallet_accounts where path like 'm/44''/60''/1''%'")
    await rows.close()
    const byPath = Map.groupBy(found, (row) => JSON.parse(String(row['intent'])).accounts[0].path as string)
    const effects = Map.groupBy(derived, ({ path }) => String(path))
    return {
      ...figures,
      acknowledged: accounts.size + sends.size,
      lost:
        [...accounts].filter(([path, id]) => !byPath.get(path)?.some((row) => row['id'] === id)).length +
        [...sends].filter((id) => !ended.has(id)).length,
      twice: [...byPath.values()].filter((same) => same.length > 1).length + (ended.size - sends.size),
      half: [...new Set([...byPath.keys(), ...effects.keys()])].filter(
        (path) => effects.get(path)?.length !== 1 || byPath.get(path)?.[0]?.['status'] !== 'ACTIVITY_STATUS_COMPLETED',
      ).length,
      sends: sends.size,
      sentWrong: Math.abs(inChain - [...ended.values()].filter((status) => status === 'INCLUDED').length),
      untold: [...ended].filter(([id, status]) => status === 'INCLUDED' && !told.has(id)).length,
    }
  } finally {
    await Promise.all(services.map((service) => service.end('SIGKILL')))
    await Promise.all([server.close(), chain.kill(), receiver.close()])
    rmSync(root, { recursive: true, force: true })
  }
}

/** The store cannot be used: the same bytes may be sent again. */
function orUnavailable(error: unknown): undefined {
  if (error instanceof Error && error.message.startsWith('refused with 503')) return undefined
  throw error
}

/** Reads what stands in the database, of a server that runs. */
async function read(connectionString: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const rows = async (sql: string): Promise<readonly Record<string, unknown>[]> => (await client.query(sql)).rows
  return Object.assign(rows, { close: () => client.end() })
}
