/** One reference, however many machines have it: each has a data folder of its own, and the API is all that they share. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTransactionState, type SendOrder, sendIdOf } from '../../activities/index.ts'
import { bodyTimeOf } from '../../activities/send-times.ts'
import { createPlaces, isThere } from '../activities/store-places.ts'
import { runs } from '../runs.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { type MachineOptions, machineOf, orderOf as paydayOrder, sendHourLater } from './machine.ts'
import { PAYROLL, payday } from './payday.ts'

const HOUR = 60 * 60 * 1000
const closers: (() => Promise<void>)[] = []
const atEnd = (close: () => Promise<void>) => closers.push(close)
let day: Awaited<ReturnType<typeof payday>>
beforeAll(async () => {
  day = await payday(atEnd)
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

/** A machine with a data folder of its own, and nothing in it. */
const machine = (of: MachineOptions = {}) => machineOf(day, { folder: join(testFolder(atEnd), 'plans'), ...of })

const orderOf = (reference: string, more: Partial<SendOrder> = {}, value = '7') =>
  paydayOrder(day, { reference, value, ...more })

describe('a reference is the organization’s, not a folder’s', () => {
  test('begun in eight data folders at once it is one activity and one payment, round after round', async () => {
    for (let round = 0; round < runs(10); round++) {
      const made = await Promise.all(
        Array.from({ length: 8 }, (_, at) => {
          const orderedAt = new Date(Date.now() - 37 * at).toISOString()
          return machine().send(orderOf(`RACE-${round}`, { orderedAt }, String(1000 + round)))
        }),
      )
      expect(new Set(made.map(({ activityId }) => activityId)).size).toBe(1)
    }
    const wanted = Array.from({ length: runs(10) }, (_, round) => BigInt(1000 + round))
    // Another payment, had there been one, would have been signed before the last of these.
    const areThere = (paid: ReadonlyMap<bigint, number>) => wanted.every((value) => paid.has(value))
    await expect.poll(async () => areThere(await paidOnChain())).toBe(true)
    const paid = await paidOnChain()
    expect(wanted.map((value) => paid.get(value))).toEqual(wanted.map(() => 1))
  })

  test('a machine that is gone after its submit is continued by another, with the same bytes, to its block', async () => {
    const order = orderOf('CONTINUED', {}, '61')
    const gone = await machine().send(order)
    const next = machine()
    const { activityId } = await next.send(orderOf('CONTINUED', {}, '61'))
    expect(activityId).toBe(gone.activityId)
    const sendId = sendIdOf(order)
    await expect.poll(async () => (await next.steps.readTransaction({ sendId })).state).toBe('included')
    expect((await paidOnChain()).get(61n)).toBe(1)
  })

  test('sent an hour ago from a folder that is gone, it is found and joined; bytes of this hour would pay again', async () => {
    const newFolder = () => join(testFolder(atEnd), 'plans')
    const [first, second] = await sendHourLater(day, { newFolder })
    expect(second).toBe(first)
  })

  test('a body that has lain until its hour was over is made anew after a look at what others sent meanwhile', async () => {
    const late = machine({ clock: () => Date.now() })
    const { sendId } = await late.planStore.sends.enter(
      orderOf('LATE', { orderedAt: new Date(Date.now() - 3 * HOUR).toISOString() }, '52'),
    )
    const other = await machine().send(orderOf('LATE', {}, '52'))
    await late.steps.prepareSend({ sendId, timestampMs: Date.now() })
    expect((await late.steps.submitSend({ sendId })).activityId).toBe(other.activityId)
  })

  test('an equal send of another folder is refused, naming its activity, until it is said to be another', async () => {
    const first = await machine().send(orderOf('EQUAL-1', {}, '53'))
    const next = orderOf('EQUAL-2', {}, '53')
    await expect(machine().send(next)).rejects.toMatchObject({
      code: 'cli/sent-elsewhere',
      next: `if this is another payment, say so with --not ${first.activityId}`,
      facts: { submitted: 'nothing' },
    })
    expect((await machine().send(next, [first.activityId!])).activityId).not.toBe(first.activityId)
  })

  test('a fee that nobody said is the one that another folder has offered, up to the cap of this one', async () => {
    const { address } = day
    const offering = (maxFeePerGas: string | undefined, capWei: string, value: string): Partial<SendOrder> => ({
      parameters: { from: address, caip2: SEPOLIA, to: PAYROLL, value, ...(maxFeePerGas ? { maxFeePerGas } : {}) },
      feeCeiling: { by: 'cap', capWei },
    })
    const first = await machine().send(orderOf('OFFERED', offering('40000000000', '40000000000', '56')))
    const more = offering('500000000000', '500000000000', '56')
    expect((await machine().send(orderOf('OFFERED', more))).activityId).toBe(first.activityId)
    await expect(
      machine().send(orderOf('OFFERED', offering('30000000000', '30000000000', '56'))),
    ).rejects.toMatchObject({ code: 'cli/reference-taken', facts: { submitted: 'nothing' } })
    // From before sends had a ceiling.
    const bare = await machine().send(orderOf('BARE', {}, '57'))
    const now = offering('40000000000', '40000000000', '57')
    expect((await machine().send(orderOf('BARE', now))).activityId).toBe(bare.activityId)
  })

  test('another amount under a reference that another folder used is refused', async () => {
    const first = await machine().send(orderOf('USED', {}, '54'))
    await expect(machine().send(orderOf('USED', {}, '55'))).rejects.toMatchObject({
      code: 'cli/reference-taken',
      facts: { activity: first.activityId, submitted: 'nothing' },
    })
  })

  test('another reference that has the same times by chance is refused until it is said to be another, and then sent', async () => {
    const [used, free] = referencesOfOneTime()
    const first = await machine().send(orderOf(used, {}, '64'))
    const next = orderOf(free, {}, '65')
    await expect(machine().send(next)).rejects.toMatchObject({
      code: 'cli/reference-taken',
      facts: { activity: first.activityId, submitted: 'nothing' },
      next: expect.stringMatching(new RegExp(`say so with --not ${first.activityId}$`)),
    })
    expect((await machine().send(next, [first.activityId!])).activityId).not.toBe(first.activityId)
    await expect.poll(async () => (await paidOnChain()).get(65n)).toBe(1)
    expect((await paidOnChain()).get(64n)).toBe(1)
  })

  test('a reference whose send was given up is free from another folder too, and has the next send from then on', async () => {
    const [all, some, less] = [`${1000n * 10n ** 18n}`, '58', '59'].map((value) => orderOf('FREED', {}, value))
    const first = machine()
    const { sendTransactionStatusId } = await first.send(all!)
    const asked = { sendTransactionStatusId: sendTransactionStatusId!, withReceipt: false }
    await expect.poll(async () => (await readTransactionState(first.client, all!, asked)).state).toBe('given up')
    const next = await machine().send(some!)
    // Also what was sent before: it would be paid beside what has its reference now.
    for (const order of [less!, all!]) {
      await expect(machine().send(order)).rejects.toMatchObject({
        code: 'cli/reference-taken',
        facts: { activity: next.activityId, submitted: 'nothing' },
      })
    }
  })

  test('a worker with another folder says whose send it is, and never that it has failed', async () => {
    const sendId = sendIdOf(orderOf('FOREIGN'))
    await expect(machine().steps.readTransaction({ sendId })).rejects.toMatchObject({
      type: 'apply/order-missing',
      nonRetryable: false,
    })
  })
})

