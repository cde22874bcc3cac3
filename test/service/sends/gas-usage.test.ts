import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Chain, createChains } from '../../../src/service/chains/chains.ts'
import { replaceGasUsageConfig } from '../../../src/service/resources/gas-usage/store.ts'
import { insertOrganization } from '../../../src/service/resources/organizations/store.ts'
import type { SendRow } from '../../../src/service/resources/sends/store.ts'
import { insertSend, updateSend } from '../../../src/service/resources/sends/store.ts'
import {
  checkGasAllowance,
  raiseGas,
  readGasUsage,
  reserveGas,
  settleGas,
} from '../../../src/service/sends/gas-usage.ts'
import { type Database, openDatabase } from '../../../src/service/store/index.ts'
import { addTenant, complete, fresh, invalidField, missing, newUser, refusalOf } from '../handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'
import { ETHEREUM, makeWallet } from '../signing/keys.ts'
import { SEPOLIA } from './status.ts'

const config = { orgWindowLimitUsd: '100.5', subOrgWindowLimitUsd: '10', windowDurationMinutes: '60' }

describe('upsert_gas_usage_config', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service.close())
  const upsert = (parameters: object) =>
    complete(service.root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', { ...config, ...parameters })

  test('before there is one, there is no usage to read', async () => {
    const { organizationId } = service
    const refusal = missing(`gas usage config of organization not found: ${organizationId}`)
    expect(await refusalOf(service.root.query('get_gas_usage'))).toEqual(refusal)
  })

  test('the limits of the parent and of a sub-organization are read as they were sent, and the id stays', async () => {
    const { gasUsageConfigId } = await upsert({})
    expect(await service.root.query('get_gas_usage')).toEqual({
      windowDurationMinutes: 60,
      windowLimitUsd: '100.5',
      usageUsd: '0',
    })
    const again = await upsert({ subOrgWindowLimitUsd: '12.25', enabled: false, solanaConfig: {} })
    expect(again.gasUsageConfigId).toBe(gasUsageConfigId)
    const { userTags: _, ...rootUser } = newUser()
    const { subOrganizationId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', {
      subOrganizationName: fresh('sub'),
      rootUsers: [rootUser],
      rootQuorumThreshold: 1,
    })
    expect(await service.root.query('get_gas_usage', { organizationId: subOrganizationId })).toMatchObject({
      windowLimitUsd: '12.25',
      usageUsd: '0',
    })
  })

  test.each<[string, object, string, string]>([
    ['a window of no time', { windowDurationMinutes: '0' }, 'windowDurationMinutes', 'must be a positive integer'],
    ['a window over 30 days', { windowDurationMinutes: '43201' }, 'windowDurationMinutes', 'must be at most 43200'],
    [
      'a limit that is no number',
      { orgWindowLimitUsd: '-1' },
      'orgWindowLimitUsd',
      'must be a decimal number with at most 6 places',
    ],
  ])('%s is refused', async (_, parameters, field, rule) => {
    expect(await refusalOf(upsert(parameters))).toEqual(invalidField(field, rule))
  })

  test('a sub-organization has none of its own', async () => {
    const tenant = await addTenant(service, { parentId: service.organizationId })
    const { organizationId } = tenant
    const sent = tenant.client.submit('ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', config, { organizationId })
    const message = 'request not authorized: a gas usage config can be had by a parent organization alone'
    expect(await refusalOf(sent)).toEqual([403, 7, message, 'REQUEST_NOT_AUTHORIZED'])
  })
})

