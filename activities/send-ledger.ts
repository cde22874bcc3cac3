import { join } from 'node:path'
import { sha256 } from '../src/crypto/index.ts'
import { encodeHex } from '../src/encoding/index.ts'
import { ApplyError } from './error.ts'
import type { Records } from './records.ts'
import { createSendGates, type OpenGate } from './send-gates.ts'
import { isSameSend, isSendOver, type SendOrder, type SendProgress } from './send-model.ts'
import { fileNameOf } from './store-files.ts'

/**
 * The ledger of sends: what was sent under which reference. Temporal deletes old histories; the ledger keeps its records for ever. If the
 * plan store is one machine's own folder, a reference is unique on that machine and at its Temporal server; if machines share the plan
 * store, among all of them.
 */
export interface SendLedger {
  /** Enters an order, and returns the order of its reference: this one, unless the reference has an earlier one that was not stopped. */
  enter(order: SendOrder): Promise<{ readonly sendId: string; readonly order: SendOrder }>
  /** The order of a reference. Throws `apply/order-missing`, or `apply/send-stopped` if it was stopped. */
  getEntry(sendId: string): Promise<SendEntry>
  /** The order of a reference; undefined if there is none or it was stopped. */
  findOrder(sendId: string): Promise<SendOrder | undefined>
  /**
   * Enters the body of a send, and returns the fingerprint of the one that it has: a send that is begun again, at whatever time, sends
   * the same bytes. Another body is entered only after the API refused the one before as too old (`refuseBody`). Returns undefined if
   * another send has these very bytes, as one that pays the same in the same millisecond: then the caller makes others. Throws
   * `apply/send-stopped`.
   */
  enterBody(entry: Pick<SendEntry, 'name'>, fingerprint: string): Promise<string | undefined>
  /** The fingerprint of the body of a send: the last that was not refused. Throws `apply/send-stopped`. */
  getBody(entry: Pick<SendEntry, 'name'>): Promise<string | undefined>
  /** Records that the API refused a body for good, and never made an activity of it. */
  refuseBody(entry: Pick<SendEntry, 'name'>, fingerprint: string): Promise<void>
  /** Whether the bytes of a fingerprint are those of a send of this ledger; asked once, for many. */
  knownBodies(): Promise<(fingerprint: string) => boolean>
  /** The order that the bytes of an activity were made for; undefined if no send of this ledger has them. */
  findByBody(fingerprint: string): Promise<SendOrder | undefined>
  hasBody(entry: Pick<SendEntry, 'name'>, fingerprint: string): Promise<boolean>
  /** Records the activity that a send became, and the id by which its transaction is asked for, as the API gave them. */
  getMade(entry: Pick<SendEntry, 'name'>): Promise<MadeOfSend>
  setMade(entry: Pick<SendEntry, 'name'>, made: MadeOfSend): Promise<void>
  /** Records that the API has lost the activity of a send, as after its store was restored: the next activity takes its place. */
  lose(entry: Pick<SendEntry, 'name'>, activityId: string): Promise<void>
  /** Opens the gate for a body, right before it is sent. Throws `apply/send-stopped`. */
  letOut(entry: Pick<SendEntry, 'name'>, fingerprint: string): Promise<OpenGate>
  /**
   * Stops the send of a reference before it is submitted. True if it never was and never will be submitted; then the reference is free.
   * False if it may have been: what became of its last request is not known yet. It is stopped before the next try.
   */
  stop(sendId: string): Promise<boolean>
  /**
   * Frees the reference of a send that was given up: the next order under it is another send. The ledger's record is not enough:
   * `isGivenUp` asks the API once more. Returns false if the API says otherwise; a reference that was freed meanwhile stays free.
   */
  release(sendId: string, isGivenUp: (entry: SendEntry) => Promise<boolean>): Promise<boolean>
  /**
   * Enters the next round of a send that approvers have rejected in the place of the rejected one, in one step: its reference is free at
   * no moment. The ledger's record is not enough: `isRejected` asks the API once more. Returns false if the API says otherwise; if this
   * round or a later one is entered already, that stays.
   */
  enterAgain(order: SendOrder, isRejected: (entry: SendEntry) => Promise<boolean>): Promise<boolean>
  /**
   * Keeps which reference was the first of all that look alike to begin a payment, and returns it: this one, unless there was one
   * before that has the payment still. `look` names both, in one word.
   */
  claimLook(look: string, order: SendOrder): Promise<string>
  /** Whether the last order of the reference was stopped, and no other has taken its place. */
  isStopped(sendId: string): Promise<boolean>
  /** Records the progress of a send. A send that has ended keeps its end, also if an older state is handed in again. */
  putProgress(progress: SendProgress): Promise<void>
  getProgress(sendId: string): Promise<SendProgress | undefined>
  /** When the progress of a send was last recorded, ISO 8601; undefined where an earlier release recorded it. */
  recordedAt(sendId: string): Promise<string | undefined>
  /** Records that a node of the user's own has a send in a definitive block: the node is not asked again. */
  setFinal(sendId: string, final: FinalOfSend): Promise<void>
  getFinal(sendId: string): Promise<FinalOfSend | undefined>
  /** Whether bytes of a send were made: they may have been sent, whatever the answer was. */
  isAsked(sendId: string): Promise<boolean>
  /** The sends of an organization, oldest first. */
  list(organizationId: string): Promise<readonly ListedOrder[]>
}

