import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keccak256 } from '../../../src/crypto/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import { complete, fresh, invalid, invalidField, refusalOf } from '../handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'
import { ETHEREUM, makeWallet } from '../signing/keys.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { type Ended, SEPOLIA, untilEnded } from './status.ts'

const RECEIVER = '0x00000000000000000000000000000000000000b0'
/** Reverts with whatever it is called with. */
const ECHO = '0x00000000000000000000000000000000000ec400'
/** Calls ECHO with whatever it is called with, and passes on what comes back. */
const OUTER = '0x0000000000000000000000000000000000007e20'

let anvil: Anvil
let service: TestService
let from: string
beforeAll(async () => {
  anvil = await startAnvil()
  await anvil.rpc('anvil_setCode', ECHO, '0x366000600037366000fd')
  await anvil.rpc(
    'anvil_setCode',
    OUTER,
    `0x36600060003760006000366000600073${ECHO.slice(2)}5af1503d600060003e3d6000fd`,
  )
  const chains = {
    [SEPOLIA]: { url: anvil.url, pollMs: 50 },
    'eip155:1': { url: anvil.url, pollMs: 50 },
    'eip155:8453': { url: 'http://127.0.0.1:9', pollMs: 50 },
  }
  service = await startTestService({ chains })
  from = (await makeWallet(service.root, ETHEREUM)).accounts[0]!.address
  await anvil.fund(from, 100)
})
afterAll(async () => {
  await service.close()
  await anvil.kill()
})

const parametersOf = (parameters: object) => ({ from, caip2: SEPOLIA, to: RECEIVER, ...parameters })
async function send(parameters: object): Promise<Ended> {
  const result = await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', parametersOf(parameters))
  return untilEnded(service.root, result.sendTransactionStatusId)
}
const included = { txStatus: 'INCLUDED', eth: { txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) } }
const selectorOf = (signature: string) => `0x${encodeHex(keccak256(signature).subarray(0, 4))}`
const word = (value: number) => value.toString(16).padStart(64, '0')

describe('eth_send_transaction', () => {
  test('a send is completed, signed and included, and the chain has what was asked for', async () => {
    expect(await send({ value: '1500000000000000000' })).toEqual(included)
    expect(BigInt(await anvil.rpc<string>('eth_getBalance', RECEIVER, 'latest'))).toBe(1_500_000_000_000_000_000n)
  })

  test('version 2 with one call is the same; amounts may be hex', async () => {
    const before = BigInt(await anvil.rpc<string>('eth_getBalance', RECEIVER, 'latest'))
    const result = await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2', {
      from,
      caip2: SEPOLIA,
      calls: [{ to: RECEIVER, value: '0x10' }],
    })
    expect(await untilEnded(service.root, result.sendTransactionStatusId)).toEqual(included)
    expect(BigInt(await anvil.rpc<string>('eth_getBalance', RECEIVER, 'latest'))).toBe(before + 16n)
  })

  test('without a receiver it creates a contract', async () => {
    // The contract's code is the one byte that its creation returns: 0x00.
    const { eth } = await send({ to: '', data: '0x60016000f3' })
    const receipt = await anvil.rpc<Record<string, string>>('eth_getTransactionReceipt', eth!.txHash)
    expect(receipt).toMatchObject({ to: null, status: '0x1' })
    expect(await anvil.rpc('eth_getCode', receipt['contractAddress'], 'latest')).toBe('0x00')
  })

  test('what the caller sets is sent as it is', async () => {
    const fees = { maxFeePerGas: '5000000000', maxPriorityFeePerGas: '7' }
    const nonce = String(BigInt(await anvil.rpc<string>('eth_getTransactionCount', from, 'pending')))
    const { eth } = await send({ ...fees, gasLimit: '50001', nonce, data: '0xC0FFEE' })
    expect(await anvil.rpc('eth_getTransactionByHash', eth!.txHash)).toMatchObject({
      type: '0x2',
      gas: '0xc351',
      maxFeePerGas: '0x12a05f200',
      maxPriorityFeePerGas: '0x7',
      input: '0xc0ffee',
      nonce: `0x${Number(nonce).toString(16)}`,
    })
  })

  test('many at once from one address are mined once each, with neither gap nor twin', async () => {
    const before = Number(await anvil.rpc<string>('eth_getTransactionCount', from, 'latest'))
    const ends = await Promise.all(Array.from({ length: 40 }, (_, index) => send({ value: String(index) })))
    expect(ends.map(({ txStatus }) => txStatus)).toEqual(Array(40).fill('INCLUDED'))
    expect(new Set(ends.map(({ eth }) => eth!.txHash)).size).toBe(40)
    expect(Number(await anvil.rpc<string>('eth_getTransactionCount', from, 'latest'))).toBe(before + 40)
  })

  test('get_nonces says the next one', async () => {
    const answer = await service.root.query('get_nonces', { address: from, caip2: SEPOLIA, nonce: true })
    const count = await anvil.rpc<string>('eth_getTransactionCount', from, 'pending')
    expect(answer).toEqual({ nonce: BigInt(count).toString() })
  })
})

