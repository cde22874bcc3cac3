import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { encryptPrivateKeyToBundle } from '@turnkey/crypto'
import { afterEach, expect, test } from 'vitest'
import { addTenant, complete, type Tenant } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { ETHEREUM, makeWallet } from '../signing/keys.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { SEPOLIA, untilEnded, untilOffered } from './status.ts'
import { startUnreliableServer } from './unreliable-server.ts'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const RECEIVER = '0x00000000000000000000000000000000000000b0'
const countOf = async (anvil: Anvil, address: string) =>
  Number(await anvil.rpc<string>('eth_getTransactionCount', address, 'latest'))

async function startService(url: string, rest: object = {}): Promise<TestService> {
  const service = await startTestService({ chains: { [SEPOLIA]: { url, pollMs: 50, ...rest } } })
  closers.push(() => service.close())
  return service
}

async function fundedSender(service: TestService, anvil: Anvil): Promise<string> {
  const { address } = (await makeWallet(service.root, ETHEREUM)).accounts[0]!
  await anvil.fund(address, 100)
  return address
}

async function submit(service: TestService, from: string, parameters: object = {}): Promise<string> {
  const intent = { from, caip2: SEPOLIA, to: RECEIVER, ...parameters }
  return (await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', intent)).sendTransactionStatusId
}

test('sends: a node that loses one answer in ten and is killed twice, and a service that is closed between', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'anvil-'))
  closers.push(() => rmSync(folder, { recursive: true, force: true }))
  const state = join(folder, 'state.json')
  let anvil = await startAnvil({ stateFile: state, mining: { everySeconds: 1 } })
  closers.push(() => anvil.kill())
  const node = await startUnreliableServer(anvil.url, (asked) => asked % 10 === 0)
  closers.push(() => node.close())
  // The node's last blocks are lost with it: a send counts as included when its block has been written.
  const service = await startService(node.url, { includedAfter: 3 })
  const senders = [await fundedSender(service, anvil), await fundedSender(service, anvil)]
  // The node's state is written each second: a crash before that would undo the funding.
  const written = () => (existsSync(state) ? readFileSync(state, 'utf8').toLowerCase() : '')
  await untilTrue(async () => senders.every((address) => written().includes(address.toLowerCase())))

  const ids: string[] = []
  let kills = 0
  let flying = 0
  for (let round = 0; round < 3; round++) {
    for (let index = 0; index < 12; index++) {
      // The submit asks whether the node is there, and its answer may be the lost one: then nothing was accepted.
      const id = await submit(service, senders[index % 2]!, { value: '1' }).catch(() => undefined)
      if (id === undefined) index--
      else ids.push(id)
    }
    if (round === 2) break
    flying += (await statuses(service, ids)).filter((status) => status !== 'INCLUDED').length
    await anvil.kill()
    kills++
    if (round === 0) await service.restart()
    anvil = await startAnvil({ stateFile: state, mining: { everySeconds: 1 } })
    node.target = anvil.url
  }
  const ends = await Promise.all(ids.map((id) => untilEnded(service.root, id)))
  const hashes = new Set(ends.map(({ eth }) => eth?.txHash))
  // A block may count before it is written on a slow machine, and be lost with its node: what it had is offered again.
  const countMined = () => Promise.all(senders.map((address) => countOf(anvil, address)))
  await expect.poll(countMined).toEqual([ids.length / 2, ids.length / 2])
  const mined = await countMined()
  console.log(
    `sends=${ids.length} kills=${kills} lostAnswers=${node.counts.lost} unreachable=${node.counts.unreachable} ` +
      `included=${ends.filter(({ txStatus }) => txStatus === 'INCLUDED').length} mined=${mined.join('+')}`,
  )
  expect({ included: ends.map(({ txStatus }) => txStatus), hashes: hashes.size }).toEqual({
    included: ids.map(() => 'INCLUDED'),
    hashes: ids.length,
  })
  expect(flying).toBeGreaterThan(0)
  expect(node.counts.lost).toBeGreaterThan(5)
})

