import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GAS_STATION } from '../../../src/service/nodes/gas-station.ts'
import { complete, invalid, invalidField, refusalOf } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { rowsOf } from '../rows.ts'
import { ETHEREUM, makeWallet } from '../signing/keys.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { LEDGER, placeGasStation } from './gas-station.ts'
import { type Ended, SEPOLIA, untilEnded, untilOffered } from './status.ts'

const RECEIVER = '0x00000000000000000000000000000000000000b0'
const OTHER = '0x00000000000000000000000000000000000000c0'
const LEDGER_ABI = parseAbi(['function put(uint256 given) payable', 'error Unlucky(uint256 number, address from)'])
const put = (given: number) => encodeFunctionData({ abi: LEDGER_ABI, functionName: 'put', args: [BigInt(given)] })
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`

let anvil: Anvil
let service: TestService
beforeAll(async () => {
  anvil = await startAnvil()
  await placeGasStation(anvil)
  const chain = { url: anvil.url, pollMs: 50, bump: 'auto' as const, bumpAfterMs: 2_000, usdPrice: '2000' }
  service = await startTestService({ chains: { [SEPOLIA]: chain } })
  await complete(service.root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', {
    orgWindowLimitUsd: '1000',
    subOrgWindowLimitUsd: '100',
    windowDurationMinutes: '60',
  })
  await anvil.fund(service.service.bootstrap.relayers.eip155, 10)
})
afterAll(async () => {
  await service.close()
  await anvil.kill()
})

const newAccount = async () => (await makeWallet(service.root, ETHEREUM)).accounts[0]!.address
const balanceOf = async (address: string) => BigInt(await anvil.rpc<string>('eth_getBalance', address, 'latest'))
const countOf = async (address: string) => Number(await anvil.rpc<string>('eth_getTransactionCount', address, 'latest'))
const codeOf = (address: string) => anvil.rpc<string>('eth_getCode', address, 'latest')
const delegation = `0xef0100${GAS_STATION.delegate.slice(2).toLowerCase()}`
const V2 = 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2'

async function accept(parameters: object): Promise<string> {
  return (await complete(service.root, V2, { caip2: SEPOLIA, ...parameters })).sendTransactionStatusId
}
const send = async (parameters: object): Promise<Ended> => untilEnded(service.root, await accept(parameters))
const undelegate = async (from: string) => {
  const result = await complete(service.root, 'ACTIVITY_TYPE_ETH_UNDELEGATE_7702', { from, caip2: SEPOLIA })
  return untilEnded(service.root, result.sendTransactionStatusId)
}
const nonceOf = async (address: string) =>
  (await service.root.query('get_nonces', { address, caip2: SEPOLIA, gasStationNonce: true })).gasStationNonce
const included = { txStatus: 'INCLUDED', eth: { txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) } }

describe('several calls', () => {
  test('several calls: all are made by the account, which is delegated in the same transaction and pays', async () => {
    const from = await newAccount()
    await anvil.fund(from, 2)
    const calls = [
      { to: RECEIVER, value: '5' },
      { to: LEDGER, value: '7', data: put(41) },
    ]
    expect(await send({ from, calls })).toEqual(included)
    expect([await balanceOf(RECEIVER), await balanceOf(LEDGER)]).toEqual([5n, 7n])
    expect(await anvil.rpc('eth_getStorageAt', LEDGER, '0x0', 'latest')).toBe(word(41n))
    expect(await anvil.rpc('eth_getStorageAt', LEDGER, '0x1', 'latest')).toBe(word(BigInt(from)))
    expect(await codeOf(from)).toBe(delegation)
    // One for the transaction, one for the authorization.
    expect([await countOf(from), await nonceOf(from)]).toEqual([2, '1'])
    expect(await send({ from, calls })).toEqual(included)
    expect([await countOf(from), await nonceOf(from)]).toEqual([3, '2'])
  })

  test('several calls: one that would fail takes the others with it, and its own reason is told before anything is sent', async () => {
    const from = await newAccount()
    await anvil.fund(from, 1)
    const calls = [
      { to: OTHER, value: '5' },
      { to: LEDGER, data: put(13) },
    ]
    await uploadLedger()
    const { txStatus, txError, error } = await send({ from, calls })
    const unlucky = `Unlucky {"number":"13","from":"${from.toLowerCase()}"}`
    expect({ txStatus, txError }).toEqual({ txStatus: 'FAILED', txError: `execution reverted: ${unlucky}` })
    expect(error!.revertChain).toMatchObject([{ address: LEDGER, errorType: 'custom' }])
    const sent = await send({ from, calls, gasLimit: '400000' })
    expect(sent).toMatchObject({ ...included, txError: `execution reverted: ${unlucky}` })
    expect(sent.error!.revertChain!.map(({ displayMessage }) => displayMessage)).toEqual([
      'ExecutionFailed {}',
      'ExecutionFailed {}',
      unlucky,
    ])
    expect(await balanceOf(OTHER)).toBe(0n)
  })

  test('several calls: many at once and plain sends between them keep their order and lose nothing', async () => {
    const from = await newAccount()
    await anvil.fund(from, 2)
    const before = await balanceOf(RECEIVER)
    const ids = []
    for (let index = 0; index < 4; index++) {
      ids.push(
        await accept({
          from,
          calls: [
            { to: RECEIVER, value: '1' },
            { to: RECEIVER, value: '2' },
          ],
        }),
      )
      ids.push(await accept({ from, calls: [{ to: RECEIVER, value: '4' }] }))
    }
    const ends = await Promise.all(ids.map((id) => untilEnded(service.root, id)))
    expect(ends).toEqual(ids.map(() => included))
    expect((await balanceOf(RECEIVER)) - before).toBe(28n)
  })
})

describe('a sponsored send', () => {
  test('a sponsored send: an account without funds sends, and the relayer pays', async () => {
    const from = await newAccount()
    const relayer = service.service.bootstrap.relayers.eip155
    const before = await balanceOf(relayer)
    expect(await send({ from, sponsor: true, calls: [{ to: LEDGER, data: put(42) }] })).toEqual(included)
    expect(await anvil.rpc('eth_getStorageAt', LEDGER, '0x1', 'latest')).toBe(word(BigInt(from)))
    expect(await balanceOf(relayer)).toBeLessThan(before)
    expect([await codeOf(from), await countOf(from), await nonceOf(from)]).toEqual([delegation, 1, '1'])
  })

  test('a sponsored send: several accounts at once, several sends each, are carried out in their order', async () => {
    const accounts = await Promise.all([newAccount(), newAccount(), newAccount()])
    const ids = []
    for (let round = 0; round < 3; round++) {
      for (const from of accounts)
        ids.push(await accept({ from, sponsor: true, calls: [{ to: LEDGER, data: put(round) }] }))
    }
    expect(await Promise.all(ids.map((id) => untilEnded(service.root, id)))).toEqual(ids.map(() => included))
    expect(await Promise.all(accounts.map(nonceOf))).toEqual(['3', '3', '3'])
  })

  test('a sponsored send: sends of the account itself and sponsored ones do not spoil each other', async () => {
    const from = await newAccount()
    await anvil.fund(from, 1)
    const ids = []
    for (let round = 0; round < 3; round++) {
      ids.push(await accept({ from, calls: [{ to: RECEIVER, value: '1' }] }))
      ids.push(await accept({ from, sponsor: true, calls: [{ to: LEDGER, data: put(round) }] }))
      ids.push(await accept({ from, calls: [{ to: RECEIVER }, { to: OTHER }] }))
    }
    expect(await Promise.all(ids.map((id) => untilEnded(service.root, id)))).toEqual(ids.map(() => included))
  })

  test('a sponsored send: the gas station nonce of the caller makes one transaction of two requests', async () => {
    const from = await newAccount()
    const intent = { from, sponsor: true, gasStationNonce: await nonceOf(from), calls: [{ to: LEDGER, data: put(1) }] }
    expect(await send(intent)).toEqual(included)
    const again = await send({ ...intent, calls: [{ to: LEDGER, data: put(2) }] })
    expect(again).toMatchObject({ txStatus: 'FAILED', txError: 'execution reverted: InvalidNonce {}' })
    expect(await nonceOf(from)).toBe('1')
  })

  test('a sponsored send: who pays sets the fees, whatever the caller offers', async () => {
    const intent = { from: await newAccount(), sponsor: true, maxFeePerGas: '1', maxPriorityFeePerGas: '1' }
    expect(await send({ ...intent, calls: [{ to: LEDGER, data: put(4) }] })).toEqual(included)
  })

  test('a sponsored send: one that waits too long is offered again for more, as it was signed', async () => {
    await anvil.rpc('evm_setAutomine', false)
    const id = await accept({ from: await newAccount(), sponsor: true, calls: [{ to: LEDGER, data: put(6) }] })
    const first = await untilOffered(service.root, anvil, id)
    await expect.poll(() => anvil.rpc('eth_getTransactionByHash', first)).toBeNull()
    await anvil.rpc('evm_mine')
    await anvil.rpc('evm_setAutomine', true)
    const ended = await untilEnded(service.root, id)
    expect(ended).toEqual(included)
    expect(await anvil.rpc('eth_getTransactionReceipt', ended.eth!.txHash)).toMatchObject({ type: '0x4' })
    expect(await anvil.rpc('eth_getStorageAt', LEDGER, '0x0', 'latest')).toBe(word(6n))
  })

  test('a sponsored send: what it has cost is counted', async () => {
    const usage = async () => Number((await service.root.query('get_gas_usage', {})).usageUsd)
    const before = await usage()
    const { eth } = await send({ from: await newAccount(), sponsor: true, calls: [{ to: LEDGER, data: put(3) }] })
    const receipt = await anvil.rpc<Record<string, string>>('eth_getTransactionReceipt', eth!.txHash)
    const wei = BigInt(receipt['gasUsed']!) * BigInt(receipt['effectiveGasPrice']!)
    expect((await usage()) - before).toBeCloseTo((Number(wei) / 1e18) * 2000, 4)
  })

  test('a sponsored send: an account whose key does not open holds up nobody else’s', async () => {
    const [broken, from] = [await newAccount(), await newAccount()]
    const key = 'sealed_private_key FROM wallet_account_keys JOIN wallet_accounts ON id = account_id WHERE address = ?'
    const [sealed] = await rowsOf(service.dataDir, `SELECT account_id, ${key}`, broken)
    const { account_id: id, sealed_private_key: whole } = sealed as {
      account_id: string
      sealed_private_key: Uint8Array
    }
    const write = 'UPDATE wallet_account_keys SET sealed_private_key = ? WHERE account_id = ?'
    await rowsOf(service.dataDir, write, new Uint8Array(60), id)
    const waiting = await accept({ from: broken, sponsor: true, calls: [{ to: LEDGER, data: put(1) }] })
    expect(await send({ from, sponsor: true, calls: [{ to: LEDGER, data: put(2) }] })).toEqual(included)
    await rowsOf(service.dataDir, write, whole, id)
    expect(await untilEnded(service.root, waiting)).toEqual(included)
  })

  test('a sponsored send: it ends with the reason when the relayer has no funds', async () => {
    const relayer = service.service.bootstrap.relayers.eip155
    await anvil.fund(relayer, 0)
    const ended = await send({ from: await newAccount(), sponsor: true, calls: [{ to: RECEIVER }] })
    await anvil.fund(relayer, 10)
    expect(ended).toMatchObject({
      txStatus: 'FAILED',
      txError: expect.stringMatching(
        /^the service's relayer 0x[0-9a-f]{40}, which pays for sponsored sends, is out of funds/,
      ),
    })
  })

  test('a sponsored send: it ends with the reason when the chain has no gas station', async () => {
    const code = await codeOf(GAS_STATION.station)
    await anvil.rpc('anvil_setCode', GAS_STATION.station, '0x')
    const ended = await send({ from: await newAccount(), sponsor: true, calls: [{ to: RECEIVER }] })
    await anvil.rpc('anvil_setCode', GAS_STATION.station, code)
    expect(ended).toMatchObject({
      txStatus: 'FAILED',
      txError: `there is no gas station at ${GAS_STATION.station} on this chain`,
    })
  })
})

describe('eth_undelegate_7702', () => {
  test('eth_undelegate_7702: the account runs no code any more, and its executions go on with their nonce afterwards', async () => {
    const from = await newAccount()
    await anvil.fund(from, 1)
    const intent = { from, sponsor: true, calls: [{ to: LEDGER, data: put(5) }] }
    expect(await send(intent)).toEqual(included)
    expect(await undelegate(from)).toEqual(included)
    expect([await codeOf(from), await nonceOf(from)]).toEqual(['0x', '1'])
    expect(await send(intent)).toEqual(included)
    expect([await codeOf(from), await nonceOf(from)]).toEqual([delegation, '2'])
  })

  test('eth_undelegate_7702: asked for right behind executions it comes after them', async () => {
    const from = await newAccount()
    await anvil.fund(from, 1)
    const calls = [{ to: RECEIVER }, { to: OTHER }]
    const ids = [await accept({ from, calls }), await accept({ from, calls })]
    expect(await undelegate(from)).toEqual(included)
    expect(await Promise.all(ids.map((id) => untilEnded(service.root, id)))).toEqual([included, included])
    expect(await codeOf(from)).toBe('0x')
  })
})

describe('an execution that cannot be', () => {
  test.each<[string, object, readonly unknown[]]>([
    [
      'more calls than the contract takes',
      { calls: Array.from({ length: 21 }, () => ({ to: RECEIVER })) },
      invalid('the gas station takes at most 20 calls at once, got 21'),
    ],
    [
      'the creation of a contract',
      { calls: [{ to: RECEIVER }, { to: '', data: '0x6000' }] },
      invalidField('calls[1].to', 'must not be empty: a gas station creates no contracts'),
    ],
    [
      'a nonce of a sponsored send',
      { sponsor: true, nonce: '3' },
      invalidField('nonce', 'is that of the payer: a sponsored send has `gasStationNonce` alone'),
    ],
    [
      'a deadline that is over',
      { sponsor: true, deadline: '1000' },
      invalidField('deadline', 'is over: it is in seconds since 1970'),
    ],
    [
      'a gas station nonce that is no number',
      { sponsor: true, gasStationNonce: 'one' },
      invalidField('gasStationNonce', 'must be a whole number of at most 128 bits'),
    ],
  ])('an execution that cannot be: %s is refused', async (_, parameters, refusal) => {
    const from = await newAccount()
    const intent = { from, caip2: SEPOLIA, calls: [{ to: RECEIVER }], ...parameters }
    expect(await refusalOf(service.root.submit(V2, intent))).toEqual(refusal)
  })

  test('an execution that cannot be: nobody pays where sponsorship is not enabled', async () => {
    const other = await startTestService({ chains: { [SEPOLIA]: { url: anvil.url, usdPrice: '2000' } } })
    try {
      const from = (await makeWallet(other.root, ETHEREUM)).accounts[0]!.address
      const sent = other.root.submit(V2, { from, caip2: SEPOLIA, sponsor: true, calls: [{ to: RECEIVER }] })
      expect((await refusalOf(sent)).slice(0, 3)).toEqual([
        403,
        7,
        'request not authorized: gas sponsorship is not enabled for this organization',
      ])
    } finally {
      await other.close()
    }
  })
})

async function uploadLedger(): Promise<void> {
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
    smartContractAddress: LEDGER,
    smartContractInterface: JSON.stringify(LEDGER_ABI),
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: 'ledger',
  })
}
