/** A service whose records are behind its chain pays nothing twice, and `sends reconcile` tells what the chain has of it. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { renderLanes } from '../../src/cli/views/lanes.ts'
import { askAboutLanes, type SeenLanes, shownKeys } from '../../src/service/operator/index.ts'
import { type FaultNode, startFaultNode } from '../faults/fault-node.ts'
import { complete } from '../service/handlers/steps.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { type Anvil, startAnvil } from '../service/sends/anvil.ts'
import { addPayers, type Payer } from '../service/sends/judged-stage.ts'
import { SEPOLIA, untilEnded } from '../service/sends/status.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { quorateShared as quorate, testFolder } from './harness.ts'
import { reconcile, restored, stateOf, untilWaits } from './restored.ts'

const PAYEE = '0x00000000000000000000000000000000000000b0'
const CONFIRMATIONS = 3

let anvil: Anvil
let node: FaultNode
const closers: (() => Promise<void>)[] = []
beforeAll(async () => {
  anvil = await startAnvil()
  node = await startFaultNode(anvil.url)
})
afterEach(() => {
  node.fault = () => undefined
})
afterAll(async () => {
  for (const close of closers) await close()
  await node.close()
  await anvil.kill()
})

async function serve(dataDir?: string): Promise<TestService> {
  const chains = { [SEPOLIA]: { url: node.url, pollMs: 25, confirmations: CONFIRMATIONS } }
  const service = await startTestService({ ...(dataDir && { dataDir }), chains, operator: true })
  closers.push(() => service.close())
  return service
}

async function fundedAddress(service: TestService): Promise<string> {
  const { address } = (await makeWallet(service.root, ETHEREUM)).accounts[0]!
  await anvil.fund(address, 100)
  return address
}

const bodyOf = (service: TestService, from: string, value: number) =>
  service.body('ACTIVITY_TYPE_ETH_SEND_TRANSACTION', { from, caip2: SEPOLIA, to: PAYEE, value: String(value) })

async function pay(service: TestService, from: string, value: number): Promise<string> {
  const intent = { from, caip2: SEPOLIA, to: PAYEE, value: String(value) }
  return (await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', intent)).sendTransactionStatusId
}

const countOf = async (address: string) => Number(await anvil.rpc<string>('eth_getTransactionCount', address, 'latest'))
const pendingOf = async (address: string) =>
  Number(await anvil.rpc<string>('eth_getTransactionCount', address, 'pending'))
const settle = () => anvil.rpc('anvil_mine', `0x${CONFIRMATIONS.toString(16)}`)

const behind = (service: TestService, afterSnapshot: () => Promise<void>) => restored(service, { afterSnapshot, serve })

test('sends reconcile: what was paid after a snapshot is not paid again, and is told as included once it is identified', async () => {
  const before = await serve()
  const from = await fundedAddress(before)
  await untilEnded(before.root, await pay(before, from, 10))
  // Accepted and not signed, as while a node does not answer.
  node.fault = ({ method }) => (method === 'eth_getTransactionCount' ? 'dropped' : undefined)
  const ids = [await pay(before, from, 11), await pay(before, from, 12), await pay(before, from, 13)]
  const lost = bodyOf(before, from, 14)
  const after = await behind(before, async () => {
    node.fault = () => undefined
    for (const id of ids) await untilEnded(before.root, id)
    await before.root.send(lost)
    await vi.waitUntil(async () => (await countOf(from)) === 5, { interval: 20 })
  })
  expect(await untilWaits(after, ids[0]!)).toContain(`nonces 1 to 4 of ${from.toLowerCase()} were used`)
  await pause(200)
  expect(await countOf(from)).toBe(5)

  const early = await reconcile(after, '--yes')
  expect([early.exit, early.lanes[0]!.isHeld, early.lanes[0]!.nonces.at(-1)!.is]).toEqual([3, true, 'unsettled'])
  await settle()
  const look = await quorate(['sends', 'reconcile', '--dry-run', '--folder', after.dataDir])
  expect(look.exit).toBe(3)
  expect(look.stdout).toMatch(
    /^ {2}nonce 4 {2}0x[0-9a-f]{64} in block \d+: 0\.000000000000000014 ETH to 0x0+b0; sent from elsewhere: /m,
  )
  expect(await countOf(from)).toBe(5)
  const done = await reconcile(after, '--yes')
  expect([done.exit, done.lanes[0]!.isHeld]).toEqual([0, false])
  const hashes = early.lanes[0]!.nonces.map(({ hash }) => hash)
  for (const [index, id] of ids.entries()) {
    expect(await stateOf(after, id)).toEqual({ txStatus: 'INCLUDED', eth: { txHash: hashes[index] } })
  }
  expect((await untilEnded(after.root, await pay(after, from, 15))).txStatus).toBe('INCLUDED')
  expect(await countOf(from)).toBe(6)

  // The client of the one that the store has lost sends its bytes again.
  const { ethSendTransactionResult } = (await after.root.send(lost)).result
  const again = ethSendTransactionResult!.sendTransactionStatusId
  expect(await untilWaits(after, again)).toContain(`transaction ${hashes.at(-1)} of ${from.toLowerCase()} with nonce 4`)
  const claimed = await reconcile(after, '--yes')
  expect([claimed.exit, claimed.lanes[0]!.nonces.map(({ nonce, is }) => [nonce, is])]).toEqual([0, [[4, 'send']]])
  expect(await stateOf(after, again)).toMatchObject({ txStatus: 'INCLUDED', eth: { txHash: hashes.at(-1) } })
  expect(await countOf(from)).toBe(6)
  const nothing = await quorate(['sends', 'reconcile', '--folder', after.dataDir])
  expect([nothing.exit, nothing.stdout]).toEqual([0, 'No address has sent what is not in the records.\n'])
})

test('sends reconcile: what stands above the question does not say that nothing was written', () => {
  const nonces = [{ nonce: 4, is: 'foreign', hash: '0x1', block: 7 }] as const
  const seen = {
    lanes: [{ caip2: SEPOLIA, address: PAYEE, nonces, sends: [], isHeld: true }],
    unread: [],
  } as unknown as SeenLanes
  expect(renderLanes(seen, { isAsked: true })).not.toContain('written')
  expect(renderLanes(seen)).toContain('Nothing was written.')
})

test('sends reconcile: a restored store that has no send of an address holds it still, and --other says that a payment is another', async () => {
  const before = await serve()
  const from = await fundedAddress(before)
  const after = await behind(before, async () => {
    await untilEnded(before.root, await pay(before, from, 7))
  })
  await settle()
  const id = await pay(after, from, 7)
  expect(await untilWaits(after, id)).toContain(`nonce 0 of ${from.toLowerCase()} was used`)
  const [nonce] = (await reconcile(after, '--dry-run')).lanes.find(
    ({ address }) => address === from.toLowerCase(),
  )!.nonces
  expect(nonce).toMatchObject({ nonce: 0, is: 'send', value: '7', sendId: id })
  const wrong = await quorate(['sends', 'reconcile', '--other', '0x12', '--folder', after.dataDir])
  expect([wrong.exit, wrong.stderr]).toEqual([1, expect.stringContaining('expected the hash of a transaction')])
  expect((await reconcile(after, '--yes', '--other', nonce!.hash!)).exit).toBe(0)
  expect((await untilEnded(after.root, id)).txStatus).toBe('INCLUDED')
  expect(await countOf(from)).toBe(2)
})

test('sends reconcile: what a snapshot has unsigned, and was replaced or given up since, is not paid before an operator says so', async () => {
  const before = await serve()
  const from = await fundedAddress(before)
  await untilEnded(before.root, await pay(before, from, 30))
  node.fault = ({ method }) => (method === 'eth_getTransactionCount' ? 'dropped' : undefined)
  const [replaced, givenUp] = [await pay(before, from, 31), await pay(before, from, 32)]
  const after = await behind(before, async () => {
    await anvil.rpc('evm_setAutomine', false)
    node.fault = () => undefined
    // Somebody else who has the key takes its nonce, and what the other one was to pay is given up, as far as the chain shows.
    await vi.waitUntil(async () => (await pendingOf(from)) === 3, { interval: 20 })
    await before.service.close()
    await anvil.rpc('anvil_dropAllTransactions')
    await anvil.rpc('anvil_impersonateAccount', from)
    const offer = { from, to: `0x${'e'.repeat(40)}`, value: '0x1', nonce: '0x1', maxFeePerGas: '0xdf8475800' }
    await anvil.rpc('eth_sendTransaction', offer)
    await settle()
    await anvil.rpc('evm_setAutomine', true)
  })
  await settle()
  expect(await untilWaits(after, replaced)).toContain('nonce 1 of')

  const first = await reconcile(after, '--yes')
  expect([first.exit, first.lanes[0]!.nonces.map(({ is }) => is), first.lanes[0]!.sends]).toEqual([
    3,
    ['foreign'],
    [
      expect.objectContaining({ sendId: replaced, receiver: PAYEE, value: '31' }),
      expect.objectContaining({ sendId: givenUp, receiver: PAYEE, value: '32' }),
    ],
  ])
  for (const id of [replaced, givenUp])
    await vi.waitUntil(async () => (await stateOf(after, id)).txError?.includes(`--pay ${id}`))
  // What is accepted now goes on.
  expect((await untilEnded(after.root, await pay(after, from, 33))).txStatus).toBe('INCLUDED')
  expect(await countOf(from)).toBe(3)

  const wrong = await quorate(['sends', 'reconcile', '--pay', 'x', '--folder', after.dataDir, '--yes'])
  expect([wrong.exit, wrong.stderr]).toEqual([1, expect.stringContaining('no send that is held back')])
  const shown = await quorate(['sends', 'reconcile', '--dry-run', '--give-up', replaced, '--folder', after.dataDir])
  expect([shown.exit, shown.stdout]).toEqual([
    3,
    expect.stringMatching(
      new RegExp(
        `send ${replaced} .*: 0.000000000000000031 ETH to ${PAYEE}; is given up\\n {2}send ${givenUp} .*; held back: .*--pay`,
      ),
    ),
  ])
  const last = await reconcile(after, '--yes', '--give-up', replaced, '--pay', 'all')
  expect([last.exit, last.lanes[0]!.sends.map(({ word }) => word)]).toEqual([0, ['give-up', 'pay']])
  expect(await stateOf(after, replaced)).toMatchObject({ txStatus: 'FAILED' })
  expect((await untilEnded(after.root, givenUp)).txStatus).toBe('INCLUDED')
  expect(await countOf(from)).toBe(4)
  const nothing = await quorate(['sends', 'reconcile', '--folder', after.dataDir])
  expect([nothing.exit, nothing.stdout]).toEqual([0, 'No address has sent what is not in the records.\n'])
})

test('sends reconcile: what a folder that was copied back has unsigned is not paid before an operator says so', async () => {
  const before = await serve()
  const [from, fresh] = [await fundedAddress(before), await fundedAddress(before)]
  await untilEnded(before.root, await pay(before, from, 50))
  node.fault = ({ method }) => (method === 'eth_getTransactionCount' ? 'dropped' : undefined)
  const [replaced, givenUp] = [await pay(before, from, 51), await pay(before, from, 52)]
  // Of an address of which the copy has nothing signed.
  const first = await pay(before, fresh, 53)
  await before.service.close()
  const copy = join(testFolder(), 'copy')
  mkdirSync(copy, { mode: 0o700 })
  cpSync(before.dataDir, copy, { recursive: true })
  for (const [sender, to, value] of [
    [from, `0x${'e'.repeat(40)}`, 51],
    [fresh, PAYEE, 53],
  ] as const) {
    await anvil.rpc('anvil_impersonateAccount', sender)
    await anvil.rpc('eth_sendTransaction', { from: sender, to, value: `0x${value.toString(16)}` })
  }
  await settle()
  node.fault = () => undefined

  const after = await serve(copy)
  await vi.waitUntil(async () => (await stateOf(after, replaced)).txError?.includes('sends reconcile'), {
    interval: 20,
  })
  await vi.waitUntil(async () => (await stateOf(after, first)).txError?.includes('nonce 0 of'), { interval: 20 })
  const known = await reconcile(after, '--yes')
  const heldOf = (lanes: SeenLanes['lanes']) => lanes.flatMap(({ sends }) => sends.map(({ sendId }) => sendId))
  expect([known.exit, heldOf(known.lanes)]).toEqual([3, [replaced, givenUp]])
  expect((await untilEnded(after.root, first)).txStatus).toBe('INCLUDED')
  // What is accepted now goes on, also after another start, and what is held stays so.
  expect((await untilEnded(after.root, await pay(after, from, 54))).txStatus).toBe('INCLUDED')
  await after.restart()
  expect((await untilEnded(after.root, await pay(after, from, 55))).txStatus).toBe('INCLUDED')
  for (const id of [replaced, givenUp]) expect((await stateOf(after, id)).txError).toContain(`--pay ${id}`)
  expect([await countOf(from), await countOf(fresh)]).toEqual([4, 1])
  const done = await reconcile(after, '--yes', '--give-up', replaced, '--pay', givenUp)
  expect(done.exit).toBe(0)
  expect((await untilEnded(after.root, givenUp)).txStatus).toBe('INCLUDED')
  expect([(await stateOf(after, replaced)).txStatus, await countOf(from)]).toEqual(['FAILED', 5])
})

test('sends reconcile: a folder that was copied back holds each organization that has sent since, whatever else their keys sign', async () => {
  const before = await serve()
  const payers = await addPayers({ anvil, service: before }, 3)
  const [first, second, last] = payers as [Payer, Payer, Payer]
  for (const each of payers) await each.end(await each.submit('60'))
  node.fault = ({ method }) => (method === 'eth_getTransactionCount' ? { page: 502 } : undefined)
  const paid = [await first.submit('61'), await second.submit('61')] as const
  const open = [await first.submit('62'), await second.submit('62')] as const
  const free = await last.submit('62')
  await before.service.close()
  const copy = join(testFolder(), 'copy')
  mkdirSync(copy, { mode: 0o700 })
  cpSync(before.dataDir, copy, { recursive: true })
  // What is of 62 wei is not paid before the copy is put back, and so nothing of the last organization.
  node.fault = ({ method, params }) =>
    method === 'eth_estimateGas' && JSON.stringify(params).includes('"0x3e"') ? { page: 502 } : undefined
  await before.restart()
  for (const [index, id] of paid.entries()) expect((await payers[index]!.end(id)).txStatus).toBe('INCLUDED')
  await before.service.close()
  await settle()
  node.fault = () => undefined

  const after = await serve(copy)
  const now = payers.map((each) => each.at(after))
  expect((await now[2]!.end(free)).txStatus).toBe('INCLUDED')
  for (const [index, id] of paid.entries())
    await vi.waitUntil(async () => (await now[index]!.stateOf(id)).txError?.includes('nonce 1 of'), { interval: 20 })
  const known = await reconcile(after, '--yes')
  expect(known.lanes.flatMap(({ nonces }) => nonces.map(({ is }) => is))).toEqual(['send', 'send'])
  for (const [index, id] of paid.entries()) expect((await now[index]!.stateOf(id)).txStatus).toBe('INCLUDED')
  for (const [index, id] of open.entries())
    await vi.waitUntil(async () => (await now[index]!.stateOf(id)).txError?.includes(`--pay ${id}`), { interval: 20 })
  expect(await Promise.all(payers.map(({ from }) => countOf(from)))).toEqual([2, 2, 2])
  expect((await reconcile(after, '--yes', '--pay', open[0], '--give-up', open[1])).exit).toBe(0)
  expect((await now[0]!.end(open[0])).txStatus).toBe('INCLUDED')
  expect((await now[1]!.end(open[1])).txStatus).toBe('FAILED')
  expect(await Promise.all(payers.map(({ from }) => countOf(from)))).toEqual([3, 2, 2])
})

test('sends reconcile: of an address that answers only when it is written, or has sent more since, nothing is written', async () => {
  const service = await serve()
  const [from, silent] = [await fundedAddress(service), await fundedAddress(service)]
  const payElsewhere = async (address: string) => {
    await anvil.rpc('anvil_impersonateAccount', address)
    await anvil.rpc('eth_sendTransaction', { from: address, to: PAYEE, value: '0x1' })
  }
  for (const each of [from, silent]) {
    await untilEnded(service.root, await pay(service, each, 40))
    await payElsewhere(each)
  }
  await settle()
  const ids = [await pay(service, from, 41), await pay(service, silent, 41)]
  for (const id of ids) expect(await untilWaits(service, id)).toContain('nonce 1 of')
  node.fault = ({ method, params }) =>
    method === 'eth_getTransactionCount' && params[0] === silent.toLowerCase() ? 'dropped' : undefined
  const seen = await askAboutLanes(service.dataDir, { kind: 'list-lanes', others: [] })
  const shown = seen.lanes.flatMap(shownKeys)
  expect(seen.unread).toContainEqual(expect.objectContaining({ address: silent.toLowerCase() }))
  node.fault = () => undefined
  await payElsewhere(from)
  await settle()
  const written = await askAboutLanes(service.dataDir, { kind: 'reconcile-lanes', others: [], shown })
  const of = (address: string) => written.lanes.find((lane) => lane.address === address.toLowerCase())
  expect(written.unread).toContainEqual(
    expect.objectContaining({ address: silent.toLowerCase(), reason: 'what it holds still for was not shown before' }),
  )
  expect([of(silent), of(from)?.isHeld]).toEqual([undefined, true])
  const again = await reconcile(service, '--dry-run')
  const left = (address: string) => again.lanes.find((lane) => lane.address === address.toLowerCase())?.nonces
  expect([left(from), left(silent)]).toMatchObject([[{ nonce: 2 }], [{ nonce: 1 }]])
  expect((await reconcile(service, '--yes')).exit).toBe(0)
  for (const id of ids) expect((await untilEnded(service.root, id)).txStatus).toBe('INCLUDED')
})

test('sends reconcile: with a node that fails, is slow or lies it ends in its time, says what it does not know, and gives nothing back', async () => {
  const service = await serve()
  const from = await fundedAddress(service)
  await untilEnded(service.root, await pay(service, from, 20))
  await anvil.rpc('anvil_impersonateAccount', from)
  await anvil.rpc('eth_sendTransaction', { from, to: PAYEE, value: '0x1' })
  await settle()
  const id = await pay(service, from, 21)
  const waits = await untilWaits(service, id)
  expect(waits).toContain(`nonce 1 of ${from.toLowerCase()} was used`)

  const asked = async (...more: readonly string[]) => {
    const { exit, stdout } = await quorate(['sends', 'reconcile', '--folder', service.dataDir, ...more])
    return { exit, stdout }
  }
  node.fault = () => ({ page: 502 })
  const failing = await asked('--yes')
  expect([failing.exit, failing.stdout]).toEqual([
    3,
    expect.stringContaining('could not be looked at: eth_chainId had'),
  ])
  expect(failing.stdout).toMatch(
    /nothing of it was written: give the command again when its node answers\.\nNothing was written\.\n$/,
  )
  expect(failing.stdout).not.toContain('No address')

  node.fault = () => ({ lateMs: 3_000 })
  const slow = await asked('--yes', '--within', '2s')
  expect([slow.exit, slow.stdout]).toEqual([3, expect.stringContaining('the time was over before eth_')])

  // A count that is ahead of every block, and receipts of another transaction.
  node.fault = ({ method, params }) => {
    if (method === 'eth_getTransactionCount') return params[1] === 'pending' ? { result: '0x4' } : undefined
    return method === 'eth_getTransactionReceipt' ? { field: 'blockHash', says: `0x${'5'.repeat(64)}` } : undefined
  }
  const lied = await reconcile(service, '--yes')
  expect([lied.exit, lied.lanes[0]!.isHeld, lied.lanes[0]!.nonces.map(({ nonce, is }) => [nonce, is])]).toEqual([
    3,
    true,
    [
      [1, 'foreign'],
      [2, 'waits'],
      [3, 'waits'],
    ],
  ])
  node.fault = () => undefined
  expect((await untilEnded(service.root, id)).txStatus).toBe('INCLUDED')
  expect(await countOf(from)).toBe(3)
})
