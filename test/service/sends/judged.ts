/**
 * What a lying node does to a send, and what must come of it. Each is run upon the service by `judge.test.ts`, and upon one with
 * a mistake by `mutants.long.ts`, which it must tell from the service.
 */
import { expect } from 'vitest'
import { askAboutLanes, shownKeys } from '../../../src/service/operator/index.ts'
import { type Ask, FAULTS, type Fault, NONCE_TOO_LOW } from '../../faults/fault-node.ts'
import { any, CONFIRMATIONS, first, type Judged, type Payer, RECEIVER } from './judged-stage.ts'
import { untilOffered } from './status.ts'

type Trial = (stage: Judged) => Promise<void>

const SENT = 'eth_sendRawTransaction'
const unknown = { result: null }
/** More answers than looks after which a node is believed that says the same where the chain makes no block. */
const LONG = 30
const refused = (code: number, message: string) => ({ done: true, error: { code, message } }) as const

const FORBIDDEN = { error: { code: -32_000, message: 'forbidden' } }
const NO_METHOD = { error: { code: -32_601, message: 'the method does not exist' } }

/** A token's transfer, and what answers it with `true`. */
const TRANSFER = `0xa9059cbb${RECEIVER.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`
const PAYS = '0x0000000000000000000000000000000000007a4e'
/** What each method would say of a transfer that fails, or moves nothing. */
const WOULD_FAIL: Readonly<Record<string, Fault>> = {
  eth_estimateGas: { error: { code: 3, message: 'execution reverted', data: '0x' } },
  eth_getCode: { result: '0x' },
  eth_call: { result: `0x${'0'.repeat(64)}` },
}

/** Kinds of lies of a single send, after each of which it is paid once and told as included. */
const LIES: Readonly<Record<string, () => (ask: Ask) => Fault>> = {
  'is taken, and refused because its nonce was used': () =>
    any(first(1, SENT, { done: true, ...NONCE_TOO_LOW }), first(1, 'eth_getTransactionByHash', unknown)),
  'is taken, and refused for long because its nonce was used': () =>
    any(first(40, SENT, { done: true, ...NONCE_TOO_LOW }), first(40, 'eth_getTransactionByHash', unknown)),
  'is taken, and refused for want of funds': () =>
    any(
      first(1, SENT, refused(-32_000, 'insufficient funds for gas * price + value')),
      first(1, 'eth_getTransactionByHash', unknown),
    ),
  'is taken by a node that then has an internal error': () =>
    any(first(1, SENT, refused(-32_603, 'Internal error')), first(1, 'eth_getTransactionByHash', unknown)),
  'is taken by a node whose gateway says 500': () =>
    any(
      first(1, SENT, { ...refused(-32_000, 'something broke'), status: 500 }),
      first(1, 'eth_getTransactionByHash', unknown),
    ),
  'is tried and taken by a node whose gateway lets nobody through': () =>
    any(...['eth_estimateGas', SENT].map((method) => first(LONG, method, { ...FORBIDDEN, status: 403 }))),
  'is tried and taken by a node that has no such method for a while': () =>
    any(...['eth_estimateGas', SENT].map((method) => first(LONG, method, NO_METHOD))),
  'is tried by a node whose state is not there yet': () =>
    first(2, 'eth_estimateGas', { error: { code: -32_000, message: 'header not found' } }),
  'has no receipt for a while, although it is counted': () => first(12, 'eth_getTransactionReceipt', unknown),
  'has receipts of blocks that come after the counts': () => first(12, 'eth_getTransactionReceipt', { behind: 1 }),
  'has the receipt of another hash': () =>
    first(12, 'eth_getTransactionReceipt', { field: 'transactionHash', says: `0x${'1'.repeat(64)}` }),
  'has a receipt of a block that the chain has not': () =>
    first(12, 'eth_getTransactionReceipt', { field: 'blockHash', says: `0x${'1'.repeat(64)}` }),
}

const lies = Object.entries(LIES).map(([lie, faults]): [string, Trial] => [
  `one that ${lie} is paid once and told as included`,
  async ({ makeSender, submit, end, countOf, node, anvil }) => {
    const from = await makeSender()
    node.fault = faults()
    const { txStatus, eth } = await end(await submit(from))
    expect({ txStatus, mined: await countOf(from) }).toEqual({ txStatus: 'INCLUDED', mined: 1 })
    expect(await anvil.rpc('eth_getTransactionReceipt', eth!.txHash)).toMatchObject({ status: '0x1' })
  },
])