test('sends: what waits too long is offered again for more with the same nonce, and one of the two is mined', async () => {
  const anvil = await startAnvil({ mining: 'on-request' })
  closers.push(() => anvil.kill())
  const service = await startService(anvil.url, { bump: 'auto', bumpAfterMs: 1_000 })
  const from = await fundedSender(service, anvil)
  const id = await submit(service, from)
  const first = await untilOffered(service.root, anvil, id)
  const read = (hash: string) => anvil.rpc<Record<string, string> | null>('eth_getTransactionByHash', hash)
  // The node keeps the dearer one alone.
  await untilTrue(async () => (await read(first)) === null)
  const { pending } = await anvil.rpc<{ pending: Record<string, object> }>('txpool_content')
  expect(Object.values(pending).map((waiting) => Object.keys(waiting))).toEqual([['0']])
  await anvil.rpc('evm_mine')
  expect((await untilEnded(service.root, id)).txStatus).toBe('INCLUDED')
  expect(await countOf(anvil, from)).toBe(1)
})

test('sends: what waits is not offered for more where nobody has said so', async () => {
  const anvil = await startAnvil({ mining: 'on-request' })
  closers.push(() => anvil.kill())
  const service = await startService(anvil.url, { pollMs: 10, bumpAfterMs: 1 })
  const id = await submit(service, await fundedSender(service, anvil))
  const hash = await hashOf(service, id)
  await pause(500)
  expect(await hashOf(service, id)).toBe(hash)
})

test('sends: what waits is offered for more up to the ceiling, and not for more and more', async () => {
  const anvil = await startAnvil({ mining: 'on-request' })
  closers.push(() => anvil.kill())
  const service = await startService(anvil.url, { pollMs: 10, bump: 'auto', bumpAfterMs: 1 })
  const from = await fundedSender(service, anvil)
  const id = await submit(service, from)
  const { baseFeePerGas } = await anvil.rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', 'latest', false)
  // Blocks were empty: four times two gwei for the tip, and room for four times the base fee to double.
  const ceiling = 2n * 4n * BigInt(baseFeePerGas) + 8_000_000_000n
  const offered = async () => {
    const hash = await untilOffered(service.root, anvil, id)
    const sent = await anvil.rpc<Record<'maxFeePerGas', string> | null>('eth_getTransactionByHash', hash)
    return BigInt(sent?.maxFeePerGas ?? 0)
  }
  await untilTrue(async () => (await offered()) > (ceiling * 8n) / 9n - 2n)
  await pause(500)
  expect(await offered()).toBeLessThanOrEqual(ceiling)
})

test('sends: fees that the caller has set are not raised, nor those of what waits behind it', async () => {
  const anvil = await startAnvil({ mining: 'on-request' })
  closers.push(() => anvil.kill())
  const service = await startService(anvil.url, { bump: 'auto', bumpAfterMs: 100 })
  const from = await fundedSender(service, anvil)
  const id = await submit(service, from, { maxFeePerGas: '9000000000' })
  const behind = await submit(service, from)
  const read = () => Promise.all([id, behind].map((each) => hashOf(service, each)))
  const first = await read()
  await pause(600)
  expect(await read()).toEqual(first)
})

test('sends: one with the nonce of another of ours takes its place for more, and both say how they ended', async () => {
  const anvil = await startAnvil({ mining: 'on-request' })
  closers.push(() => anvil.kill())
  // What is to be replaced would be offered again for more all the time.
  const service = await startService(anvil.url, { confirmations: 1, bump: 'auto', bumpAfterMs: 200 })
  const from = await fundedSender(service, anvil)
  const ids = []
  for (let index = 0; index < 16; index++) ids.push(await submit(service, from))
  const first = await hashOf(service, ids[0]!)
  await hashOf(service, ids[15]!)
  const cheap = await submit(service, from, { nonce: '0', maxFeePerGas: '2000000000', maxPriorityFeePerGas: '1' })
  expect(await untilEnded(service.root, cheap)).toMatchObject({
    txStatus: 'FAILED',
    txError: expect.stringMatching(/replacement transaction underpriced/),
  })
  // Sixteen fly, and no node takes more of one address: a replacement needs no place.
  const second = await submit(service, from, { nonce: '0', value: '7' })
  await hashOf(service, second)
  await untilTrue(async () => (await anvil.rpc('eth_getTransactionByHash', first)) === null)
  await pause(500)
  await untilOffered(service.root, anvil, second)
  await anvil.rpc('evm_mine')
  const [replaced, replacing] = await Promise.all([ids[0]!, second].map((id) => untilEnded(service.root, id)))
  expect(replacing).toMatchObject({ txStatus: 'INCLUDED' })
  expect(replaced).toMatchObject({
    txStatus: 'FAILED',
    txError: `replaced by transaction ${replacing!.eth!.txHash} of ${from.toLowerCase()} with nonce 0, which was included`,
  })
})

