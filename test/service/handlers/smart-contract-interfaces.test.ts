import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import { complete, exhausted, invalid, invalidField, missing, NOBODY, refusalOf } from './steps.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ clock: createTestClock() })
})
afterAll(() => service.close())

const ABI = '[ {"type":"function","name":"transfer","inputs":[{"name":"to","type":"address"}],"outputs":[]} ]'
const IDL = '{"version":"0.1.0","name":"p","instructions":[{"name":"go","accounts":[],"args":[]}],"types":[]}'
const ethereum = {
  smartContractAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  smartContractInterface: ABI,
  type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
  label: 'usdc',
}
const create = (overrides: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', { ...ethereum, ...overrides })
const list = async () => (await service.root.query('list_smart_contract_interfaces')).smartContractInterfaces

describe('smart contract interfaces', () => {
  test('smart contract interfaces: one is made, read back as it was sent, referred to by digest, and deleted', async () => {
    const { smartContractInterfaceId } = await create({ notes: 'as deployed' })
    const now = { seconds: '1750000000', nanos: '0' }
    const record = {
      ...ethereum,
      smartContractInterfaceId,
      organizationId: service.organizationId,
      notes: 'as deployed',
      createdAt: now,
      updatedAt: now,
    }
    const got = await service.root.query('get_smart_contract_interface', { smartContractInterfaceId })
    expect(got.smartContractInterface).toEqual(record)
    expect(await list()).toEqual([record])
    const digest = createHash('sha256').update(ABI).digest('hex')
    const { organizationData } = await service.root.query('get_organization')
    expect(organizationData.smartContractInterfaceReferences).toEqual([
      { smartContractInterfaceId, smartContractAddress: ethereum.smartContractAddress, digest },
    ])
    const deleted = await complete(service.root, 'ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE', {
      smartContractInterfaceId,
    })
    expect(deleted).toEqual({ smartContractInterfaceId })
    expect(await list()).toEqual([])
  })

  test('smart contract interfaces: several may stand for one address, oldest first, and Solana has its own form', async () => {
    const first = await create({ label: 'one' })
    const second = await create({ label: 'two' })
    const program = { smartContractAddress: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', label: 'three' }
    const solana = { ...program, type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', smartContractInterface: IDL }
    const third = await create(solana)
    const ids = [first, second, third].map(({ smartContractInterfaceId }) => smartContractInterfaceId)
    expect((await list()).map(({ smartContractInterfaceId }) => smartContractInterfaceId)).toEqual(ids)
  })

  const bytes = (length: number) => `[${' '.repeat(length - 2)}]`
  test('smart contract interfaces: 400,000 bytes are taken and one more is not', async () => {
    const full = bytes(400_000)
    const { smartContractInterfaceId } = await create({ smartContractInterface: full })
    const got = await service.root.query('get_smart_contract_interface', { smartContractInterfaceId })
    expect(got.smartContractInterface.smartContractInterface).toBe(full)
    const refusal = await refusalOf(create({ smartContractInterface: bytes(400_001) }))
    expect(refusal).toEqual(invalidField('smartContractInterface', 'must have at most 400000 bytes'))
  })

  test('smart contract interfaces: there is room for ten of the largest, and one more fits when one has gone', async () => {
    const remove = (smartContractInterfaceId: string) =>
      complete(service.root, 'ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE', { smartContractInterfaceId })
    for (const { smartContractInterfaceId } of await list()) await remove(smartContractInterfaceId)
    const ids: string[] = []
    for (let at = 0; at < 10; at++) {
      const { smartContractInterfaceId } = await create({ smartContractInterface: bytes(395_000), notes: String(at) })
      ids.push(smartContractInterfaceId)
    }
    const one = { smartContractInterface: bytes(395_000), notes: 'one more' }
    expect(await refusalOf(create(one))).toEqual(
      exhausted('organization has exceeded maximum bytes of smart contract interfaces (4194304)'),
    )
    expect(await list()).toHaveLength(10)
    await remove(ids[0]!)
    await create(one)
  })

  test.each([
    { name: 'no JSON', given: { smartContractInterface: '{' }, expected: expect.stringMatching(/JSON/i) },
    { name: 'an ABI that is no list', given: { smartContractInterface: '{}' }, expected: expect.any(String) },
    {
      name: 'an IDL without `types`',
      given: { type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', smartContractInterface: '{"instructions":[]}' },
      expected: expect.stringMatching(/types/),
    },
    {
      name: 'an unknown type',
      given: { type: 'SMART_CONTRACT_INTERFACE_TYPE_CARDANO' },
      expected: expect.stringContaining('field `type`'),
    },
    { name: 'no label', given: { label: '' }, expected: 'invalid request body: field `label` must not be empty' },
    {
      name: 'no address',
      given: { smartContractAddress: '' },
      expected: 'invalid request body: field `smartContractAddress` must not be empty',
    },
  ])('smart contract interfaces: $name is refused', async ({ given, expected }) => {
    const before = await list()
    expect(await refusalOf(create(given))).toEqual(invalid(expected))
    expect(await list()).toEqual(before)
  })

  test('smart contract interfaces: one that is not there is neither read nor deleted', async () => {
    const of = { smartContractInterfaceId: NOBODY }
    const gone = missing(`smart contract interface not found: ${NOBODY}`)
    expect(await refusalOf(service.root.query('get_smart_contract_interface', of))).toEqual(gone)
    const deletion = service.root.submit('ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE', of)
    expect(await refusalOf(deletion)).toEqual(gone)
  })
})
