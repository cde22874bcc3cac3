import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueryClient } from '../../src/client/index.ts'
import { loadDefinitions } from '../../src/definitions/index.ts'
import { creatorsOf, readActual } from '../../src/live/index.ts'
import { type Actual, kinds, type Resource, sameValue } from '../../src/resources/index.ts'
import { KEYS } from '../definitions/harness.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { createAll, rootReader, withIds } from './organization.ts'

const ACCOUNTS = 130

/** The example organization, with a wallet of more accounts than one page holds. */
async function exampleOf(service: TestService): Promise<readonly Resource[]> {
  const { desired, diagnostics } = await loadDefinitions(`${import.meta.dirname}/../../definitions/acme`, {
    env: { ACME_ORGANIZATION_ID: service.organizationId },
    // Alice is made anew here; the root user's own key is taken.
    vars: { alicePublicKey: KEYS.p256, bobPublicKey: KEYS.p256Generator, carolPublicKey: KEYS.p256Double },
  })
  expect(diagnostics).toEqual([])
  const wallet = 'wallet.operations'
  const accounts = Array.from({ length: ACCOUNTS - 1 }, (_, i): Resource => {
    const path = `m/44'/60'/0'/0/${i + 1}`
    const name = `${path} ethereum`
    const fields = { path, curve: 'secp256k1', format: 'ethereum' }
    return {
      address: `walletAccount.operations[${JSON.stringify(name)}]`,
      kind: 'walletAccount',
      name,
      parent: wallet,
      fields,
    }
  })
  return [
    ...desired!.resources.filter(({ address }) => address !== 'user.alice' && !address.startsWith('apiKey.alice')),
    ...accounts,
  ]
}

