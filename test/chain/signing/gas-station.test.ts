import fc from 'fast-check'
import {
  encodeFunctionData,
  encodeFunctionResult,
  encodePacked,
  type Hex,
  hashTypedData,
  parseAbi,
  parseSignature,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import {
  authorizationItem,
  ChainError,
  DOMAIN_QUERY,
  decodeDomain,
  type Execution,
  encodeExecution,
  encodeGetNonce,
  encodeRlp,
  executionDigest,
  signAuthorization,
  signBytes,
} from '../../../src/chain/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import { ethereumAddress, SECRET, secp256k1Key } from './keys.ts'

const account = privateKeyToAccount(`0x${SECRET}`)
const STATION = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'function execute(address target, address to, uint256 ethAmount, bytes data)',
  'function executeBatch(address target, Call[] calls, bytes data)',
  'function getNonce(address target) view returns (uint128)',
])
const call = [
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'data', type: 'bytes' },
] as const
const limits = [
  { name: 'nonce', type: 'uint128' },
  { name: 'deadline', type: 'uint32' },
] as const

const hex = (size: number) =>
  fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => `0x${encodeHex(bytes)}` as Hex)
const calls = fc.array(
  fc.record({ to: hex(20), value: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), data: fc.nat(70).chain(hex) }),
  { minLength: 1, maxLength: 4 },
)
const executions = fc.record({
  domain: fc.record({ name: fc.string({ minLength: 1 }), version: fc.string({ minLength: 1 }) }),
  chainId: fc.bigInt({ min: 1n, max: 2n ** 40n }),
  account: fc.constant(ethereumAddress as Hex),
  nonce: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
  deadline: fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }),
  calls,
})

describe('signing: gas station', () => {
  test('signing: viem makes the same digest and the same call of an execution and of a batch', () => {
    fc.assert(
      fc.property(executions, (execution) => {
        const { chainId, nonce, deadline, calls } = execution
        const domain = { ...execution.domain, chainId, verifyingContract: execution.account }
        const message = { nonce, deadline: Number(deadline) }
        const [only] = calls
        const digest =
          calls.length === 1
            ? hashTypedData({
                types: { Execution: [...limits, ...call] },
                primaryType: 'Execution',
                domain,
                message: { ...message, ...only! },
              })
            : hashTypedData({
                types: { BatchExecution: [...limits, { name: 'calls', type: 'Call[]' }], Call: call },
                primaryType: 'BatchExecution',
                domain,
                message: { ...message, calls },
              })
        expect(`0x${encodeHex(executionDigest(execution))}`).toBe(digest)

        const signature = signBytes(secp256k1Key, executionDigest(execution))
        const text =
          `0x${encodeHex(signature.r)}${encodeHex(signature.s)}${(27 + signature.recovery).toString(16)}` as Hex
        const signed = encodePacked(['bytes', 'uint128', 'uint32'], [text, nonce, Number(deadline)])
        const expected =
          calls.length === 1
            ? encodeFunctionData({
                abi: STATION,
                functionName: 'execute',
                args: [execution.account, only!.to, only!.value, `${signed}${only!.data.slice(2)}`],
              })
            : encodeFunctionData({
                abi: STATION,
                functionName: 'executeBatch',
                args: [execution.account, calls, signed],
              })
        expect(encodeExecution(execution satisfies Execution, signature)).toBe(expected)
      }),
      { numRuns: 60 },
    )
  })

  test('signing: the domain of a delegate is read as viem writes it', () => {
    const abi = parseAbi([
      'function eip712Domain() view returns (bytes1, string, string, uint256, address, bytes32, uint256[])',
    ])
    const result = ['0x0f', 'TKGasDelegate', '1.1', 1n, ethereumAddress as Hex, `0x${'0'.repeat(64)}`, []] as const
    const answer = encodeFunctionResult({ abi, functionName: 'eip712Domain', result })
    expect(DOMAIN_QUERY).toBe(encodeFunctionData({ abi }))
    expect(decodeDomain(answer)).toEqual({ name: 'TKGasDelegate', version: '1.1' })
    expect(() => decodeDomain('0x')).toThrow(ChainError)
  })

  test('signing: viem asks for the nonce of a station in the same bytes', () => {
    const expected = encodeFunctionData({ abi: STATION, functionName: 'getNonce', args: [ethereumAddress as Hex] })
    expect(encodeGetNonce(ethereumAddress)).toBe(expected)
  })

  test('signing: viem signs an authorization of EIP-7702 the same way', async () => {
    const address = `0x${'ab'.repeat(20)}` as const
    const theirs = await account.signAuthorization({ address, chainId: 10, nonce: 7 })
    const ours = signAuthorization(secp256k1Key, { address, chainId: 10n, nonce: 7n })
    const { r, s, yParity } = parseSignature(`${theirs.r}${theirs.s.slice(2)}${(27 + theirs.yParity!).toString(16)}`)
    expect(ours).toEqual({ address, chainId: 10n, nonce: 7n, r: BigInt(r), s: BigInt(s), yParity: BigInt(yParity) })
    expect(encodeRlp(authorizationItem(ours)).length).toBeGreaterThan(80)
  })
})