/** The order under a reference. */
export interface SendEntry {
  readonly order: SendOrder
  /** The key of its bodies: the send's id, or a new id where an earlier order of the reference was stopped. */
  readonly name: string
}

/** The activity and transaction of a send, as the API gave them. */
export interface MadeOfSend {
  readonly activityId?: string | undefined
  readonly sendTransactionStatusId?: string | undefined
  /** Whether the API has lost an activity of the send, and was given the same bytes again. */
  readonly wasLost?: boolean
}

/** A transaction in a definitive block, and how many blocks made it that. */
export interface FinalOfSend {
  readonly transactionHash: string
  readonly block: string
  readonly confirmations: number
  /** How many nodes have said so; none where it was kept before they were counted. */
  readonly nodes?: number
  /** In the smallest unit of the chain's currency. */
  readonly fee?: string
}

interface ListedOrder {
  readonly sendId: string
  readonly order: SendOrder
  readonly stopped: boolean
}

/** A progress in the ledger, with the time at which it was recorded. */
type RecordedProgress = SendProgress & { readonly recordedAt?: string }

function withoutTime({ recordedAt: _, ...progress }: RecordedProgress): SendProgress {
  return progress
}

/** Stands in the place of a fingerprint where no body may be made. */
const NEVER = 'stopped'

/** The id of a send, used wherever a reference must not appear: people write references, and they may be long or private. */
export function sendIdOf({ organization, reference }: Pick<SendOrder, 'organization' | 'reference'>): string {
  return encodeHex(sha256(JSON.stringify([organization.id, reference])))
}