describe('an organization', () => {
  let service: TestService
  let reader: QueryClient
  let desired: readonly Resource[]
  let ids: Record<string, string>
  let actual: Actual

  beforeAll(async () => {
    service = await startTestService()
    reader = rootReader(service)
    desired = (await exampleOf(service)).filter(({ kind }) => kind !== 'rootQuorum')
    ids = await createAll(service, desired)
    actual = await readActual(reader)
  })
  afterAll(() => service.close())

  test('live: what the templates created is read back the same, field by field', () => {
    for (const want of desired) {
      const { fields, identity } = kinds[want.kind]
      const found = actual.resources.filter(
        (one) => one.kind === want.kind && one.parent === want.parent && identity(one) === identity(want),
      )
      expect(found, want.address).toHaveLength(1)
      for (const [field, row] of Object.entries(fields)) {
        if (want.fields[field] === undefined) continue
        const same = sameValue(withIds(want.fields[field], ids), found[0]!.fields[field], row.compare)
        expect(same, `${want.address} ${field}`).toBe(true)
      }
    }
  })

  test('live: the accounts of all pages are there, each with an id of its own', () => {
    const accounts = actual.resources.filter(({ parent }) => parent === 'wallet.operations')
    expect(new Set(accounts.map(({ id }) => id)).size).toBe(ACCOUNTS)
  })

  test('live: the organization, its quorum and who reads are there', () => {
    expect(actual.actor.userId).toBe(service.rootUserId)
    expect(actual.actor.publicKey).toBe(service.root.publicKey)
    const quorum = actual.resources.find(({ kind }) => kind === 'rootQuorum')
    expect(quorum!.fields).toEqual({ threshold: 1, users: [service.rootUserId] })
    expect(actual.resources.find(({ kind }) => kind === 'organization')!.fields).toEqual({
      name: actual.organizationName,
    })
  })

  test('creators: the submitter is found, and what the lock holds is not asked about', async () => {
    const creators = await creatorsOf(reader, actual, {})
    const me = { userId: service.rootUserId, userName: actual.actor.userName }
    for (const address of ['tag.treasury', 'user.bob', 'policy.no-exports', 'wallet.treasury']) {
      expect(creators.get(ids[address]!), address).toEqual(me)
    }
    // The first root user is made with the organization, by no activity.
    expect(creators.has(service.rootUserId)).toBe(false)
    const without = await creatorsOf(reader, actual, {
      [service.organizationId]: { 'user.bob': { id: ids['user.bob']! } },
    })
    expect(without.has(ids['user.bob']!)).toBe(false)
    expect(without.size).toBe(creators.size - 1)
  })

  test('creators: a tag does not lend its creator to the users that it was given', async () => {
    const ops = await createTestUser(service, 'ops')
    const policy = {
      policyName: 'open',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(u, u.id == '${ops.userId}')`,
      condition: "activity.resource == 'USER'",
      notes: '',
    }
    await service.root.submit('ACTIVITY_TYPE_CREATE_POLICIES', { policies: [policy] })
    const user = {
      userName: 'planted',
      apiKeys: [{ apiKeyName: 'k', publicKey: KEYS.p256, curveType: 'API_KEY_CURVE_P256' }],
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    }
    const planted = await ops.client.submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users: [user] })
    const plantedId = planted.result.createUsersResult!.userIds[0]!
    await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'late', userIds: [plantedId] })
    const creators = await creatorsOf(reader, await readActual(reader), {})
    expect(creators.get(plantedId)).toEqual({ userId: ops.userId, userName: 'ops' })
  })
})

describe('faults', () => {
  let service: TestService
  let reader: QueryClient
  let calls: string[]

  beforeAll(async () => {
    service = await startTestService()
    reader = rootReader(service)
    await createAll(
      service,
      (await exampleOf(service)).filter(({ kind }) => kind !== 'rootQuorum'),
    )
    calls = []
    await readActual(
      tampered(reader, (_call, name, answer) => {
        calls.push(name)
        return answer
      }),
    )
  })
  afterAll(() => service.close())

  test('live: one request for each list and one for each page', () => {
    expect(calls).toEqual([
      'whoami',
      'get_organization_configs',
      'list_user_tags',
      'list_users',
      'list_policies',
      'list_wallets',
      // Of 130 accounts two pages and an empty one, since thirty may be a page that was cut; of one account its page.
      ...Array(4).fill('list_wallet_accounts'),
      'list_oauth2_credentials',
      'list_private_key_tags',
      'list_private_keys',
      'list_smart_contract_interfaces',
      'list_webhook_endpoints',
    ])
  })

  const faults: { name: string; change: (answer: unknown) => unknown; code: RegExp }[] = [
    { name: 'is null', change: () => null, code: /^live\/malformed-answer$/ },
    {
      name: 'has a null for its list',
      change: (answer) => mapMembers(answer, () => null),
      code: /^live\/malformed-answer$/,
    },
    {
      name: 'has a list with a null in it',
      change: (answer) => mapMembers(answer, (value) => (Array.isArray(value) ? [...value, null] : null)),
      code: /^live\/malformed-answer$/,
    },
    {
      name: 'has a record without its id',
      change: (answer) => mapMembers(answer, (value) => (Array.isArray(value) ? [...value, {}] : {})),
      code: /^live\/malformed-answer$/,
    },
  ]
  for (const { name, change, code } of faults) {
    test(`live: whichever answer ${name}, nothing is given`, async () => {
      for (const [index, query] of calls.entries()) {
        const reading = readActual(
          tampered(reader, (call, _name, answer) => (call === index ? change(answer) : answer)),
        )
        await expect(reading, `${index} ${query}`).rejects.toMatchObject({ code: expect.stringMatching(code) })
      }
    })
  }

  test('live: a page that comes twice is an error', async () => {
    let full: unknown
    const reading = readActual(
      tampered(reader, (_call, name, answer) => {
        if (name !== 'list_wallet_accounts') return answer
        if (full !== undefined) return full
        if ((answer as { accounts: unknown[] }).accounts.length === 100) full = answer
        return answer
      }),
    )
    await expect(reading).rejects.toMatchObject({ code: 'live/page-repeated' })
  })

  test('live: a list that lacks what another names is an error', async () => {
    const without = (query: string, member: string) =>
      readActual(tampered(reader, (_call, name, answer) => (name === query ? { [member]: [] } : answer)))
    await expect(without('list_users', 'users')).rejects.toMatchObject({ code: 'live/dangling-id' })
    await expect(without('list_user_tags', 'userTags')).rejects.toMatchObject({ code: 'live/dangling-id' })
  })

  test('live: an answer about another organization is an error', async () => {
    const reading = readActual(
      tampered(reader, (_call, name, answer) =>
        name === 'whoami' ? { ...(answer as object), organizationId: '00000000-0000-4000-8000-000000000009' } : answer,
      ),
    )
    await expect(reading).rejects.toMatchObject({ code: 'live/other-organization' })
  })

  test('creators: whichever page of activities fails, nothing is given', async () => {
    const actual = await readActual(reader)
    const reading = creatorsOf(
      tampered(reader, () => ({})),
      actual,
      {},
    )
    await expect(reading).rejects.toMatchObject({ code: 'live/malformed-answer' })
  })
})

/** The client with its answers changed; calls count from 0. */
function tampered(client: QueryClient, change: (call: number, name: string, answer: unknown) => unknown): QueryClient {
  let calls = 0
  return {
    ...client,
    query: (async (name: Parameters<QueryClient['query']>[0], request: never) =>
      change(calls++, name, await client.query(name, request))) as QueryClient['query'],
  }
}

function mapMembers(answer: unknown, change: (value: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(answer as object).map(([name, value]) => [name, change(value)]))
}
