/**
 * Sending with a rule of paying once, or of telling it as it is, left out. Each trial holds with the real parts, and shows the mistake.
 * What the service does is in test/service/sends/mutants.long.ts.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { SendProgress } from '../../activities/index.ts'
import * as activities from '../../activities/index.ts'
import * as connect from '../../src/cli/background/connect.ts'
import type { QueryClient } from '../../src/client/index.ts'
import { findAlikeReferences } from '../../src/sending/alike-references.ts'
import { checkToken } from '../../src/sending/check-token.ts'
import * as sending from '../../src/sending/index.ts'
import { createFeeCeilings } from '../../src/sending/send-fee-ceiling.ts'
import { orderOf as plainOrder } from '../activities/order.ts'
import { mutated } from '../mutated.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { machineOf, orderOf, type Parts, sendHourLater } from './machine.ts'
import { PAYROLL, type Payday, payday } from './payday.ts'

const closers: (() => Promise<void>)[] = []
let day: Payday
beforeAll(async () => {
  day = await payday((close) => closers.push(close))
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

type Activities = typeof activities
type Trial<Module> = (parts: Module, value: string) => Promise<void>

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-sending-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'plans')
}
const machine = (parts: Parts) => machineOf(day, { folder: newFolder(), parts })
const HASH = `0x${'1'.repeat(64)}`

/** An API that says one thing of a transaction, and has this history of who paid. */
const saying = (status: object, transactions: readonly object[] = []) =>
  ({ query: async (name: string) => (/history/.test(name) ? { transactions } : status) }) as unknown as QueryClient
const asked = { sendTransactionStatusId: 'x', withReceipt: true }

const joinsPast: Trial<Parts> = async (parts) => {
  const [first, second] = await sendHourLater(day, { parts, newFolder })
  expect(second).toBe(first)
}

/** By an interface of the parts that are copied: the trial, and the mistake that it shows. */
const SENDING: readonly (readonly [mistake: string, file: string, from: string, to: string, trial: Trial<Parts>])[] = [
  [
    'nobody asks what other machines have sent',
    'elsewhere.ts',
    'if (orders.length === 0) return found',
    'if (found) return found',
    joinsPast,
  ],
  [
    'an equal payment of another machine is sent again',
    'elsewhere.ts',
    'if (equal.length > 0) throw sentElsewhere(equal)',
    '',
    async (parts, value) => {
      await machine({}).send(orderOf(day, { reference: `EQUAL-${value}`, value }))
      const again = machine(parts).send(orderOf(day, { reference: `OTHER-${value}`, value }))
      await expect(again).rejects.toMatchObject({ code: 'cli/sent-elsewhere' })
    },
  ],
  [
    'another amount goes out under a reference that another machine has used',
    'elsewhere.ts',
    'if (other.length > 0) throw takenElsewhere(other)',
    '',
    async (parts, value) => {
      await machine({}).send(orderOf(day, { reference: `USED-${value}`, value }))
      const other = machine(parts).send(orderOf(day, { reference: `USED-${value}`, value: `${value}7` }))
      await expect(other).rejects.toMatchObject({ code: 'cli/reference-taken' })
    },
  ],
]

const EQUAL_BYTES: Trial<Activities> = async (parts, value) => {
  const made = [0, 37, 74].map((ago) => {
    const orderedAt = new Date(Date.now() - ago).toISOString()
    return machine(parts).enterAndSend(orderOf(day, { reference: `RACE-${value}`, value, orderedAt }))
  })
  const ids = (await Promise.all(made)).map((one) => one!.activityId)
  expect(new Set(ids).size).toBe(1)
}

const frees: Trial<Activities> = async ({ createPlanStore }) => {
  const { sends } = createPlanStore(newFolder())
  const { sendId } = await sends.enter(plainOrder('INV-1'))
  await sends.putProgress({ sendId, reference: 'INV-1', state: 'given up' })
  expect(await sends.release(sendId, async () => false)).toBe(false)
  expect(await sends.findOrder(sendId)).toEqual(plainOrder('INV-1'))
  expect(await sends.release(sendId, async () => true)).toBe(true)
  expect(await sends.findOrder(sendId)).toBeUndefined()
}