/** Creates the ledger of a plan store. */
export function createSendLedger(folder: string, records: Records): SendLedger {
  const { claim, list, read, write } = records
  const gates = createSendGates(folder, records)
  const orderAt = (name: string) => join(folder, 'sends', name)
  const progressAt = (name: string) => join(folder, 'send-progress', name)
  const bodyAt = (name: string, attempt: number) => join(folder, 'send-bodies', `${name}-${attempt}`)
  const refusedAt = (name: string, attempt: number) => join(folder, 'send-bodies-refused', `${name}-${attempt}`)
  const activityAt = (name: string) => join(folder, 'send-activities', name)
  const statusAt = (name: string) => join(folder, 'send-statuses', name)
  const lostAt = (name: string) => join(folder, 'send-activities-lost', name)
  const finalAt = (name: string) => join(folder, 'send-finals', name)
  const askedAt = (name: string) => join(folder, 'send-stops-asked', name)
  const stoppedAt = (name: string) => join(folder, 'send-stops', name)

  const readOrder = async (name: string) => {
    const text = await read(orderAt(name))
    return text === undefined ? undefined : (JSON.parse(text) as SendOrder)
  }
  /** The name of the order that the reference has, or that the next one would get, and how many orders of it were stopped. */
  const nameNow = async (sendId: string) => {
    for (let stopped = 0; ; stopped++) {
      const name = nameOf(sendId, stopped)
      if ((await read(stoppedAt(name))) === undefined) return { name, stopped }
    }
  }
  const find = async (sendId: string) => readOrder((await nameNow(sendId)).name)
  const isStopAsked = async (name: string) => (await read(askedAt(name))) !== undefined
  const stopped = async (name: string): Promise<never> => {
    await claim(stoppedAt(name), '')
    throw new ApplyError('apply/send-stopped', STOPPED)
  }
  /** The first attempt that was not refused, and its body if it has one. */
  const lastBody = async (name: string) => {
    for (let attempt = 0; ; attempt++) {
      const body = await read(bodyAt(name, attempt))
      if (body === undefined || (await read(refusedAt(name, attempt))) === undefined) return { attempt, body }
    }
  }
  const attemptOf = async (name: string, fingerprint: string) => {
    for (let attempt = 0; ; attempt++) {
      const body = await read(bodyAt(name, attempt))
      if (body === undefined || body === fingerprint) return body === undefined ? undefined : attempt
    }
  }
  /** The name under which the activity of a send is kept: another one each time that the API has lost it. */
  const madeNow = async (name: string) => {
    for (let lost = 0; ; lost++) {
      const made = lost === 0 ? name : `${name}-${lost}`
      if ((await read(lostAt(made))) === undefined) return { made, wasLost: lost > 0 }
    }
  }
  const getProgress = async (sendId: string) => {
    const text = await read(progressAt((await nameNow(sendId)).name))
    return text === undefined ? undefined : withoutTime(JSON.parse(text) as RecordedProgress)
  }

  const isStopped = async (sendId: string) => {
    const now = await nameNow(sendId)
    return now.stopped > 0 && (await readOrder(now.name)) === undefined
  }

  return {
    async enter(order) {
      const sendId = sendIdOf(order)
      const { name } = await nameNow(sendId)
      await claim(orderAt(name), JSON.stringify(order))
      return { sendId, order: (await readOrder(name)) ?? order }
    },
    async getEntry(sendId) {
      const now = await nameNow(sendId)
      const order = await readOrder(now.name)
      if (order && sendIdOf(order) === sendId) return { order, name: now.name }
      if (now.stopped > 0) throw new ApplyError('apply/send-stopped', STOPPED)
      throw new ApplyError(
        'apply/order-missing',
        `this worker's plan store has no send \`${sendId}\`: it was begun from another data folder`,
        { facts: { folder } },
      )
    },
    findOrder: find,
    async enterBody({ name }, fingerprint) {
      const { attempt, body: before } = await lastBody(name)
      const path = bodyAt(name, attempt)
      if (before === undefined && (await isStopAsked(name))) await claim(path, NEVER)
      const entered = before ?? (await read(path))
      if (entered !== undefined) return entered === NEVER ? stopped(name) : entered
      // INVARIANT: bytes are one send's. The API answers the same bytes with the same activity, and would pay once for two.
      const owner = join(folder, 'send-body-owners', fileNameOf(fingerprint))
      await claim(owner, `${name}-${attempt}`)
      if ((await read(owner)) !== `${name}-${attempt}`) return undefined
      await claim(path, fingerprint)
      const kept = (await read(path)) ?? fingerprint
      return kept === NEVER ? stopped(name) : kept
    },
    async getBody({ name }) {
      const { body } = await lastBody(name)
      return body === NEVER ? stopped(name) : body
    },
    async refuseBody({ name }, fingerprint) {
      const attempt = await attemptOf(name, fingerprint)
      if (attempt !== undefined) await claim(refusedAt(name, attempt), '')
    },
    async knownBodies() {
      const known = new Set(await list(join(folder, 'send-body-owners')))
      return (fingerprint) => known.has(fileNameOf(fingerprint))
    },
    async findByBody(fingerprint) {
      const owner = await read(join(folder, 'send-body-owners', fileNameOf(fingerprint)))
      return owner === undefined ? undefined : readOrder(owner.slice(0, owner.lastIndexOf('-')))
    },
    hasBody: async ({ name }, fingerprint) => (await attemptOf(name, fingerprint)) !== undefined,
    async getMade({ name }) {
      const { made, wasLost } = await madeNow(name)
      const [activityId, sendTransactionStatusId] = [await read(activityAt(made)), await read(statusAt(made))]
      return { activityId, sendTransactionStatusId, ...(wasLost ? { wasLost } : {}) }
    },
    async setMade({ name }, { activityId, sendTransactionStatusId }) {
      const { made } = await madeNow(name)
      if (activityId !== undefined) await claim(activityAt(made), activityId)
      if (sendTransactionStatusId !== undefined) await claim(statusAt(made), sendTransactionStatusId)
    },
    async lose({ name }, activityId) {
      const { made } = await madeNow(name)
      if ((await read(activityAt(made))) === activityId) await claim(lostAt(made), activityId)
    },
    async letOut({ name }, fingerprint) {
      const gate = await gates.open(fingerprint, () => isStopAsked(name))
      return gate || stopped(name)
    },
    async stop(sendId) {
      const { name } = await nameNow(sendId)
      if ((await readOrder(name)) === undefined) return true
      const progress = await getProgress(sendId)
      // Before it is submitted, its progress says only what that waits for.
      if (progress !== undefined && (progress.state !== 'submitting' || progress.activityId !== undefined)) return false
      await claim(askedAt(name), '')
      await claim(bodyAt(name, 0), NEVER)
      let body = await read(bodyAt(name, 0))
      // Another attempt is made only after the API has refused the one before for good.
      for (let attempt = 1; body !== NEVER; attempt++) {
        const later = await read(bodyAt(name, attempt))
        if (later === undefined) break
        body = later
      }
      if (body !== NEVER && !(await gates.shut(body!))) return false
      await claim(stoppedAt(name), '')
      return true
    },
    async enterAgain(order, isRejected) {
      const { name, stopped } = await nameNow(sendIdOf(order))
      const [before, text] = [await readOrder(name), await read(progressAt(name))]
      if (before === undefined || (before.round ?? 0) >= (order.round ?? 0)) return true
      if (text === undefined || (JSON.parse(text) as SendProgress).state !== 'rejected') return false
      if (!isSameSend(before, order) || !(await isRejected({ order: before, name }))) return false
      // INVARIANT: what follows is there before this one ends, so that nobody enters a round of before between the two.
      await claim(orderAt(nameOf(sendIdOf(order), stopped + 1)), JSON.stringify(order))
      await claim(stoppedAt(name), '')
      return true
    },
    async release(sendId, isGivenUp) {
      const { name } = await nameNow(sendId)
      const [order, text] = [await readOrder(name), await read(progressAt(name))]
      if (order === undefined || text === undefined || (JSON.parse(text) as SendProgress).state !== 'given up')
        return true
      if (!(await isGivenUp({ order, name }))) return false
      await claim(stoppedAt(name), '')
      return true
    },
    async claimLook(look, { organization, reference }) {
      const name = encodeHex(sha256(JSON.stringify([organization.id, look])))
      for (let free = 0; ; free++) {
        const path = join(folder, 'send-looks', nameOf(name, free))
        await claim(path, reference)
        const first = (await read(path)) ?? reference
        if (first === reference || !(await isStopped(sendIdOf({ organization, reference: first })))) return first
      }
    },
    isStopped,
    async putProgress(progress) {
      const { sendId, state } = progress
      const recorded: RecordedProgress = { ...progress, recordedAt: new Date().toISOString() }
      await write(progressAt((await nameNow(sendId)).name), JSON.stringify(recorded), (text) => {
        const before = text === undefined ? undefined : (JSON.parse(text) as SendProgress).state
        // `broadcasting` is taken even after an end: the send is then asked about again, and its workflow learns how it ended.
        if (before && isSendOver(before) && state !== 'broadcasting' && !isSendOver(state)) return false
        return !(before === 'included' && isSendOver(state) && state !== 'included')
      })
    },
    getProgress,
    async recordedAt(sendId) {
      const text = await read(progressAt((await nameNow(sendId)).name))
      return text === undefined ? undefined : (JSON.parse(text) as RecordedProgress).recordedAt
    },
    async setFinal(sendId, final) {
      await claim(finalAt((await nameNow(sendId)).name), JSON.stringify(final))
    },
    async getFinal(sendId) {
      const text = await read(finalAt((await nameNow(sendId)).name))
      return text === undefined ? undefined : (JSON.parse(text) as FinalOfSend)
    },
    async isAsked(sendId) {
      const { body } = await lastBody((await nameNow(sendId)).name)
      return body !== undefined && body !== NEVER
    },
    async list(organizationId) {
      const ids = await list(join(folder, 'sends'))
      const all = await Promise.all(
        ids.map(async (sendId): Promise<ListedOrder> => {
          const now = await nameNow(sendId)
          const order = await readOrder(now.name)
          if (!order) {
            const before = await readOrder(nameOf(sendId, now.stopped - 1))
            return { sendId, order: before!, stopped: true }
          }
          return { sendId, order, stopped: false }
        }),
      )
      return all
        .filter(({ order }) => order.organization.id === organizationId)
        .sort((a, b) => (a.order.orderedAt < b.order.orderedAt ? -1 : 1))
    },
  }
}

const STOPPED = 'its batch was stopped before it was submitted'

function nameOf(sendId: string, stopped: number): string {
  return stopped === 0 ? sendId : `${sendId}.${stopped}`
}
