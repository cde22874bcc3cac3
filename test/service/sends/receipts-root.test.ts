/** The receipts of real blocks: what their hashes stand for, and what a node says that lies of one of them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outcomeByReceiptsRoot, type RpcBlockReceipt } from '../../../src/chain/index.ts'
import { type Anvil, startAnvil } from './anvil.ts'

const REVERTS = '0x00000000000000000000000000000000000bad00'
const LOGS = '0x0000000000000000000000000000000000010900'
const PAID = '0x00000000000000000000000000000000000000b0'

let anvil: Anvil
beforeAll(async () => {
  anvil = await startAnvil({ mining: 'on-request' })
  await anvil.rpc('anvil_setCode', REVERTS, '0x60006000fd')
  // Two events, with one and with no topic.
  await anvil.rpc('anvil_setCode', LOGS, '0x602a60206000a160206000a000')
})
afterAll(() => anvil.kill())

async function mineBlock(count: number) {
  const [from] = await anvil.rpc<string[]>('eth_accounts')
  for (let index = 0; index < count; index++) {
    const to = [PAID, LOGS, REVERTS][index % 3]
    const price = index % 2 === 0 ? { gasPrice: '0x77359400' } : { maxFeePerGas: '0x77359400' }
    await anvil.rpc('eth_sendTransaction', { from, to, gas: '0x186a0', value: '0x0', ...price })
  }
  await anvil.rpc('evm_mine')
  const block = await anvil.rpc<Record<string, unknown>>('eth_getBlockByNumber', 'latest', false)
  const receipts = await anvil.rpc<readonly RpcBlockReceipt[]>('eth_getBlockReceipts', block['number'])
  expect(receipts).toHaveLength(count)
  return { block, receipts }
}

// From 128 on an index takes two bytes, and with 17 the trie branches twice.
test.each([1, 2, 17, 150])(
  'receipts: of a block of %d each tells its outcome, and one that is told otherwise does not',
  async (count) => {
    const { block, receipts } = await mineBlock(count)
    for (const at of new Set([0, 1, 2, 16, 127, 128, count - 1].filter((each) => each < count))) {
      const { transactionHash, status } = receipts[at]!
      expect(outcomeByReceiptsRoot(block, receipts, transactionHash)).toBe(status === '0x1')
      const other = status === '0x1' ? '0x0' : '0x1'
      const lying = receipts.map((receipt, index) => (index === at ? { ...receipt, status: other } : receipt))
      expect(outcomeByReceiptsRoot(block, lying, transactionHash)).toBe(status === '0x1')
    }
  },
)

test('receipts: nothing is told by a block whose hash is another, by receipts that are not all, or of another transaction', async () => {
  const { block, receipts } = await mineBlock(4)
  const { transactionHash } = receipts[0]!
  expect(outcomeByReceiptsRoot({ ...block, gasUsed: '0x1' }, receipts, transactionHash)).toBeUndefined()
  expect(
    outcomeByReceiptsRoot({ ...block, receiptsRoot: block['stateRoot'] }, receipts, transactionHash),
  ).toBeUndefined()
  expect(outcomeByReceiptsRoot(block, receipts.slice(0, 3), transactionHash)).toBeUndefined()
  expect(outcomeByReceiptsRoot(block, receipts, `0x${'1'.repeat(64)}`)).toBeUndefined()
})
