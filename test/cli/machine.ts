/** A machine that sends: a data folder of its own, and the API, which is all that it shares with others. */
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as activities from '../../activities/index.ts'
import { isSameSend, type SendOrder } from '../../activities/index.ts'
import { HOUR_MS } from '../../activities/send-times.ts'
import { createRate, createSubmitClient } from '../../src/client/index.ts'
import { assertNotElsewhere, enterAgain } from '../../src/sending/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import { startTestService } from '../service/harness.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { PAYROLL, type Payday } from './payday.ts'

/** What a machine sends with, for a test that makes a mistake in it. @default the real ones */
export interface Parts {
  readonly createPlanStore?: typeof activities.createPlanStore
  readonly createActivities?: typeof activities.createActivities
  readonly assertNotElsewhere?: typeof assertNotElsewhere
}

export interface MachineOptions {
  readonly clock?: () => number
  readonly folder?: string
  readonly parts?: Parts
}

export function machineOf(
  { service }: Pick<Payday, 'service'>,
  { clock = Date.now, folder, parts = {} }: MachineOptions & { readonly folder: string },
) {
  const { createPlanStore, createActivities } = { ...activities, ...parts }
  const assertNew = parts.assertNotElsewhere ?? assertNotElsewhere
  const planStore = createPlanStore(folder)
  const { organizationId, url: baseUrl } = service
  const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
  const client = createSubmitClient({ baseUrl, organizationId, stamper, rate: createRate() })
  const steps = createActivities({ clientFor: () => client, planStore, clock, logger: silentLogger })
  /** As `quorate send` and a worker do it. */
  const send = async (order: SendOrder, not: readonly string[] = []) => {
    // At the turn of a reference's hour it waits until all that was sent before is listed, or two machines would make other bytes.
    const asking = { ledger: planStore.sends, not, now: clock, pause: (ms: number) => delay(ms) }
    const [asked] = await assertNew(client, [order], asking)
    return submit(asked!)
  }
  const submit = async (order: SendOrder) => {
    const { sendId } = await planStore.sends.enter(order)
    for (;;) {
      await steps.prepareSend({ sendId, timestampMs: clock() })
      try {
        return await steps.submitSend({ sendId })
      } catch (error) {
        // The reference's hour has turned on the way.
        if ((error as { readonly type?: string }).type !== 'apply/body-stale') throw error
      }
    }
  }
  /** As `quorate send --ask-again` and a worker do it, of a send that was rejected. */
  const sendAgain = async (order: SendOrder) => {
    const entered = await planStore.sends.findOrder(activities.sendIdOf(order))
    const again = new Map(entered === undefined ? [] : [[order, entered.round ?? 0]])
    const pause = (ms: number) => delay(ms)
    const asking = { ledger: planStore.sends, not: [], now: clock, pause, again }
    const [asked] = await assertNew(client, [order], asking)
    if (entered !== undefined) await enterAgain(client, { dataDir: dirname(folder), order: asked! })
    return submit(asked!)
  }
  /** The same of a machine that was told that nobody has sent it: the ledger alone decides. Undefined where another send has the reference. */
  const enterAndSend = async (order: SendOrder) => {
    const { sendId, order: entered } = await planStore.sends.enter(order)
    if (!isSameSend(entered, order)) return undefined
    await steps.prepareSend({ sendId, timestampMs: clock() })
    return steps.submitSend({ sendId })
  }
  return { planStore, client, steps, send, sendAgain, enterAndSend }
}

/** An order to pay the payroll so many wei. */
export function orderOf(
  { service, address }: Pick<Payday, 'service' | 'address'>,
  { value, ...more }: Partial<SendOrder> & { readonly reference: string; readonly value: string },
): SendOrder {
  return {
    organization: { name: 'acme', id: service.organizationId, baseUrl: service.url },
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
    parameters: { from: address, caip2: SEPOLIA, to: PAYROLL, value },
    from: 'treasury',
    to: 'payroll',
    amount: `${value} wei`,
    orderedAt: new Date().toISOString(),
    ...more,
  }
}

/** Sends from one machine, and an hour later, when its bytes would be others, from another: the ids of both activities. */
export async function sendHourLater(
  { anvil }: Pick<Payday, 'anvil'>,
  { parts, newFolder }: { readonly parts?: Parts; readonly newFolder: () => string },
): Promise<readonly (string | undefined)[]> {
  let ahead = 0
  const clock = () => Date.now() + ahead
  const service = await startTestService({ clock, chains: { [SEPOLIA]: { url: anvil.url, pollMs: 50 } } })
  try {
    const { address } = (await makeWallet(service.root, ETHEREUM)).accounts[0]!
    await anvil.fund(address, 100)
    const order = () => {
      const orderedAt = new Date(clock()).toISOString()
      return orderOf({ service, address }, { reference: 'PAST', value: '51', orderedAt })
    }
    const send = () => machineOf({ service }, { clock, folder: newFolder(), parts: parts ?? {} }).send(order())
    const first = await send()
    ahead = HOUR_MS
    return [first.activityId, (await send()).activityId]
  } finally {
    await service.close()
  }
}