describe('a send that cannot be', () => {
  test('one that would revert fails before it is sent, with the reason, and takes no nonce', async () => {
    const before = await anvil.rpc('eth_getTransactionCount', from, 'pending')
    const data = `0x08c379a0${word(32)}${word(6)}${Buffer.from('paused').toString('hex').padEnd(64, '0')}`
    const { txStatus, error, txError, eth } = await send({ to: ECHO, data })
    expect({ txStatus, error, txError, eth }).toEqual({
      txStatus: 'FAILED',
      txError: 'execution reverted: paused',
      error: reverted('execution reverted: paused', [
        {
          address: ECHO,
          errorType: 'native',
          displayMessage: 'paused',
          native: { nativeType: 'error_string', message: 'paused' },
        },
      ]),
      eth: undefined,
    })
    expect(await anvil.rpc('eth_getTransactionCount', from, 'pending')).toBe(before)
  })

  test('one that reverts on chain is included with the chain of calls, its custom error by the uploaded interface', async () => {
    const inputs = [
      { name: 'needed', type: 'uint256' },
      { name: 'who', type: 'address' },
    ]
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
      smartContractAddress: ECHO,
      smartContractInterface: JSON.stringify([{ type: 'error', name: 'NotEnough', inputs }]),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: fresh('echo'),
    })
    const data = `${selectorOf('NotEnough(uint256,address)')}${word(7)}${RECEIVER.slice(2).padStart(64, '0')}`
    const { txStatus, error, eth } = await send({ to: OUTER, data, gasLimit: '100000' })
    expect({ txStatus, hash: eth?.txHash }).toEqual({ txStatus: 'INCLUDED', hash: expect.any(String) })
    const paramsJson = JSON.stringify({ needed: '7', who: RECEIVER })
    const [message, selector] = [`NotEnough ${paramsJson}`, data.slice(0, 10)]
    expect(error).toEqual(
      reverted(`execution reverted: ${message}`, [
        {
          address: OUTER,
          errorType: 'unknown',
          displayMessage: `an error unknown here, ${selector}`,
          unknown: { selector, data },
        },
        {
          address: ECHO,
          errorType: 'custom',
          displayMessage: message,
          custom: { errorName: 'NotEnough', paramsJson },
        },
      ]),
    )
  })

  test.each<[string, object, RegExp]>([
    ['out of funds', { value: '10000000000000000000000', gasLimit: '21000' }, /insufficient funds/i],
    ['with a nonce that is spent', { nonce: '0' }, /nonce too low/i],
  ])('one %s fails with the node’s reason', async (_, parameters, message) => {
    const before = await anvil.rpc('eth_getTransactionCount', from, 'pending')
    const { txStatus, txError } = await send(parameters)
    expect({ txStatus, txError }).toEqual({ txStatus: 'FAILED', txError: expect.stringMatching(message) })
    expect(await anvil.rpc('eth_getTransactionCount', from, 'pending')).toBe(before)
    expect(await send({})).toEqual(included)
  })

  test('one that no policy allows is refused, and nothing is sent', async () => {
    const { client } = await createTestUser(service, 'nobody')
    const sent = client.submit('ACTIVITY_TYPE_ETH_SEND_TRANSACTION', parametersOf({}))
    expect((await refusalOf(sent)).slice(0, 2)).toEqual([403, 7])
  })

  test('policies read each call by what was uploaded about the contract that it calls', async () => {
    const { client, userId } = await createTestUser(service, 'caller')
    const abi = ['put', 'take'].map((name) => ({ type: 'function', name, inputs: [{ name: 'x', type: 'uint256' }] }))
    for (const [smartContractAddress, entries] of Object.entries({ [RECEIVER]: abi, [OUTER]: abi.slice(1) })) {
      await complete(service.root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
        smartContractAddress,
        smartContractInterface: JSON.stringify(entries),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
        label: 'Box',
      })
    }
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: fresh('put'),
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${userId}')`,
      condition: `eth.tx.function_name == 'put' && eth.tx.contract_call_args['x'] < 100`,
      notes: '',
    })
    const put = (to: string, x: number) => ({ to, data: `${selectorOf('put(uint256)')}${word(x)}` })
    const submit = (...calls: object[]) =>
      client.submit('ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2', { from, caip2: SEPOLIA, calls })
    expect((await submit(put(RECEIVER, 99))).status).toBe('ACTIVITY_STATUS_COMPLETED')
    for (const calls of [[put(RECEIVER, 100)], [put(OUTER, 99)], [put(RECEIVER, 9), put(ECHO, 9)]]) {
      expect((await refusalOf(submit(...calls))).slice(0, 2)).toEqual([403, 7])
    }
  })

  test('one that is rejected is never sent', async () => {
    const { client, userId } = await createTestUser(service, 'asker')
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: fresh('two'),
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${userId}') && approvers.count() >= 2`,
      condition: `eth.tx.from == '${from.toLowerCase()}'`,
      notes: '',
    })
    const before = await anvil.rpc('eth_getTransactionCount', from, 'pending')
    const asked = await client.submit('ACTIVITY_TYPE_ETH_SEND_TRANSACTION', parametersOf({}))
    expect(asked.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const rejected = await service.root.reject(asked.fingerprint)
    expect(rejected.status).toBe('ACTIVITY_STATUS_REJECTED')
    expect(JSON.stringify(rejected)).not.toContain('sendTransactionStatusId')
    expect(await anvil.rpc('eth_getTransactionCount', from, 'pending')).toBe(before)
  })

  test.each<[string, object, readonly unknown[]]>([
    [
      'a chain that is not set',
      { caip2: 'eip155:10' },
      invalid(`chain eip155:10 is not served here (served: ${SEPOLIA}, eip155:1, eip155:8453)`),
    ],
    [
      'the id of a key',
      { from: '11111111-1111-4111-8111-111111111111' },
      invalidField('from', 'must be an Ethereum address'),
    ],
    ['an address of nobody here', { from: RECEIVER }, [404, 5, 'Could not find any resource to sign with.', '']],
    [
      'an amount that is no number',
      { value: '1.5' },
      [400, 3, 'failed to parse transaction: expected `value` to be a whole number', 'INVALID_TRANSACTION'],
    ],
    [
      'a nonce that no account reaches',
      { nonce: '9007199254740992' },
      [
        400,
        3,
        'failed to parse transaction: `nonce` is 9007199254740992, which no account reaches',
        'INVALID_TRANSACTION',
      ],
    ],
    [
      'a node that is not there',
      { caip2: 'eip155:8453' },
      [503, 14, 'the node of chain eip155:8453 cannot be reached', 'RPC_CALL_ERROR'],
    ],
    [
      'a chain that its node does not serve',
      { caip2: 'eip155:1' },
      [
        ...[503, 14, 'the node that is set for eip155:1 serves chain eip155:11155111; nothing was accepted'],
        'RPC_CALL_ERROR',
      ],
    ],
  ])('%s is refused', async (_, parameters, refusal) => {
    const sent = service.root.submit('ACTIVITY_TYPE_ETH_SEND_TRANSACTION', parametersOf(parameters))
    expect(await refusalOf(sent)).toEqual(refusal)
  })
})

function reverted(message: string, revertChain: readonly object[]) {
  return { message, revertChain, eth: { revertChain } }
}