/** One that was rejected by the ledger's word alone has its reference; by the API's, the next round has it. */
const asksAgain: Trial<Activities> = async ({ createPlanStore }) => {
  const { sends } = createPlanStore(newFolder())
  const { sendId } = await sends.enter(plainOrder('INV-1'))
  const next = { ...plainOrder('INV-1'), round: 1 }
  expect(await sends.enterAgain(next, async () => true)).toBe(false)
  await sends.putProgress({ sendId, reference: 'INV-1', state: 'rejected' })
  expect(await sends.enterAgain(next, async () => false)).toBe(false)
  expect(await sends.findOrder(sendId)).toEqual(plainOrder('INV-1'))
  expect(await sends.enterAgain({ ...next, amount: '2 wei', parameters: {} }, async () => true)).toBe(false)
  expect(await sends.enterAgain(next, async () => true)).toBe(true)
  expect(await sends.findOrder(sendId)).toEqual(next)
}

const ACTIVITIES: readonly (readonly [string, file: string, from: string, to: string, trial: Trial<Activities>])[] = [
  [
    'the time in a body is when it was ordered',
    'send-times.ts',
    'return atMs - ((((atMs - offset) % HOUR_MS) + HOUR_MS) % HOUR_MS)',
    'return atMs + 0 * offset',
    EQUAL_BYTES,
  ],
  [
    'a reference is freed by the word of the ledger alone',
    'send-ledger.ts',
    'if (!(await isGivenUp({ order, name }))) return false',
    '',
    frees,
  ],
  [
    'what was rejected is asked for again by the word of the ledger alone',
    'send-ledger.ts',
    ' || !(await isRejected({ order: before, name }))',
    '',
    asksAgain,
  ],
  [
    'what nobody has rejected is asked for again',
    'send-ledger.ts',
    "if (text === undefined || (JSON.parse(text) as SendProgress).state !== 'rejected') return false",
    '',
    asksAgain,
  ],
  [
    'a reference whose send was never broadcast stays used',
    'send-ledger.ts',
    "await claim(stoppedAt(name), '')\n      return true\n    },\n    async claimLook",
    'return true\n    },\n    async claimLook',
    frees,
  ],
  [
    'what was never broadcast has failed',
    'sends.ts',
    "if (txStatus === 'FAILED' && transactionHash === undefined) {",
    "if (txStatus === 'never') {",
    async ({ readTransactionState }) => {
      const said = { txStatus: 'FAILED', error: { message: 'insufficient funds' } }
      expect((await readTransactionState(saying(said), plainOrder('A'), asked)).state).toBe('given up')
    },
  ],
  [
    'one that was replaced is told to be sent again',
    'sends.ts',
    "const isReplaced = txStatus === 'FAILED' && saysReplaced(message)",
    'const isReplaced = false',
    async ({ readTransactionState }) => {
      const message = `replaced by transaction ${HASH} of 0xa with nonce 1, which was included`
      const said = { txStatus: 'FAILED', eth: { txHash: HASH }, error: { message } }
      const { error } = await readTransactionState(saying(said), plainOrder('A'), asked)
      expect(error?.code).toBe('apply/transaction-replaced')
    },
  ],
  [
    'a token is paid when its transaction is in a block',
    'sends.ts',
    "if (transaction.state !== 'included' || !movesNothing) return ended",
    'if (ended) return ended',
    async ({ readTransactionState }) => {
      const data = `0xa9059cbb${'b0'.padStart(64, '0')}${'1'.padStart(64, '0')}`
      const order = { ...plainOrder('A'), parameters: { from: '0xf1', caip2: 'eip155:1', to: '0xe2', data } }
      const fee = { amount: '1', caip19: 'eip155:1/slip44:60' }
      const history = [{ transactionHash: HASH, block: { number: '7' }, fee, transfers: [] }]
      const said = { txStatus: 'INCLUDED', eth: { txHash: HASH } }
      const { state, error } = await readTransactionState(saying(said, history), order, asked)
      expect([state, error?.code]).toEqual(['failed', 'apply/nothing-moved'])
    },
  ],
  [
    'a send of another folder has failed',
    'codes.ts',
    "or give all machines one ledger; do not send it again',\n    retryable: true,",
    "or give all machines one ledger; do not send it again',",
    async (parts) => {
      const reading = machine(parts).steps.readTransaction({ sendId: 'f'.repeat(64) })
      await expect(reading).rejects.toMatchObject({ type: 'apply/order-missing', nonRetryable: false })
    },
  ],
]

