/** One table of states: each send is in the same state, with the same exit code and next step, at every door that tells of it. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { countsOf, readTransactionState, type SendOrder, type SendProgress } from '../../activities/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import {
  exitOfSend,
  nextStep,
  renderListedSend,
  renderNext,
  renderNextOfMany,
  renderSend,
  toSendJson,
} from '../../src/cli/views/send.ts'
import type { QueryClient } from '../../src/client/index.ts'
import { RECONCILE_COMMAND, replacedText } from '../../src/protocol/index.ts'
import { toBatchReport } from '../../src/sending/batch-report.ts'
import {
  exitOfBatch,
  nextOf,
  SEND_STATES,
  type SendState,
  stateOf,
  toReportCsv,
  withReplacers,
} from '../../src/sending/index.ts'
import { orderOf } from '../activities/order.ts'

const plain = createStyle(false)
const HASH = `0x${'1'.repeat(64)}`
const order: SendOrder = orderOf('INV-1')
const at = (state: SendProgress['state'], more: Partial<SendProgress> = {}): SendProgress => ({
  sendId: 's',
  reference: 'INV-1',
  state,
  ...more,
})
/** With what an earlier release has left in a ledger as the next step of whatever failed. */
const because = (code: string) => ({ error: { code, message: 'why', next: 'correct the cause' } })
const BY = { reference: 'INV-1/cancel-2gwei', cancels: true }

const NOTHING = /^nothing was broadcast/

/** How each state comes about; those without progress are told of by the ledger alone. */
const CASES: Readonly<Record<SendState, Parameters<typeof stateOf>[0]>> = {
  'not begun': { row: 'not begun' },
  submitting: { progress: at('submitting') },
  unknown: { progress: at('submitting', { fingerprint: 'sha256:1' }) },
  waiting: { progress: at('waiting', { fingerprint: `sha256:${'1'.repeat(64)}`, activityId: 'a' }) },
  broadcasting: { progress: at('broadcasting', { activityId: 'a' }) },
  stuck: { progress: at('broadcasting', because('apply/transaction-waits')) },
  included: { progress: at('included', { transactionHash: HASH }) },
  final: {
    progress: at('included', { transactionHash: HASH }),
    finality: { reportedBy: 'node', block: '7', confirmations: 12, of: 12 },
  },
  reverted: { progress: at('failed', { transactionHash: HASH, ...because('apply/transaction-reverted') }) },
  replaced: { progress: at('failed', because('apply/transaction-replaced')) },
  cancelled: { progress: at('failed', because('apply/transaction-replaced')), replacedBy: BY },
  failed: { progress: at('failed', because('apply/transaction-failed')) },
  denied: { progress: at('failed', because('client/denied')) },
  rejected: { progress: at('rejected', because('apply/rejected')) },
  'given up': { progress: at('given up', because('apply/transaction-given-up')) },
  stopped: { row: 'stopped' },
  'left out': { row: 'left out' },
  taken: { row: 'taken' },
}
const states = Object.keys(SEND_STATES) as readonly SendState[]