describe.runIf(isThere('PostgreSQL'))('with one ledger for all machines', () => {
  const places = createPlaces()
  atEnd(() => places.close())

  test('begun on eight machines at once it is one activity and one payment, also where each was told that it is none before', async () => {
    const store = await places.begin('PostgreSQL')
    const machines: ReturnType<typeof machine>[] = []
    while (machines.length < 8) machines.push(machine({ folder: await store.machine() }))
    const rounds = runs(10)
    for (let round = 0; round < rounds; round++) {
      const made = await Promise.all(
        machines.map((one, at) => {
          // Bytes of another hour each: what decides is the ledger, and not that equal requests are the same bytes.
          const orderedAt = new Date(Date.now() - at * HOUR).toISOString()
          return one.enterAndSend(orderOf(`ONE-${round}`, { orderedAt }, String(50_000 + round)))
        }),
      )
      expect(new Set(made.map((one) => one!.activityId)).size).toBe(1)
    }
    const wanted = Array.from({ length: rounds }, (_, round) => BigInt(50_000 + round))
    const areThere = (paid: ReadonlyMap<bigint, number>) => wanted.every((value) => paid.has(value))
    await expect.poll(async () => areThere(await paidOnChain())).toBe(true)
    const paid = await paidOnChain()
    expect(wanted.map((value) => paid.get(value))).toEqual(wanted.map(() => 1))
  })

  test('of two machines that free a reference at the same moment for two different orders one may send', async () => {
    const store = await places.begin('PostgreSQL')
    const [one, other] = [await store.machine(), await store.machine()].map((folder) => machine({ folder }))
    const all = orderOf('TWO', {}, `${1000n * 10n ** 18n}`)
    const { sendTransactionStatusId } = (await one!.enterAndSend(all))!
    const sendId = sendIdOf(all)
    const asked = { sendTransactionStatusId: sendTransactionStatusId!, withReceipt: false }
    const stateOf = async () => (await readTransactionState(one!.client, all, asked)).state
    await expect.poll(stateOf).toBe('given up')
    await one!.planStore.sends.putProgress({ sendId, reference: 'TWO', state: 'given up' })
    const [some, less] = [orderOf('TWO', {}, '60001'), orderOf('TWO', {}, '60002')]
    const free = async (from: typeof one, order: SendOrder) => {
      await from!.planStore.sends.release(sendId, async () => (await stateOf()) === 'given up')
      return from!.enterAndSend(order)
    }
    const begun = await Promise.all([free(one, some), free(other, less)])
    expect(begun.filter((made) => made !== undefined)).toHaveLength(1)
    const sent = begun[0] ? 60_001n : 60_002n
    await expect.poll(async () => (await paidOnChain()).get(sent)).toBe(1)
    const paid = await paidOnChain()
    expect([paid.get(60_001n) ?? 0, paid.get(60_002n) ?? 0].sort()).toEqual([0, 1])
  })
})

