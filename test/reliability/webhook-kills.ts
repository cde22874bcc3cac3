/**
 * A service that has endpoints to tell is killed, while a receiver fails at three attempts in ten. What must hold: every
 * endpoint is told of every send, by one event of its own, and of nothing that never was.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { type ActivityResults, type ActivityType, activities } from '../../src/protocol/index.ts'
import {
  fetchKeys,
  type Received,
  type Reply,
  SEND_STATUS,
  startReceiver,
  verdictOf,
} from '../service/outbox/receiver.ts'
import { startWrongNode } from '../service/outbox/wrong-node.ts'
import { clockOf, readClient, type ServingProcess, type ServingSettings, startProcess } from '../service/process.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { accountsOf, ETHEREUM } from '../service/signing/keys.ts'
import type { FailPoint } from '../service/tamper.ts'

/** As many as one organization may have. */
const ENDPOINTS = 20
/** Sends on their way at once. */
const CLIENTS = 4
/** Ten seconds until the first retry are a sixth of one; the five minutes of receivers are five seconds. */
const SPEED = 60
/** Attempts that one event may fail at, so that none is given up by the schedule. */
const MOST_FAILED = 3

export interface WebhookKills {
  readonly sends: number
  /** Different ones that came: one for each send and endpoint. */
  readonly events: number
  readonly kills: number
  /** Events that were still to be told when it was killed, over all kills. */
  readonly pending: number
  readonly deliveries: number
  /** Deliveries that the receiver failed at. */
  readonly failed: number
  /** Endpoints that were not told of a send, */
  readonly lost: number
  /** or by two events; */
  readonly twice: number
  /** what was told of sends that never were, */
  readonly strange: number
  /** and what the public verifier refuses. */
  readonly unverified: number
}

/** Kills the service `kills` times, while endpoints are told of so many sends. */
export async function killWhileTelling({ sends, kills }: { sends: number; kills: number }): Promise<WebhookKills> {
  let failed = 0
  const field = await openField(({ eventId }, times) => {
    const fails = times <= MOST_FAILED && Number.parseInt(eventId[times]!, 16) < 5
    if (fails) failed++
    return fails ? 503 : 200
  })
  const { received } = field.receiver
  try {
    for (let index = 0; index < ENDPOINTS; index++) await field.subscribe(`/${index}`)
    const accepted = new Set<string>()
    const figures = { kills: 0, pending: 0 }
    const told = () => new Set(received.map(({ eventId }) => eventId)).size
    let left = sends
    const work = async () => {
      while (left-- > 0) accepted.add(await field.send())
    }
    const working = Promise.all(Array.from({ length: CLIENTS }, work))
    while (figures.kills < kills) {
      const due = ((figures.kills + 1) * sends * ENDPOINTS) / (kills + 1)
      while (told() < due) await pause(20)
      await field.kill()
      figures.kills++
      figures.pending += field.waiting().length
      await field.start()
    }
    await working
    while (field.statuses().includes('INITIALIZED') || field.waiting().length > 0) await pause(100)
    const keys = await fetchKeys(field.url())
    const places = Map.groupBy(received, (one) => `${one.path} ${sendOf(one)}`)
    const wanted = [...accepted].flatMap((id) => Array.from({ length: ENDPOINTS }, (_, index) => `/${index} ${id}`))
    return {
      sends: accepted.size,
      events: told(),
      ...figures,
      deliveries: received.length,
      failed,
      lost: wanted.filter((place) => !places.has(place)).length,
      twice: [...places.values()].filter((same) => new Set(same.map(({ eventId }) => eventId)).size > 1).length,
      strange: received.filter((one) => !accepted.has(sendOf(one))).length,
      unverified: received.filter((one) => verdictOf(one, keys, field.clock(one.at)) !== 'ok').length,
    }
  } finally {
    await field.close()
  }
}

export interface DeathWhileNoting {
  /** What the store says after the death: the send's status and how many events wait, */
  readonly status: string
  readonly waiting: number
  /** and how many had come by then. */
  readonly toldBefore: number
  /** Different events in the end. */
  readonly events: number
}

/** Lets the service die as it notes that a send has failed. */
export async function dieWhileNoting(point: FailPoint): Promise<DeathWhileNoting> {
  const field = await openField(() => 200, { tampering: point })
  const { receiver, node, service } = field
  try {
    await field.subscribe('/')
    // A node is not believed at once: the send is refused once, which it waits upon, and fails when it is refused again.
    node.refuse(1)
    await field.send()
    while (!field.isWaited()) await pause(20)
    service().arm()
    await pause(100)
    node.release()
    await service().gone()
    const died = {
      status: field.statuses().join(),
      waiting: field.waiting().length,
      toldBefore: receiver.received.length,
    }
    await field.start()
    while (receiver.received.length === 0 || field.waiting().length > 0) await pause(20)
    return { ...died, events: new Set(receiver.received.map(({ eventId }) => eventId)).size }
  } finally {
    await field.close()
  }
}

const sendOf = ({ body }: Received) => (body['msg'] as { sendTransactionStatusId: string }).sendTransactionStatusId

/** A service with one receiver and a node that fails every send; what it was tampered with is gone at its next start. */
async function openField(reply: (one: Received, times: number) => Reply, tampered: ServingSettings = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-webhooks-'))
  const [receiver, node] = await Promise.all([startReceiver(reply), startWrongNode()])
  const settings: ServingSettings = {
    chains: { [SEPOLIA]: { url: node.url, pollMs: 50 } },
    allowedWebhookHosts: [receiver.host],
    clock: { from: Date.now(), speed: SPEED },
  }
  const clock = clockOf(settings.clock!)
  let service: ServingProcess = await startProcess(dataDir, { ...settings, ...tampered })
  const client = readClient(dataDir, () => clock(Date.now()))

  async function submit<Type extends ActivityType>(type: Type, parameters: object): Promise<ActivityResults[Type]> {
    const body = client.body(type, parameters)
    for (;;) {
      const activity = await client.send(service.url, body)
      if (activity !== undefined) {
        const result = activity.result as unknown as Record<string, unknown>
        return result[activities[type].resultKey!] as ActivityResults[Type]
      }
      await pause(50)
    }
  }
  function read(sql: string): readonly Record<string, unknown>[] {
    const database = new DatabaseSync(join(dataDir, 'quorate.db'), { readOnly: true })
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  }

  const wallet = { walletName: 'w', accounts: accountsOf(ETHEREUM) }
  const [from] = (await submit('ACTIVITY_TYPE_CREATE_WALLET', wallet)).addresses
  return {
    receiver,
    node,
    clock,
    service: () => service,
    url: () => service.url,
    async subscribe(path: string) {
      const subscriptions = [{ eventType: SEND_STATUS }]
      const endpoint = { url: `${receiver.url}${path}`, name: path, subscriptions }
      await submit('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', endpoint)
    },
    /** Asks for a send until it is answered, and gives its id. */
    async send(): Promise<string> {
      const parameters = { from: from!, to: from!, value: '1', caip2: SEPOLIA }
      return (await submit('ACTIVITY_TYPE_ETH_SEND_TRANSACTION', parameters)).sendTransactionStatusId
    },
    waiting: () => read('select event_id from webhook_deliveries'),
    isWaited: () => read('select failure from sends').some(({ failure }) => failure !== null),
    statuses: () => read('select status from sends').map(({ status }) => String(status)),
    kill: () => service.end('SIGKILL'),
    async start() {
      service = await startProcess(dataDir, settings)
    },
    async close() {
      await service.end('SIGKILL')
      await Promise.all([receiver.close(), node.close()])
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
