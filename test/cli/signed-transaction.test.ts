/** A node is believed when what it says has the hash that was asked for; viem, which is nobody's here, has signed it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { keccak256, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { readSignedTransaction } from '../../src/sending/signed-transaction.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const serialized = await account.signTransaction({
  type: 'eip1559',
  chainId: 11_155_111,
  nonce: 7,
  gas: 21_000n,
  maxFeePerGas: 10_000_000_000n,
  maxPriorityFeePerGas: 1n,
  to: '0x00000000000000000000000000000000000000b0',
  value: 5n,
})
const hash = keccak256(serialized)
const { r, s, yParity } = parseTransaction(serialized)

const hex = (value: bigint | number) => `0x${value.toString(16)}`
/** Quantities have no leading zeros, which halves of signatures sometimes have. */
const honest = {
  type: '0x2',
  blockNumber: null,
  chainId: hex(11_155_111),
  nonce: hex(7),
  gas: hex(21_000),
  maxFeePerGas: hex(10_000_000_000),
  maxPriorityFeePerGas: hex(1),
  to: '0x00000000000000000000000000000000000000b0',
  value: hex(5),
  input: '0x',
  accessList: [],
  r: hex(BigInt(r!)),
  s: hex(BigInt(s!)),
  yParity: hex(yParity!),
}

async function nodeThatSays(result: unknown): Promise<string> {
  const server = createServer((_, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result })))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('signed transaction: its nonce and what it offers are read', async () => {
  expect(await readSignedTransaction(await nodeThatSays(honest), hash)).toEqual({
    nonce: 7n,
    gas: 21_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1n,
    isMined: false,
  })
  expect(await readSignedTransaction(await nodeThatSays({ ...honest, blockNumber: '0x1' }), hash)).toMatchObject({
    isMined: true,
  })
})

test.each([
  ['another nonce', { ...honest, nonce: hex(8) }, 'is not what has that hash'],
  ['another price', { ...honest, maxFeePerGas: hex(1) }, 'is not what has that hash'],
  ['another signature', { ...honest, r: honest.s }, 'is not what has that hash'],
  ['a field that is missing', { ...honest, gas: undefined }, 'is not what has that hash'],
  ['nothing', null, 'the node does not have transaction'],
  ['no result', undefined, 'cannot be asked about transaction'],
])('signed transaction: %s is not believed', async (_, said, message) => {
  await expect(readSignedTransaction(await nodeThatSays(said), hash)).rejects.toMatchObject({
    code: 'cli/no-transaction',
    message: expect.stringContaining(message),
  })
})

test('signed transaction: the key in the address of a node is not shown', async () => {
  const failed = readSignedTransaction('http://127.0.0.1:1/v3/secret-key', hash)
  await expect(failed).rejects.toThrow('the node at 127.0.0.1:1 cannot be asked')
})