describe.each(states)('send states: %s', (state) => {
  const { progress, row, replacedBy, finality } = CASES[state]
  const { exit, isOver } = SEND_STATES[state]

  test('is the same in the text and JSON of `send` and `sends`, and their exit code', () => {
    expect(stateOf(CASES[state])).toBe(state)
    if (progress === undefined) return
    const by = replacedBy as typeof BY | undefined
    const known = { ...(by && { replacedBy: by }), ...(finality && { finality }) }
    expect(renderSend(progress, plain, 0, known)).toMatch(new RegExp(`^${state}\\b`))
    expect(renderListedSend({ order, progress, ...known }, plain, 0)).toContain(`  ${state}`)
    const json = toSendJson({ order, progress, ...known })
    expect(json).toMatchObject({ state })
    expect(json.next).toBe(nextOf(CASES[state]))
    expect(exitOfSend(progress)).toBe(exit)
    const isPaidOrMoves = ['included', 'final', 'submitting', 'broadcasting'].includes(state)
    const next = renderNext(progress, plain, by)
    if (isPaidOrMoves) expect([next, json.next]).toEqual(['', undefined])
    // The same command goes on when somebody has voted.
    else if (state === 'waiting')
      expect(next).toMatch(/^ {2}next +approve it with `quorate approve 1111-1111`; the same/)
    else expect(next).toBe(`  next       ${json.next}\n`)
    const many = [1, 2, 3, 4, 5, 6, 7].map((name) => ({ name: `INV-${name}`, next: json.next }))
    expect(renderNextOfMany(many, plain)).toBe(
      json.next === undefined ? '' : `  next       INV-3, INV-4, INV-5, INV-6, INV-7 and 2 more: ${json.next}\n`,
    )
  })

  test('of what waits the next step names its code, at every door', () => {
    if (state !== 'waiting') return
    const next = 'approve it with `quorate approve 1111-1111`, or end it with `quorate reject 1111-1111`'
    expect(toSendJson({ order, progress: progress! }).next).toBe(next)
    expect(nextStep({ order, ...CASES[state] })).toMatchObject({ name: 'INV-1', next })
    const waiting = [2, 3, 4, 5, 6, 7].map((digit) => ({
      order: { reference: `INV-${digit}` },
      progress: { ...progress!, fingerprint: `sha256:${String(digit).repeat(64)}` },
    }))
    expect(renderNextOfMany(waiting.slice(0, 2).map(nextStep), plain)).toBe(
      '  next       INV-2, INV-3: approve them with `quorate approve 2222-2222 3333-3333`, or end them with `quorate reject 2222-2222 3333-3333`\n',
    )
    expect(renderNextOfMany(waiting.map(nextStep), plain)).toMatch(
      /INV-7 and 1 more: approve them with `quorate approve 3333-3333 .* 7777-7777`, .*; `quorate approvals` shows the codes of the others\n$/,
    )
  })

  test('is the same in the report of a batch, its CSV and its exit code', () => {
    const batch = { batchId: 'b', organization: order.organization, file: 'f.csv', orderedAt: '', rows: [] }
    const stand = { row: { line: 2, order }, sendId: 's', state: row ?? progress!.state }
    const facts = { ...(progress && { progress }), ...(replacedBy && { replacedBy }), ...(finality && { finality }) }
    const report = toBatchReport(batch, [{ ...stand, ...facts }])
    expect(report.counts).toEqual({ [state]: 1 })
    // While it runs it is counted by the ledger alone, which asks no node and reads no other send.
    const running = { unknown: 'submitting', stuck: 'broadcasting', final: 'included', cancelled: 'replaced' }
    expect(countsOf([{ ...stand, ...facts }])).toEqual({ [running[state as keyof typeof running] ?? state]: 1 })
    expect(toReportCsv(report).split('\r\n')[1]!.split(',')[5]).toBe(state)
    expect(exitOfBatch(report)).toBe(exit)
    expect(report.rows[0]!.next).toBe(nextOf(CASES[state]))
    expect(toReportCsv(report).split('\r\n')[1]).toContain(report.rows[0]!.next ?? '')
  })

  test('says of what was not paid whether its fee is spent, or that nothing was broadcast', () => {
    const said = { reverted: /^its fee is spent/, rejected: NOTHING, denied: NOTHING, 'given up': NOTHING }
    expect(nextOf(CASES[state]) ?? '').toMatch(said[state as keyof typeof said] ?? /^/)
  })

  test('is in docs/sends.md, with its end and exit code', () => {
    const docs = readFileSync(new URL('../../docs/sends.md', import.meta.url), 'utf8')
    expect(docs).toMatch(new RegExp(`^\\| \`${state}\` \\| .* \\| ${isOver ? 'yes' : 'no'} \\| ${exit} \\|$`, 'm'))
  })
})