test('send: from a second data folder the same payment is refused under another reference and another amount under its own', async () => {
  expect((await day.send(['--yes'], { ref: 'CLI-1', amount: '3gwei' })).exit).toBe(0)
  const elsewhere = (ref: string, amount: string, ...more: string[]) => {
    const flags = { from: day.walletName, to: 'payroll', amount, chain: SEPOLIA, ref }
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
    const env = { ...day.env, QUORATE_DATA_DIR: join(testFolder(atEnd), 'data') }
    return quorate(['send', 'defs', ...args, ...more], { env, cwd: day.folder })
  }
  const equal = await elsewhere('CLI-2', '3gwei', '--yes')
  expect([equal.exit, equal.stderr]).toEqual([4, expect.stringContaining('was sent before, and not from this ledger')])
  const [, activity] = /--not ([0-9a-f-]+)/.exec(equal.stderr)!
  const another = await elsewhere('CLI-2', '3gwei', '--not', activity!)
  expect(another.stderr).toContain('it was not sent')
  const taken = await elsewhere('CLI-1', '4gwei', '--yes')
  expect([taken.exit, taken.stderr]).toEqual([4, expect.stringContaining('`CLI-1` stands for another send')])
  // Its Temporal is another machine's, whose payloads this folder has no key for: it says what it found, and begins nothing.
  const same = await elsewhere('CLI-1', '3gwei', '--yes')
  expect(same.stderr).toContain('This reference was sent from elsewhere')
  expect([await sentOf('3000000000'), await sentOf('4000000000')]).toEqual([1, 0])
})

