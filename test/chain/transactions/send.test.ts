import { describe, expect, test } from 'vitest'
import {
  isSendActivity,
  readSendFacts,
  readTransactionFacts,
  type SendIntent,
  withBlockhash,
} from '../../../src/chain/index.ts'
import { decodeHex, encodeBase58 } from '../../../src/encoding/index.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { ethereumInterface, refusal } from './harness.ts'

const V1 = 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION'
const V2 = 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2'
const SOL = 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION'
const from = `0x${'Aa'.repeat(20)}`
const to = `0x${'Bb'.repeat(20)}`
const intent: SendIntent = { from, to, caip2: 'eip155:10' }
const read = (type: string, given: SendIntent) => readSendFacts(type, given, { interfaces: [] })

const call = {
  from: from.toLowerCase(),
  to: to.toLowerCase(),
  data: '0x',
  value: 0n,
  chain_id: 10n,
  function_name: '',
  function_signature: '',
}

describe('send: one call', () => {
  test('send: fees, nonce and gas that the caller leaves out are absent', () => {
    expect(read(V1, intent)).toEqual({ eth: { tx: { ...call, type: 'TYPE_2' } } })
  })

  test('send: what the caller says, in decimals or hex', () => {
    const given = {
      value: '250000000000000000',
      data: '0xABCD',
      nonce: '0x7',
      gasLimit: '21000',
      maxFeePerGas: '40',
      maxPriorityFeePerGas: '2',
    }
    expect(read(V1, { ...intent, ...given }).eth).toEqual({
      tx: {
        ...call,
        type: 'TYPE_2',
        value: 250_000_000_000_000_000n,
        data: '0xabcd',
        nonce: 7n,
        gas: 21_000n,
        gas_price: 40n,
        max_fee_per_gas: 40n,
        max_priority_fee_per_gas: 2n,
      },
    })
  })

  test('send: sponsored, fees are 0 and there is no transaction of its own to have a type', () => {
    expect(read(V1, { ...intent, sponsor: true, maxFeePerGas: '40' })).toEqual({
      eth: { tx: { ...call, gas_price: 0n, max_fee_per_gas: 0n, max_priority_fee_per_gas: 0n } },
    })
  })

  test('send: creating a contract leaves the receiver empty', () => {
    const { to: _, ...creation } = intent
    expect(read(V1, { ...creation, data: '0x6000' }).eth).toMatchObject({ tx: { to: '', data: '0x6000' } })
  })

  test('send: calls are decoded by the interface of the receiver', () => {
    const abi = [{ type: 'function', name: 'stop', inputs: [] }]
    const facts = readSendFacts(V1, { ...intent, data: '0x07da68f5' }, { interfaces: [ethereumInterface(to, abi)] })
    expect(facts.eth).toMatchObject({ tx: { function_name: 'stop', contract_call_args: {} } })
  })

  test.each([
    ['no sender', { ...intent, from: undefined }, 'expected `from` to be an address'],
    ['a key as sender', { ...intent, from: 'k-main' }, 'expected `from` to be an address'],
    ['another chain', { ...intent, caip2: 'solana:mainnet' }, 'expected `caip2` to be `eip155:` and a chain id'],
    ['nobody to send to', { ...intent, to: '', value: '5' }, 'there is neither a receiver nor a contract to create'],
    ['a negative amount', { ...intent, value: '-1' }, 'expected `value` to be a whole number'],
    ['a fraction', { ...intent, value: '0.1' }, 'expected `value` to be a whole number'],
    ['an amount above 256 bits', { ...intent, value: `${2n ** 256n}` }, '`value` does not fit 256 bits'],
    ['more gas than 64 bits', { ...intent, gasLimit: `${2n ** 64n}` }, '`gasLimit` does not fit 64 bits'],
    [
      'a nonce that cannot be counted exactly',
      { ...intent, nonce: `${2n ** 53n}` },
      '`nonce` is 9007199254740992, which no account reaches',
    ],
    ['half a byte', { ...intent, data: '0xabc' }, 'expected `data` to be hex of whole bytes'],
  ])('send: %s is refused', (_name, given, reason) => {
    expect(refusal(() => read(V1, given as SendIntent))).toBe(`failed to parse transaction: ${reason}`)
  })
})

describe('send: several calls', () => {
  test('send: each call is an item of the batch', () => {
    const given = {
      from,
      caip2: 'eip155:10',
      calls: [
        { to, value: '1' },
        { to: from, data: '0x01' },
      ],
    }
    expect(read(V2, given)).toEqual({
      batch: [
        { eth: { tx: { ...call, value: 1n } } },
        { eth: { tx: { ...call, to: from.toLowerCase(), data: '0x01' } } },
      ],
    })
  })

  test('send: a single call is a batch of one, and a transaction of type 2', () => {
    expect(read(V2, { from, caip2: 'eip155:10', calls: [{ to }] })).toEqual({
      batch: [{ eth: { tx: { ...call, type: 'TYPE_2' } } }],
    })
  })

  test('send: no calls are refused', () => {
    expect(refusal(() => read(V2, { from, caip2: 'eip155:10', calls: [] }))).toBe(
      'failed to parse transaction: there are no calls',
    )
  })
})

describe('send: Solana', () => {
  const [{ bytes }] = readVectors<{ bytes: string }>('solana-transactions/parser.jsonl') as [{ bytes: string }]
  const expected = readTransactionFacts({ type: 'TRANSACTION_TYPE_SOLANA', unsignedTransaction: bytes, interfaces: [] })

  test.each([
    ['hex', bytes],
    ['base64', Buffer.from(bytes, 'hex').toString('base64')],
    ['base64url', Buffer.from(bytes, 'hex').toString('base64url')],
  ])('send: a transaction in %s', (_name, unsignedTransaction) => {
    expect(read(SOL, { unsignedTransaction })).toEqual(expected)
    expect(read(`${SOL}_V2`, { unsignedTransaction })).toEqual(expected)
  })

  test('send: a blockhash beside a transaction without one is what policies see', () => {
    const ZEROS = '1'.repeat(32)
    const none = Buffer.from(withBlockhash(decodeHex(bytes), ZEROS)).toString('hex')
    const recentBlockhash = encodeBase58(new Uint8Array(32).fill(7))
    const facts = read(SOL, { unsignedTransaction: none, recentBlockhash })
    expect(facts.solana!['tx']).toMatchObject({ recent_blockhash: recentBlockhash })
    const another = { unsignedTransaction: bytes, recentBlockhash }
    expect(refusal(() => read(SOL, another))).toMatch(/its blockhash is \w+, `recentBlockhash` is another$/)
    const wrong = { unsignedTransaction: none, recentBlockhash: 'abc' }
    expect(refusal(() => read(SOL, wrong))).toMatch(/`recentBlockhash` is no blockhash$/)
  })

  test.each([
    ['nothing', undefined, 'there is no transaction'],
    ['neither hex nor base64', '*', 'it is neither hex nor base64'],
  ])('send: %s is refused', (_name, unsignedTransaction, reason) => {
    expect(refusal(() => read(SOL, { unsignedTransaction } as SendIntent))).toBe(
      `failed to parse transaction: ${reason}`,
    )
  })
})

test('send: other activities define nothing', () => {
  expect(isSendActivity(V2)).toBe(true)
  expect(isSendActivity('ACTIVITY_TYPE_SIGN_TRANSACTION_V2')).toBe(false)
  expect(isSendActivity('constructor')).toBe(false)
  expect(read('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', intent)).toEqual({})
})