test('sends: a block that is taken back before it counts costs nothing', async () => {
  const anvil = await startAnvil()
  closers.push(() => anvil.kill())
  const service = await startService(anvil.url, { includedAfter: 3 })
  const from = await fundedSender(service, anvil)
  const snapshot = await anvil.rpc<string>('evm_snapshot')
  const id = await submit(service, from, { value: '5' })
  const hash = await hashOf(service, id)
  await untilTrue(async () => (await anvil.rpc('eth_getTransactionReceipt', hash)) !== null)
  expect(await anvil.rpc('evm_revert', snapshot)).toBe(true)
  await untilTrue(async () => (await anvil.rpc('eth_getTransactionReceipt', hash)) !== null)
  expect(await statuses(service, [id])).toEqual(['BROADCASTING'])
  await anvil.rpc('anvil_mine', '0x2')
  expect(await untilEnded(service.root, id)).toMatchObject({ txStatus: 'INCLUDED', eth: { txHash: hash } })
})

test('sends: a block that is taken back after it counted leaves no gap before the next send', async () => {
  const anvil = await startAnvil()
  closers.push(() => anvil.kill())
  const service = await startService(anvil.url)
  const from = await fundedSender(service, anvil)
  const snapshot = await anvil.rpc<string>('evm_snapshot')
  const { eth } = await untilEnded(service.root, await submit(service, from, { value: '5' }))
  expect(await anvil.rpc('evm_revert', snapshot)).toBe(true)
  expect(await untilEnded(service.root, await submit(service, from))).toMatchObject({ txStatus: 'INCLUDED' })
  expect(await anvil.rpc('eth_getTransactionReceipt', eth!.txHash)).toMatchObject({ status: '0x1' })
  expect(await countOf(anvil, from)).toBe(2)
})

test('sends: two organizations that hold one key send from it without gap or twin', async () => {
  const anvil = await startAnvil({ mining: { everySeconds: 1 } })
  closers.push(() => anvil.kill())
  const service = await startService(anvil.url)
  const other = await addTenant(service)
  const { organizationId, rootUserId: userId, root: client } = service
  const holders = [{ organizationId, userId, client }, other]
  const [from] = await Promise.all(holders.map((holder) => importKey(service, holder)))
  await anvil.fund(from!, 100)
  const sent = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const { client, organizationId } = holders[index % 2]!
      const intent = { from, caip2: SEPOLIA, to: RECEIVER }
      const type = 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION'
      const { sendTransactionStatusId } = await complete(client, type, intent, organizationId)
      // A query names the organization of its caller.
      const query: typeof client.query = (name, request) => client.query(name, { organizationId, ...request })
      return untilEnded({ ...client, query }, sendTransactionStatusId)
    }),
  )
  expect(sent.map(({ txStatus }) => txStatus)).toEqual(Array(20).fill('INCLUDED'))
  expect(await countOf(anvil, from!)).toBe(20)
})

/** Brings a key of a holder's own into its organization, and says the address. */
async function importKey(service: TestService, { organizationId, userId, client }: Tenant): Promise<string> {
  const init = 'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY'
  const { importBundle } = await complete(client, init, { userId }, organizationId)
  const encryptedBundle = await encryptPrivateKeyToBundle({
    privateKey: '11'.repeat(32),
    keyFormat: 'HEXADECIMAL',
    importBundle,
    userId,
    organizationId,
    dangerouslyOverrideSignerPublicKey: service.service.bootstrap.signerPublicKey,
  })
  const shape = { curve: 'CURVE_SECP256K1', addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] }
  const intent = { userId, privateKeyName: 'shared', encryptedBundle, ...shape }
  const { addresses } = await complete(client, 'ACTIVITY_TYPE_IMPORT_PRIVATE_KEY', intent, organizationId)
  return addresses[0]!.address!
}

async function statuses(service: TestService, ids: readonly string[]): Promise<readonly string[]> {
  const all = ids.map((sendTransactionStatusId) =>
    service.root.query('get_send_transaction_status', { sendTransactionStatusId }),
  )
  return (await Promise.all(all)).map(({ txStatus }) => txStatus)
}

/** The hash once there is one. */
async function hashOf(service: TestService, sendTransactionStatusId: string): Promise<string> {
  for (;;) {
    const { eth } = await service.root.query('get_send_transaction_status', { sendTransactionStatusId })
    if (eth?.txHash !== undefined) return eth.txHash
    await pause(30)
  }
}

async function untilTrue(read: () => Promise<boolean>): Promise<void> {
  while (!(await read())) await pause(20)
}
