import { join } from 'node:path'
import { sha256 } from '../src/crypto/index.ts'
import { encodeHex } from '../src/encoding/index.ts'
import { ApplyError } from './error.ts'
import type { SendOrder, SendProgress } from './send-model.ts'
import { claim, list, read, write } from './store-files.ts'

/**
 * What was sent under which reference, for ever: Temporal forgets, a ledger does not. Where the folder is one machine's
 * own, a reference is unique on that machine and at its Temporal server.
 */
export interface SendLedger {
  /** Enters an order, and returns the one that its reference has: this one, unless there was one before. */
  enter(order: SendOrder): Promise<{ readonly sendId: string; readonly order: SendOrder }>
  /** Throws `apply/order-missing`. */
  getOrder(sendId: string): Promise<SendOrder>
  findOrder(sendId: string): Promise<SendOrder | undefined>
  /**
   * Enters the body of a send's attempt, and returns the one that this attempt has: whoever begins a send again, with
   * whatever clock, sends the bytes that were sent. Attempt 1 is for when the API refused the body of attempt 0 as too old.
   * Undefined when the bytes are another send's, ordered alike in the same millisecond: make others.
   */
  enterBody(sendId: string, attempt: number, fingerprint: string): Promise<string | undefined>
  /** Keeps where a send stands. */
  putProgress(progress: SendProgress): Promise<void>
  getProgress(sendId: string): Promise<SendProgress | undefined>
  /** The sends of an organization, oldest first. */
  list(organizationId: string): Promise<readonly { readonly sendId: string; readonly order: SendOrder }[]>
}

/** The name of a send wherever a reference must not stand: references are people's words, and may be long or private. */
export function sendIdOf({ organization, reference }: Pick<SendOrder, 'organization' | 'reference'>): string {
  return encodeHex(sha256(JSON.stringify([organization.id, reference])))
}

/** Makes the ledger in the plan store's folder. */
export function createSendLedger(folder: string): SendLedger {
  const orderAt = (sendId: string) => join(folder, 'sends', sendId)
  const progressAt = (sendId: string) => join(folder, 'send-progress', sendId)
  const find = async (sendId: string) => {
    const text = await read(orderAt(sendId))
    return text === undefined ? undefined : (JSON.parse(text) as SendOrder)
  }
  return {
    async enter(order) {
      const sendId = sendIdOf(order)
      await claim(orderAt(sendId), JSON.stringify(order))
      return { sendId, order: (await find(sendId)) ?? order }
    },
    async getOrder(sendId) {
      const order = await find(sendId)
      if (order && sendIdOf(order) === sendId) return order
      throw new ApplyError('apply/order-missing', `the plan store has no send \`${sendId}\``, { facts: { folder } })
    },
    findOrder: find,
    async enterBody(sendId, attempt, fingerprint) {
      const name = `${sendId}-${attempt}`
      const path = join(folder, 'send-bodies', name)
      const entered = await read(path)
      if (entered !== undefined) return entered
      // INVARIANT: bytes are one send's. The API answers the same bytes with the same activity, and would pay once for two.
      const owner = join(folder, 'send-body-owners', fingerprint.replace(':', '-'))
      await claim(owner, name)
      if ((await read(owner)) !== name) return undefined
      await claim(path, fingerprint)
      return (await read(path)) ?? fingerprint
    },
    putProgress: (progress) => write(progressAt(progress.sendId), JSON.stringify(progress)),
    async getProgress(sendId) {
      const text = await read(progressAt(sendId))
      return text === undefined ? undefined : (JSON.parse(text) as SendProgress)
    },
    async list(organizationId) {
      const ids = await list(join(folder, 'sends'))
      const all = await Promise.all(ids.map(async (sendId) => ({ sendId, order: (await find(sendId))! })))
      return all
        .filter(({ order }) => order.organization.id === organizationId)
        .sort((a, b) => (a.order.orderedAt < b.order.orderedAt ? -1 : 1))
    },
  }
}