/** What one file of `src/sending` decides by itself. */
const PURE: readonly (readonly [string, file: string, from: string, to: string, trial: Trial<never>])[] = [
  [
    'what may have been sent was not begun',
    'states.ts',
    "if (isAsked) return 'unknown'",
    '',
    async ({ stateOf }: Pick<typeof sending, 'stateOf'>) => {
      expect(stateOf({ isAsked: true })).toBe('unknown')
      const progress: SendProgress = { sendId: 's', reference: 'A', state: 'submitting', fingerprint: 'sha256:1' }
      expect(stateOf({ progress })).toBe('unknown')
    },
  ],
  [
    'what a node refuses is shown as broadcast, and nothing more',
    'states.ts',
    "return error?.code === 'apply/transaction-waits' || error?.code === HELD ? 'stuck' : state",
    'return state',
    async ({ stateOf }: Pick<typeof sending, 'stateOf'>) => {
      const error = { code: 'apply/transaction-waits', message: 'insufficient funds' } as const
      const progress = { sendId: 's', reference: 'A', state: 'broadcasting', error } as SendProgress
      expect(stateOf({ progress })).toBe('stuck')
    },
  ],
  [
    'what was cancelled is shown as replaced',
    'states.ts',
    "how === 'replaced' && replacedBy?.cancels ? 'cancelled' : (how ?? state)",
    'how ?? state',
    async ({ stateOf }: Pick<typeof sending, 'stateOf'>) => {
      const error = { code: 'apply/transaction-replaced', message: 'replaced' } as const
      const progress = { sendId: 's', reference: 'A', state: 'failed', error } as SendProgress
      expect(stateOf({ progress, replacedBy: { reference: 'A/cancel', cancels: true } as never })).toBe('cancelled')
    },
  ],
  [
    'what the API has in a block is final',
    'states.ts',
    "finality !== undefined && isFinality(finality) ? 'final' : state",
    "finality ? 'final' : state",
    async ({ stateOf }: Pick<typeof sending, 'stateOf'>) => {
      const progress = { sendId: 's', reference: 'A', state: 'included' } as SendProgress
      expect(stateOf({ progress, finality: { reportedBy: 'api' } })).toBe('included')
    },
  ],
  [
    'an address book entry that is named like a wallet is paid in its place',
    'order.ts',
    'if (written.startsWith(OWN_WALLET)) {',
    'if (written.startsWith(OWN_WALLET) && !Object.hasOwn(place.directory.addressBook, written)) {',
    async ({ makeOrder }: Pick<typeof sending, 'makeOrder'>) => {
      const wallet = { walletId: 'w', walletName: 'treasury', imported: false, exported: false }
      const own = '0x00000000000000000000000000000000000000f0'
      const wallets = [{ wallet, accounts: [{ address: own, name: '' }] }]
      const directory = { addressBook: { 'wallet.treasury': PAYROLL }, assets: {}, privateKeys: [], wallets }
      const request = { from: 'treasury', to: 'wallet.treasury', amount: '1eth', chain: SEPOLIA, reference: 'A' }
      const order = makeOrder(request as never, { directory, organization: plainOrder('A').organization, now: 0 })
      expect(order.parameters).toMatchObject({ to: own })
    },
  ],
  [
    'references that are written in two ways are two',
    'alike-references.ts',
    'const name = bareOf(order.reference)',
    'const name = order.reference\n    if (name) continue',
    async (parts: { readonly findAlikeReferences: typeof findAlikeReferences }) => {
      const alike = (reference: string) =>
        parts.findAlikeReferences([plainOrder(reference)], { entered: [plainOrder('INV-42')] })
      for (const reference of ['inv-42', 'INV42', 'INV–42', 'INV 42', 'ΙNV-42', 'lNV-42'])
        expect(alike(reference), reference).toMatchObject([{ isEqual: true }])
      expect(alike('INV-43')).toEqual([])
    },
  ],
  [
    'a send has no fee ceiling unless somebody says one',
    'send-fee-ceiling.ts',
    'maxFeePerGas: wei.toString(), ...limit',
    '...limit',
    async (parts: { readonly createFeeCeilings: typeof createFeeCeilings }) => {
      const { sends } = activities.createPlanStore(newFolder())
      const ceilings = parts.createFeeCeilings({ nodes: {}, caps: { 'eip155:1': 7n }, multiples: {} }, sends)
      expect(await ceilings(plainOrder('A'))).toMatchObject({ parameters: { maxFeePerGas: '7' } })
    },
  ],
  [
    'the decimals of the definitions are believed',
    'check-token.ts',
    'if (other === undefined) return',
    'if (name) return',
    async (parts: { readonly checkToken: typeof checkToken }) => {
      const asset = { chain: 'eip155:1', address: '0xe2', decimals: 18, symbol: 'USDC' }
      const assets = [{ caip19: 'eip155:1/erc20:0xe2', decimals: 6 }]
      const client = { query: async () => ({ assets }) } as unknown as QueryClient
      const checking = parts.checkToken(client, { name: 'usdc', asset } as never)
      await expect(checking).rejects.toMatchObject({ code: 'cli/other-decimals' })
    },
  ],
]