export const TRIALS: Readonly<Record<string, Trial>> = {
  ...Object.fromEntries(lies),

  'a receipt that a lying node makes up is not told as included': async (stage) => {
    const { anvil, node, makeSender, submit, end, stateOf, until, mine, turns } = stage
    const from = await makeSender()
    await anvil.rpc('evm_setAutomine', false)
    const other = await anvil.rpc<{ hash: string; number: string }>('eth_getBlockByNumber', 'latest', false)
    node.fault = ({ method, params }) =>
      method === 'eth_getTransactionReceipt'
        ? {
            result: {
              ...{ transactionHash: params[0], blockNumber: other.number, blockHash: `0x${'2'.repeat(64)}` },
              ...{ from, to: RECEIVER, contractAddress: null, logs: [], status: '0x1' },
              ...{ gasUsed: '0x5208', effectiveGasPrice: '0x1' },
            },
          }
        : undefined
    const id = await submit(from)
    await until(async () => (await stateOf(id)).txStatus !== 'INITIALIZED')
    await turns()
    expect((await stateOf(id)).txStatus).toBe('BROADCASTING')
    node.fault = () => undefined
    await mine(1)
    expect((await end(id)).txStatus).toBe('INCLUDED')
  },

  'one whose receipts all say that it was reverted is not, where the hash of their block says otherwise': async (
    stage,
  ) => {
    const { node, witness, makeSender, submit, end, stateOf, until, turns } = stage
    const from = await makeSender()
    const reverted = ({ method }: Ask): Fault =>
      method === 'eth_getTransactionReceipt'
        ? { field: 'status', says: '0x0' }
        : method.startsWith('debug_')
          ? NO_METHOD
          : undefined
    node.fault = reverted
    witness.fault = reverted
    const id = await submit(from)
    await until(async () => /receipts that its hash stands for/.test((await stateOf(id)).txError ?? ''))
    await turns()
    expect((await stateOf(id)).txStatus).toBe('BROADCASTING')
    node.fault = () => undefined
    witness.fault = () => undefined
    expect(await end(id)).toMatchObject({ txStatus: 'INCLUDED' })
    expect((await stateOf(id)).error).toBeUndefined()
  },

  'one that was reverted is not told as paid because one receipt says so': async (stage) => {
    const { anvil, node, makeSender, submit, end } = stage
    const from = await makeSender()
    const reverts = '0x00000000000000000000000000000000000bad00'
    await anvil.rpc('anvil_setCode', reverts, '0x60006000fd')
    node.fault = first(1, 'eth_getTransactionReceipt', { field: 'status', says: '0x1' })
    const ended = await end(await submit(from, { to: reverts, value: '0', gasLimit: '90000' }))
    expect(ended).toMatchObject({ txStatus: 'INCLUDED', txError: expect.stringContaining('reverted') })
  },

  'one that waits is not told as included by the receipt of another of its sender': async (stage) => {
    const { anvil, node, makeSender, submit, end, stateOf, until, mine, turns } = stage
    const from = await makeSender()
    const { eth: before } = await end(await submit(from))
    const other = await anvil.rpc('eth_getTransactionReceipt', before!.txHash)
    await anvil.rpc('evm_setAutomine', false)
    node.fault = ({ method, params }) =>
      method === 'eth_getTransactionReceipt' && params[0] !== before!.txHash ? { result: other } : undefined
    const id = await submit(from)
    await until(async () => (await stateOf(id)).txStatus !== 'INITIALIZED')
    await turns()
    expect((await stateOf(id)).txStatus).toBe('BROADCASTING')
    node.fault = () => undefined
    await mine(1)
    expect((await end(id)).txStatus).toBe('INCLUDED')
  },

  'one is replaced when what has its nonce is known, is settled, and every node says so': async (stage) => {
    const { anvil, node, witness, makeSender, submit, end, stateOf, until, mine, sendElsewhere, turns } = stage
    const from = await makeSender()
    await anvil.rpc('evm_setAutomine', false)
    const id = await submit(from)
    await until(async () => (await stateOf(id)).eth !== undefined)
    const { txHash } = (await stateOf(id)).eth!
    // It is kept before it is broadcast.
    await until(async () => (await anvil.rpc('eth_getTransactionByHash', txHash)) !== null)
    // Offered again it would take its nonce before the other one does.
    node.fault = ({ method }) => (method === SENT ? 'dropped' : undefined)
    await anvil.rpc('anvil_dropTransaction', txHash)
    const by = await sendElsewhere(from)
    witness.fault = ({ method }) => (method === 'eth_getTransactionReceipt' ? unknown : undefined)
    await mine(CONFIRMATIONS - 1)
    await turns()
    expect((await stateOf(id)).txStatus).toBe('BROADCASTING')
    await mine(1)
    await turns()
    expect((await stateOf(id)).txStatus).toBe('BROADCASTING')
    witness.fault = () => undefined
    expect(await end(id)).toMatchObject({
      txStatus: 'FAILED',
      txError: `replaced by transaction ${by} of ${from.toLowerCase()} with nonce 0, which was included`,
      // What has no transaction is told as given up, and its reference is free.
      eth: { txHash },
    })
  },

  'one that is in a settled block, and has a receipt of another, is not replaced by itself': async (stage) => {
    const { node, makeSender, submit, end, stateOf, until, mine, turns } = stage
    const from = await makeSender()
    node.fault = ({ method }) =>
      method === 'eth_getTransactionReceipt' ? { field: 'blockHash', says: `0x${'1'.repeat(64)}` } : undefined
    const id = await submit(from)
    await until(async () => (await stateOf(id)).txStatus !== 'INITIALIZED')
    await mine(CONFIRMATIONS)
    await turns()
    expect((await stateOf(id)).txStatus).toBe('BROADCASTING')
    node.fault = () => undefined
    expect((await end(id)).txStatus).toBe('INCLUDED')
  },

  'one that comes upon a used nonce takes the next as soon as it is known what used it': async (stage) => {
    const { node, makeSender, submit, end, countOf, sendElsewhere } = stage
    const from = await makeSender()
    await sendElsewhere(from)
    node.fault = first(2, 'eth_getTransactionCount', { result: '0x0' })
    const id = await submit(from, { gasLimit: '21000' })
    expect((await end(id)).txStatus).toBe('INCLUDED')
    expect(await countOf(from)).toBe(2)
  },

  'one of a new address is not signed with a nonce that a node says once': async (stage) => {
    const { node, makeSender, submit, end, countOf } = stage
    const from = await makeSender()
    node.fault = first(1, 'eth_getTransactionCount', { result: '0x9' })
    expect((await end(await submit(from))).txStatus).toBe('INCLUDED')
    expect(await countOf(from)).toBe(1)
  },

  'a node that lags takes nothing back': async ({ node, makeSender, submit, end, stateOf, mine, turns }) => {
    const from = await makeSender()
    const id = await submit(from)
    await end(id)
    // No look at the head of now is under way when the fault begins: one that denies the block at that head waits for a later one.
    await turns()
    node.fault = () => ({ behind: 2 })
    for (let block = 0; block < 3; block++) {
      await turns()
      expect((await stateOf(id)).txStatus).toBe('INCLUDED')
      await mine(1)
    }
  },

  'a node that denies a block once takes nothing back': async ({
    node,
    makeSender,
    submit,
    end,
    stateOf,
    mine,
    turns,
  }) => {
    const from = await makeSender()
    const id = await submit(from)
    await end(id)
    // As above.
    await turns()
    node.fault = ({ method, params }) =>
      method === 'eth_getTransactionReceipt' || (method === 'eth_getBlockByNumber' && params[0] !== 'latest')
        ? unknown
        : undefined
    await mine(1)
    await turns()
    expect((await stateOf(id)).txStatus).toBe('INCLUDED')
  },

  'no tip and no price that a node names costs more than the ceiling': async (stage) => {
    const { anvil, node, makeSender, submit, end } = stage
    const from = await makeSender()
    node.fault = ({ method }) => (method === 'eth_maxPriorityFeePerGas' ? FAULTS['overcharged']!.make(1) : undefined)
    const { eth } = await end(await submit(from))
    const sent = await anvil.rpc<Record<'maxFeePerGas' | 'maxPriorityFeePerGas', string>>(
      'eth_getTransactionByHash',
      eth!.txHash,
    )
    // Four times the two gwei that a tip in empty blocks is taken for.
    expect(BigInt(sent.maxPriorityFeePerGas)).toBeLessThanOrEqual(8_000_000_000n)
    expect(BigInt(sent.maxFeePerGas)).toBeLessThanOrEqual(500_000_000_000n)
    const { effectiveGasPrice } = await anvil.rpc<Record<string, string>>('eth_getTransactionReceipt', eth!.txHash)
    expect(BigInt(effectiveGasPrice!)).toBeLessThan(12_000_000_000n)
  },

  'what a block had that was taken back is offered again with the same bytes, and told so': async (stage) => {
    const { anvil, service, makeSender, submit, end, stateOf, mine, countOf, until } = stage
    const from = await makeSender()
    await anvil.rpc('evm_setAutomine', false)
    const id = await submit(from)
    await untilOffered(service.root, anvil, id)
    await mine(1)
    const { eth } = await end(id)
    await anvil.rpc('anvil_reorg', 1, [])
    await until(async () => {
      await mine(1)
      const { blockNumber } =
        (await anvil.rpc<{ blockNumber?: string } | null>('eth_getTransactionReceipt', eth!.txHash)) ?? {}
      return blockNumber !== undefined
    })
    await until(async () => (await stateOf(id)).txStatus === 'INCLUDED')
    expect(await stateOf(id)).toMatchObject({ txStatus: 'INCLUDED', eth: { txHash: eth!.txHash } })
    expect(await countOf(from)).toBe(1)
  },

  'a transfer of a token that would move nothing is not sent': async (stage) => {
    const { anvil, makeSender, submit, end, countOf } = stage
    const from = await makeSender()
    const answersFalse = '0x00000000000000000000000000000000000fa15e'
    await anvil.rpc('anvil_setCode', answersFalse, '0x600060005260206000f3')
    const nothing = '0x0000000000000000000000000000000000090000'
    const ends = []
    for (const to of [nothing, answersFalse])
      ends.push(await end(await submit(from, { to, value: '0', data: TRANSFER })))
    expect(ends.map(({ txStatus, txError, eth }) => [txStatus, txError, eth])).toEqual([
      ['FAILED', expect.stringContaining(`there is no contract at ${nothing}`), undefined],
      ['FAILED', expect.stringContaining(`the token at ${answersFalse} answers that it would not`), undefined],
    ])
    expect(await countOf(from)).toBe(0)
  },

  'one is not given up because nodes say once that it would fail': async (stage) => {
    const { anvil, node, witness, makeSender, submit, end, countOf } = stage
    const from = await makeSender()
    await anvil.rpc('anvil_setCode', PAYS, '0x600160005260206000f3')
    for (const [method, lie] of Object.entries(WOULD_FAIL)) {
      node.fault = first(1, method, lie)
      witness.fault = first(1, method, lie)
      expect(await end(await submit(from, { to: PAYS, value: '0', data: TRANSFER }))).toMatchObject({
        txStatus: 'INCLUDED',
      })
    }
    expect(await countOf(from)).toBe(Object.keys(WOULD_FAIL).length)
  },

  'one is not given up while a further node does not say that it would fail, and says so': async (stage) => {
    const { anvil, node, witness, makeSender, submit, end, stateOf, until, mine, turns } = stage
    const from = await makeSender()
    await anvil.rpc('anvil_setCode', PAYS, '0x600160005260206000f3')
    for (const [method, lie] of Object.entries(WOULD_FAIL)) {
      node.fault = (ask) => (ask.method === method ? lie : undefined)
      const id = await submit(from, { to: PAYS, value: '0', data: TRANSFER })
      const says = async (what: RegExp) => until(async () => what.test((await stateOf(id)).txError ?? ''))
      await says(/^a node refuses it before it is signed, and the node is asked again: /)
      await mine(1)
      await says(/^a node refuses it before it is signed, and a further node does not say so: /)
      witness.fault = () => 'dropped'
      await mine(1)
      await says(/^a node refuses it before it is signed, and a further node gives no answer: /)
      await turns()
      expect((await stateOf(id)).txStatus).toBe('INITIALIZED')
      node.fault = () => undefined
      witness.fault = () => undefined
      expect((await end(id)).txStatus).toBe('INCLUDED')
    }
  },

  'what waits is not offered for more where nobody has said so': async (stage) => {
    const { anvil, makeSender, submit, end, stateOf, until, mine, turns } = stage
    const from = await makeSender()
    await anvil.rpc('evm_setAutomine', false)
    const id = await submit(from)
    await until(async () => (await stateOf(id)).eth !== undefined)
    const { txHash } = (await stateOf(id)).eth!
    await turns()
    expect((await stateOf(id)).eth?.txHash).toBe(txHash)
    await mine(1)
    expect((await end(id)).eth?.txHash).toBe(txHash)
  },

  'nothing is signed of an address that has sent from elsewhere what is not identified': async (stage) => {
    const { makeSender, submit, end, stateOf, until, countOf, sendElsewhere } = stage
    const from = await makeSender()
    await end(await submit(from))
    await sendElsewhere(from)
    const id = await submit(from)
    await until(async () => (await stateOf(id)).txStatus !== 'INITIALIZED' || (await stateOf(id)).error !== undefined)
    expect(await stateOf(id)).toMatchObject({
      txStatus: 'INITIALIZED',
      txError: expect.stringMatching(/^nonce 1 of .*sends reconcile/),
    })
    expect(await countOf(from)).toBe(2)
  },

  'one that a store has open which turns out to be behind its chain is not signed before an operator says so': async (
    stage,
  ) => {
    const { node, service, makeSender, submit, end, stateOf, until, countOf, mine, sendElsewhere } = stage
    const from = await makeSender()
    await end(await submit(from))
    node.fault = ({ method }) => (method === 'eth_getTransactionCount' ? 'dropped' : undefined)
    const id = await submit(from, { value: '8' })
    await service.service.close()
    await sendElsewhere(from)
    await mine(CONFIRMATIONS)
    node.fault = () => undefined
    await service.restart()
    await until(async () => (await stateOf(id)).txError?.includes('sends reconcile') === true)
    await reconcile(stage, [])
    // What is accepted now goes on, and stands behind it.
    await end(await submit(from, { value: '9' }))
    expect((await stateOf(id)).txError).toContain(`--pay ${id}`)
    expect(await countOf(from)).toBe(3)
    await reconcile(stage, [id])
    expect((await end(id)).txStatus).toBe('INCLUDED')
  },

  'what an organization has open whose key may have been used elsewhere while no service ran waits for an operator, and it alone':
    async (stage) => {
      const { node, service, mine, sendElsewhere, addPayers, until, countOf } = stage
      const [user, other] = (await addPayers(2)) as [Payer, Payer]
      for (const each of [user, other]) await each.end(await each.submit('1'))
      node.fault = ({ method }) => (method === 'eth_getTransactionCount' ? 'dropped' : undefined)
      const [held, free] = [await user.submit('2'), await other.submit('2')]
      await service.service.close()
      await sendElsewhere(user.from)
      await mine(CONFIRMATIONS)
      node.fault = () => undefined
      await service.restart()
      expect((await other.end(free)).txStatus).toBe('INCLUDED')
      await until(async () => (await user.stateOf(held)).txError?.includes('nonce 1 of') === true)
      await reconcile(stage, [])
      await user.end(await user.submit('3'))
      expect((await user.stateOf(held)).txError).toContain(`--pay ${held}`)
      expect([await countOf(user.from), await countOf(other.from)]).toEqual([3, 2])
      await reconcile(stage, [held])
      expect((await user.end(held)).txStatus).toBe('INCLUDED')
    },
}

/** As an operator does who has read what is shown, and says that some of what is held is paid. */
async function reconcile({ service: { dataDir } }: Judged, pay: readonly string[]): Promise<void> {
  const { lanes } = await askAboutLanes(dataDir, { kind: 'list-lanes', others: [], pay })
  const shown = lanes.flatMap(shownKeys)
  await askAboutLanes(dataDir, { kind: 'reconcile-lanes', others: [], pay, shown })
}