describe('a sponsored send that waits', () => {
  test('it is judged by the price that was asked when it was submitted, also by a service that was started since', async () => {
    let price = 1_000_000_000n
    const hex = (value: bigint) => `0x${value.toString(16)}`
    const node = createServer(async (request, response) => {
      const { id, method } = JSON.parse((await buffer(request)).toString())
      const hash = `0x${'1'.repeat(64)}`
      const block = { number: '0x1', baseFeePerGas: hex(price), hash, parentHash: hash, timestamp: '0x1' }
      const answers: Readonly<Record<string, unknown>> = {
        eth_chainId: '0xaa36a7',
        eth_blockNumber: '0x1',
        eth_getBlockByNumber: block,
        eth_maxPriorityFeePerGas: hex(price),
      }
      const said = method in answers ? { result: answers[method] } : { error: { code: -32000, message: 'not now' } }
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
    })
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
    const service = await startTestService({ chains: { [SEPOLIA]: { url, pollMs: 3_600_000, usdPrice: '2000' } } })
    try {
      const from = (await makeWallet(service.root, ETHEREUM)).accounts[0]!.address
      await complete(service.root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', { ...config, orgWindowLimitUsd: '3' })
      const bob = await createTestUser(service, 'bob')
      const quorum = { threshold: 2, userIds: [service.rootUserId, bob.userId] }
      await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', quorum)
      const intent = { from, caip2: SEPOLIA, sponsor: true, calls: [{ to: from }] }
      const ask = () => service.root.submit('ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2', intent)
      const [first, second, third] = [await ask(), await ask(), await ask()]
      await service.restart()
      price *= 1000n
      const statuses: string[] = []
      for (const { fingerprint } of [first, second, third])
        statuses.push((await bob.client.approve(fingerprint)).status.replace('ACTIVITY_STATUS_', ''))
      // 200,000 gas at 3 gwei and 2,000 dollars: two fit in three dollars, a third does not.
      expect(statuses).toEqual(['COMPLETED', 'COMPLETED', 'FAILED'])
      expect(await service.root.query('get_gas_usage')).toMatchObject({ usageUsd: '2.4' })
    } finally {
      await service.close()
      node.closeAllConnections()
      await new Promise((resolve) => node.close(resolve))
    }
  })
})

const HOUR = 3_600_000
const ether = (amount: number) => BigInt(Math.round(amount * 1e6)) * 10n ** 12n

describe('gas usage', () => {
  let folder: string
  let database: Database
  let chain: Chain
  let sends = 0
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'quorate-gas-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  beforeEach(async () => {
    database = openDatabase(join(folder, `${sends++}.db`), { now: 0 })
    chain = createChains({ [SEPOLIA]: { url: 'http://127.0.0.1:9', usdPrice: '2000' } }).require(SEPOLIA)
    await database.write(async (tx) => {
      const made = { quorum_threshold: 1, created_at: 0, updated_at: 0 }
      for (const [id, parent_id] of Object.entries({ parent: null, first: 'parent', second: 'parent', other: null })) {
        await insertOrganization(tx, { id, parent_id, name: id, ...made })
      }
    })
    await configure({})
    return () => database.close()
  })

  const configure = (changes: object) =>
    database.write((tx) =>
      replaceGasUsageConfig(tx, {
        organization_id: 'parent',
        id: 'config',
        org_window_limit_usd: '100',
        sub_org_window_limit_usd: '60',
        window_duration_minutes: 60,
        enabled: 1,
        solana_config: null,
        created_at: 0,
        updated_at: 0,
        ...changes,
      }),
    )
  /** Accepts a send that is estimated to cost so many ether. */
  const accept = (organizationId: string, amount: number, now = HOUR) =>
    database.write(async (tx) => {
      const id = `send-${sends++}`
      const row = {
        id,
        organization_id: organizationId,
        activity_id: 'a',
        caip2: SEPOLIA,
        sender: '0x',
        request: '{}',
        nonce: null,
      }
      const times = { created_at: now, updated_at: now }
      await insertSend(tx, { ...row, status: 'INITIALIZED', hash: null, failure: null, ...times })
      await reserveGas({ tx, organizationId, now }, id, { chain, cost: ether(amount) })
      return { ...row, position: 0 } as unknown as SendRow
    })
  const usage = (organizationId: string, now = HOUR) =>
    database.read(async (tx) => (await readGasUsage({ tx, organizationId, now }))?.usageUsd)
  const refused = { grpc: 8, message: 'gas sponsorship limit reached' }

  test('a send of a sub-organization counts towards its own limit and towards that of all', async () => {
    await accept('first', 0.01)
    await accept('parent', 0.02)
    expect([await usage('first'), await usage('second'), await usage('parent')]).toEqual(['20', '0', '60'])
    await expect(accept('first', 0.021)).rejects.toMatchObject(refused)
    await accept('second', 0.02)
    await expect(accept('parent', 0.000001)).rejects.toMatchObject(refused)
    expect([await usage('first'), await usage('second'), await usage('parent')]).toEqual(['20', '40', '100'])
  })

  test('however high the limit, no more is accepted than can be counted', async () => {
    await configure({ org_window_limit_usd: '999999999999999' })
    await expect(accept('parent', 5_000_000)).rejects.toMatchObject(refused)
    await accept('parent', 4_000_000)
    await expect(accept('parent', 4_000_000)).rejects.toMatchObject(refused)
    expect(await usage('parent')).toBe('8000000000')
  })

  test('one that is refused is not counted, and of many at once as many are accepted as fit', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => accept('first', 0.005)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
    expect(await usage('parent')).toBe('60')
  })

  test('it counts with the most that it may cost once it is signed, and with what it has cost once it is included', async () => {
    const send = await accept('first', 0.01)
    const raise = (amount: number) =>
      database.write((tx) => raiseGas(tx, send, { chain, cost: ether(amount), now: HOUR }))
    expect(await raise(0.03)).toBeUndefined()
    expect(await usage('first')).toBe('60')
    expect(await raise(0.031)).toBe('gas sponsorship limit reached')
    expect(await usage('first')).toBe('60')
    await database.write((tx) => settleGas(tx, send, { chain, cost: 1_234_567_890_123n }))
    // 0.002469135780246 dollars, rounded up.
    expect(await usage('first')).toBe('0.00247')
  })

  test('one that failed has cost nothing', async () => {
    const send = await accept('first', 0.03)
    await database.write((tx) => updateSend(tx, send, { status: 'FAILED', updated_at: HOUR }))
    expect(await usage('parent')).toBe('0')
    await accept('first', 0.03)
  })

  test('what was accepted before the window is not in it', async () => {
    await accept('first', 0.03, HOUR)
    await expect(accept('first', 0.001, 2 * HOUR - 1)).rejects.toMatchObject(refused)
    await accept('first', 0.03, 2 * HOUR)
    expect(await usage('parent', 2 * HOUR)).toBe('60')
  })

  test('one that its sender pays for is not counted', async () => {
    const send = { ...(await accept('first', 0.01)), id: 'another' }
    await database.write(async (tx) => {
      expect(await raiseGas(tx, send, { chain, cost: ether(9), now: HOUR })).toBeUndefined()
      await settleGas(tx, send, { chain, cost: ether(9) })
    })
    expect(await usage('parent')).toBe('20')
  })

  test('without an enabled config, and without a price, nothing is sponsored', async () => {
    const check = (organizationId: string, of = chain) =>
      database.read((tx) => checkGasAllowance({ tx, organizationId, now: 0 }, { chain: of, cost: 0n }))
    const notEnabled = { grpc: 7, message: expect.stringContaining('gas sponsorship is not enabled') }
    await check('first')
    await expect(check('other')).rejects.toMatchObject(notEnabled)
    const { usdPrice: _, ...unpriced } = chain
    const message = `gas cannot be sponsored on chain ${SEPOLIA}: the service has no price of its currency`
    await expect(check('first', unpriced)).rejects.toMatchObject({ grpc: 9, message })
    const send = await accept('first', 0.01)
    const raised = database.write((tx) => raiseGas(tx, send, { chain: unpriced, cost: 1n, now: 0 }))
    expect(await raised).toBe(message)
    await database.write((tx) => settleGas(tx, send, { chain: unpriced, cost: 1n }))
    expect(await usage('first')).toBe('20')
    await configure({ enabled: 0 })
    await expect(check('first')).rejects.toMatchObject(notEnabled)
  })
})