let sends = 90_000
const nextValue = () => `${sends++}`

test.each(SENDING)('sending: %s: found', async (_, file, from, to, trial) => {
  await trial({}, nextValue())
  const mutant = { mistake: '', file: `sending/${file}`, from, to }
  const parts = await mutated<Parts>(mutant, { module: 'sending/index.ts', copied: ['sending'] })
  await expect(trial({ assertNotElsewhere: parts.assertNotElsewhere! }, nextValue())).rejects.toThrow()
})

test.each(ACTIVITIES)('activities of sends: %s: found', async (_, file, from, to, trial) => {
  await trial(activities, nextValue())
  const mutant = { mistake: '', file: `../activities/${file}`, from, to }
  const parts = await mutated<Activities>(mutant, { module: '../activities/index.ts', copied: ['../activities'] })
  await expect(trial(parts, nextValue())).rejects.toThrow()
})

test.each(PURE)('sending: %s: found', async (_, file, from, to, trial) => {
  const real = { ...sending, findAlikeReferences, createFeeCeilings, checkToken }
  await trial(real as never, nextValue())
  const mutant = { mistake: '', file: `sending/${file}`, from, to }
  const parts = await mutated<never>(mutant, { module: `sending/${file}`, copied: [] })
  await expect(trial(parts, nextValue())).rejects.toThrow()
})

test('sending: who looks is not told that nobody carries on what is open: found', async () => {
  const dataDir = newFolder()
  mkdirSync(join(dataDir, 'service'), { recursive: true, mode: 0o700 })
  writeFileSync(join(dataDir, 'service', 'bootstrap.json'), '{"organizationId":"o"}', { mode: 0o600 })
  const trial = async ({ findSeen }: Pick<typeof connect, 'findSeen'>) =>
    expect(await findSeen({ settings: { dataDir } as never })).toMatchObject({ organizationId: 'o', isDown: true })
  await trial(connect)
  const mutant = { mistake: '', file: 'cli/background/connect.ts', from: ', isDown: true,', to: ',' }
  const mistaken = await mutated<typeof connect>(mutant, { module: 'cli/background/connect.ts', copied: [] })
  await expect(trial(mistaken)).rejects.toThrow(/isDown/)
})