test.each<[object, SendState]>([
  [{ txStatus: 'INITIALIZED' }, 'broadcasting'],
  [{ txStatus: 'BROADCASTING', eth: { txHash: HASH } }, 'broadcasting'],
  [{ txStatus: 'BROADCASTING', error: { message: 'a unit of gas costs too much' } }, 'stuck'],
  [
    { txStatus: 'BROADCASTING', error: { message: `nothing is signed until ${RECONCILE_COMMAND} has identified it` } },
    'stuck',
  ],
  [{ txStatus: 'INCLUDED', eth: { txHash: HASH } }, 'included'],
  [{ txStatus: 'INCLUDED', eth: { txHash: HASH }, error: { message: 'execution reverted' } }, 'reverted'],
  [{ txStatus: 'FAILED', error: { message: 'insufficient funds' } }, 'given up'],
  [
    {
      txStatus: 'FAILED',
      eth: { txHash: HASH },
      error: { message: replacedText({ hash: HASH, sender: '0xa', nonce: 1 }) },
    },
    'replaced',
  ],
  [{ txStatus: 'FAILED', solana: { signature: 's' }, error: { message: 'its blockhash has expired' } }, 'failed'],
])('send states: what the API says as %j is %s', async (said, state) => {
  const client = { query: async () => said } as unknown as QueryClient
  const asked = { sendTransactionStatusId: 'x', withReceipt: false }
  const transaction = await readTransactionState(client, order, asked)
  expect(stateOf({ progress: at(transaction.state, transaction) })).toBe(state)
  const isHeld = JSON.stringify(said).includes(RECONCILE_COMMAND)
  expect(transaction.error?.code === 'apply/transaction-held').toBe(isHeld)
})

test('a worker with the key of another user is told, and what has the send go on', () => {
  const message = "`INV-1` was ordered by alice, and this worker has bob's key"
  const next = 'start a worker with a key of the user who is named'
  const progress = at('submitting', { error: { code: 'apply/other-user', message, next } })
  expect(renderListedSend({ order, progress }, plain, 0)).toMatch(/submitting +`INV-1` was ordered by alice, and this/)
  expect(renderNext(progress, plain)).toContain(next)
  expect(nextOf({ progress: at('rejected', { error: { code: 'apply/other-user', message, next } }) })).not.toBe(next)
})

test('send states: what holds still until `sends reconcile` is not said to go on by itself', () => {
  const waits = (code: string) => nextOf({ progress: at('broadcasting', { error: { code, message: 'in any words' } }) })
  expect(waits('apply/transaction-waits')).toMatch(/^wait: it goes on by itself/)
  expect(waits('apply/transaction-held')).toMatch(/^give `quorate sends reconcile` where the service runs/)
})

test.each<[won: 'INV-1' | 'INV-1/replace-2gwei' | 'INV-1/cancel-3gwei', states: readonly (SendState | undefined)[]]>([
  ['INV-1', ['included', 'replaced', 'replaced']],
  ['INV-1/replace-2gwei', ['replaced', 'included', 'replaced']],
  ['INV-1/cancel-3gwei', ['cancelled', 'cancelled', 'included']],
])(
  'send states: of a send and those that were to take its place, where %s is included the others name it, and nobody is told to send it anew',
  (won, states) => {
    const replacing = { ...orderOf('INV-1/replace-2gwei'), replaces: 'INV-1' }
    const nothing = { from: '0xa', caip2: 'eip155:1', to: '0xa', value: '0' }
    const cancelling = { ...orderOf('INV-1/cancel-3gwei'), replaces: 'INV-1/replace-2gwei', parameters: nothing }
    const message = `replaced by transaction ${HASH} of 0xa with nonce 1, which was included`
    const replaced = { code: 'apply/transaction-replaced', message, next: 'send it under a new reference' }
    const all = [order, replacing, cancelling].map((one) => ({
      order: one,
      progress: one.reference === won ? at('included', { transactionHash: HASH }) : at('failed', { error: replaced }),
    }))
    const told = withReplacers(all)
    expect(told.map(stateOf)).toEqual(states)
    for (const one of told) {
      if (one.order.reference === won) expect(one.replacedBy).toBeUndefined()
      else expect(one.replacedBy?.reference).toBe(won)
      if (stateOf(one) === 'replaced') expect(nextOf(one)).toBe(`nothing: look at \`${won}\`, which has its place`)
    }
    // What no send of this ledger has sent is none of them.
    const other = { order: orderOf('INV-2'), progress: at('included', { transactionHash: HASH }) }
    const unnamed = withReplacers([{ order, progress: at('failed', { error: replaced }) }, other])[0]!
    expect([unnamed.replacedBy, nextOf(unnamed)]).toEqual([undefined, 'send it under a new reference'])
  },
)