test('send: a reference that looks like one of an equal payment is refused until it is said to be another, and told of any other', async () => {
  expect((await day.send(['--yes'], { ref: 'RE-100', amount: '5gwei' })).exit).toBe(0)
  for (const ref of ['re-100', 'RE100', 'RE–100', 'RЕ-100']) {
    const { exit, stderr } = await day.send(['--yes'], { ref, amount: '5gwei' })
    expect([ref, exit, stderr]).toEqual([ref, 4, expect.stringContaining("say so with --not 'RE-100'")])
  }
  expect(await sentOf('5000000000')).toBe(1)
  expect((await day.send(['--yes', '--not', 'RE-100'], { ref: 're-100', amount: '5gwei' })).exit).toBe(0)
  expect(await sentOf('5000000000')).toBe(2)
  const other = await day.send(['--dry-run'], { ref: 'RE 100', amount: '6gwei' })
  expect(other.stdout).toMatch(/beware +reference RE 100 looks like (RE|re)-100/)
  const rows = `ref,from,to,amount,chain\nROW-1,${day.walletName},payroll,8gwei,${SEPOLIA}\nrow_1,${day.walletName},payroll,8gwei,${SEPOLIA}\n`
  writeFiles(day.folder, { 'rows.csv': rows })
  const batch = await quorate(['send', 'defs', '--batch', 'rows.csv', '--yes'], { env: day.env, cwd: day.folder })
  expect([batch.exit, batch.stderr]).toEqual([4, expect.stringContaining('reference row_1 looks like ROW-1')])
})

test('send: of references that look alike and are begun at the same moment for the same payment, one is sent', async () => {
  for (let round = 0; round < 3; round++) {
    const amount = `${70 + round}gwei`
    const both = await Promise.all(
      [`AT-${round}-ONCE`, `at-${round}-once`].map((ref) => day.send(['--yes'], { ref, amount })),
    )
    expect(both.map(({ exit }) => exit).sort()).toEqual([0, 4])
    expect(both.find(({ exit }) => exit === 4)?.stderr).toContain('error cli/reference-alike: reference')
    expect(await sentOf(`${70 + round}000000000`)).toBe(1)
  }
})

test('without one ledger, references that look alike and are begun at the same moment for the same payment are both sent; an equal send that comes later is told', async () => {
  const [one, other] = ['FAR-1', 'far-1'].map((reference) => orderOf(reference, {}, '66'))
  // Each machine has asked, before the other's was among the activities.
  const made = await Promise.all([machine().enterAndSend(one!), machine().enterAndSend(other!)])
  expect(new Set(made.map((each) => each!.activityId)).size).toBe(2)
  await expect.poll(async () => (await paidOnChain()).get(66n)).toBe(2)
  const third = machine().send(orderOf('FAR_1', {}, '66'))
  await expect(third).rejects.toMatchObject({ code: 'cli/sent-elsewhere', facts: { submitted: 'nothing' } })
})

/** Two references whose requests have the same time: an hour has 3,600,000 of them, and of a few thousand references two share one. */
function referencesOfOneTime(): readonly [string, string] {
  const at = Date.now()
  const seen = new Map<number, string>()
  for (let number = 0; ; number++) {
    const reference = `CHANCE-${number}`
    const time = bodyTimeOf(orderOf(reference), at)
    const before = seen.get(time)
    if (before !== undefined) return [before, reference]
    seen.set(time, reference)
  }
}

/** How many transactions pay so many wei to the payroll, by all blocks of the chain. */
async function paidOnChain(): Promise<ReadonlyMap<bigint, number>> {
  const { rpc } = day.anvil
  const head = Number(await rpc<string>('eth_blockNumber'))
  const paid = new Map<bigint, number>()
  for (let number = 0; number <= head; number++) {
    const block = await rpc<RpcBlock>('eth_getBlockByNumber', `0x${number.toString(16)}`, true)
    for (const { to, value } of block.transactions) {
      if (to?.toLowerCase() === PAYROLL) paid.set(BigInt(value), (paid.get(BigInt(value)) ?? 0) + 1)
    }
  }
  return paid
}

interface RpcBlock {
  readonly transactions: readonly { readonly to: string | null; readonly value: string }[]
}

/** How many of the newest sends pay so many wei. */
async function sentOf(value: string): Promise<number> {
  const { activities } = await day.service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  return activities.filter(({ intent }) => intent.ethSendTransactionIntent?.value === value).length
}
