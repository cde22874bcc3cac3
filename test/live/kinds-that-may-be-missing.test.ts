import { describe, expect, test } from 'vitest'
import { ClientError } from '../../src/client/index.ts'
import { creatorsOf, readActual } from '../../src/live/index.ts'
import { KINDS, type KindName } from '../../src/resources/index.ts'
import { createMemoryApi, type MemoryApi } from './memory-api.ts'

/** Answers one query with a refusal. */
function refusing(query: string, code: 'client/not-supported' | 'client/denied' | 'client/unreachable'): MemoryApi {
  const api = createMemoryApi()
  return {
    ...api,
    query: (async (name: never, request: never) => {
      if (name === query) throw new ClientError(code, 'refused', { submitted: 'no' })
      return api.query(name, request)
    }) as MemoryApi['query'],
  }
}

const QUERIES: { kind: KindName; query: string; many: string; onDemand?: true }[] = [
  { kind: 'privateKeyTag', query: 'list_private_key_tags', many: 'private key tags' },
  { kind: 'privateKey', query: 'list_private_keys', many: 'private keys' },
  { kind: 'smartContractInterface', query: 'list_smart_contract_interfaces', many: 'smart contract interfaces' },
  { kind: 'webhook', query: 'list_webhook_endpoints', many: 'webhook endpoints' },
  { kind: 'oauth2Credential', query: 'list_oauth2_credentials', many: 'OAuth 2.0 credentials' },
  { kind: 'ipAllowlist', query: 'get_ip_allowlist', many: 'IP allow-lists', onDemand: true },
  { kind: 'apiKeyIpAllowlist', query: 'get_ip_allowlist', many: 'IP allow-lists of API keys', onDemand: true },
  { kind: 'authProxy', query: 'list_activities', many: 'authentication proxies', onDemand: true },
  { kind: 'invitation', query: 'get_organization', many: 'invitations', onDemand: true },
]

/** What `readActual` reads by itself, since every service tells of it. */
const FIRST: readonly KindName[] = [
  ...(['organization', 'rootQuorum', 'feature', 'tag', 'user', 'apiKey', 'authenticator', 'oauthProvider'] as const),
  ...(['mfaPolicy', 'policy', 'wallet', 'walletAccount', 'subOrganization'] as const),
]

describe('kinds that a service may not tell of', () => {
  test('live: every kind is read; one that is not would be planned as new for ever', () => {
    expect([...FIRST, ...QUERIES.map(({ kind }) => kind)].sort()).toEqual(KINDS.toSorted())
  })

  for (const { kind, query, many, onDemand } of QUERIES) {
    test(`live: without ${query}, ${many} are unread where nobody mentions them, and an error where somebody does`, async () => {
      const api = refusing(query, 'client/not-supported')
      expect((await readActual(api)).unread).toContain(kind)
      expect((await readActual(api, { everything: true })).unread).toContain(kind)
      await expect(readActual(api, { mentioned: new Set([kind]) })).rejects.toMatchObject({
        code: 'live/unreadable-kind',
        message: `the service does not tell of ${many}, which the definitions or the lock mention`,
        facts: { query },
      })
    })

    test(`live: ${query} that fails is an error for every caller`, async () => {
      const reading = readActual(refusing(query, 'client/unreachable'), { everything: true })
      await expect(reading).rejects.toMatchObject({ code: 'client/unreachable' })
      const denied = readActual(refusing(query, 'client/denied'), { everything: true })
      if (onDemand) expect((await denied).unread).toContain(kind)
      else await expect(denied).rejects.toMatchObject({ code: 'client/denied' })
    })
  }

  test('live: what costs a request for each key, or asks what few tell, is read on demand alone', async () => {
    const asked: string[] = []
    const api = createMemoryApi()
    const counting = {
      ...api,
      query: ((name: never, request: never) => {
        asked.push(name)
        return api.query(name, request)
      }) as MemoryApi['query'],
    }
    expect((await readActual(counting)).unread).toEqual([
      'ipAllowlist',
      'apiKeyIpAllowlist',
      'invitation',
      'authProxy',
      'subOrganization',
    ])
    expect(asked).not.toContain('get_ip_allowlist')
    expect((await readActual(counting, { mentioned: new Set(KINDS) })).unread).toEqual([])
    expect(asked).toContain('get_organization')
  })

  test('live: a private key with a tag that no list has is an error', async () => {
    const api = createMemoryApi()
    api.execute('ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', { privateKeyTagName: 'hot', privateKeyIds: [] })
    const [tag] = (await readActual(api)).resources.filter(({ kind }) => kind === 'privateKeyTag')
    const key = { privateKeyName: 'k', curve: 'CURVE_P256', privateKeyTags: [tag!.id!], addressFormats: [] }
    api.execute('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: [key] })
    const without = {
      ...api,
      query: (async (name: string, request: never) =>
        name === 'list_private_key_tags' ? { privateKeyTags: [] } : api.query(name as never, request)) as never,
    }
    await expect(readActual(without)).rejects.toMatchObject({
      code: 'live/dangling-id',
      message: '`privateKey.k` names a private key tag that the list of private key tags does not have',
    })
  })
})

describe('creators of the other kinds', () => {
  const made: { type: string; result: object; kind: KindName }[] = [
    { type: 'CREATE_PRIVATE_KEY_TAG', result: { privateKeyTagId: 'ID', privateKeyIds: ['K'] }, kind: 'privateKeyTag' },
    {
      type: 'CREATE_PRIVATE_KEYS_V2',
      result: { privateKeys: [{ privateKeyId: 'other' }, { privateKeyId: 'ID' }] },
      kind: 'privateKey',
    },
    { type: 'CREATE_PRIVATE_KEYS', result: { privateKeyIds: ['ID'] }, kind: 'privateKey' },
    { type: 'IMPORT_PRIVATE_KEY', result: { privateKeyId: 'ID', addresses: [] }, kind: 'privateKey' },
    {
      type: 'CREATE_SMART_CONTRACT_INTERFACE',
      result: { smartContractInterfaceId: 'ID' },
      kind: 'smartContractInterface',
    },
    { type: 'CREATE_WEBHOOK_ENDPOINT', result: { endpointId: 'ID', webhookEndpoint: {} }, kind: 'webhook' },
    { type: 'CREATE_INVITATIONS', result: { invitationIds: ['ID'] }, kind: 'invitation' },
    { type: 'CREATE_AUTHENTICATORS_V2', result: { authenticatorIds: ['ID'] }, kind: 'authenticator' },
    { type: 'CREATE_OAUTH_PROVIDERS_V2', result: { providerIds: ['ID'] }, kind: 'oauthProvider' },
    { type: 'CREATE_OAUTH2_CREDENTIAL', result: { oauth2CredentialId: 'ID' }, kind: 'oauth2Credential' },
  ]
  for (const { type, result, kind } of made) {
    test(`creators: ${type} tells who made the ${kind}, and of nothing else`, async () => {
      const vote = {
        userId: 'U',
        user: { userName: 'mallory' },
        selection: 'VOTE_SELECTION_APPROVED',
        createdAt: { seconds: '1', nanos: '0' },
      }
      const asked: unknown[] = []
      const api = createMemoryApi()
      const listing = {
        ...api,
        query: (async (_name: never, request: unknown) => {
          asked.push(request)
          const key = `${type.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}Result`
          const activity = { id: 'A', type: `ACTIVITY_TYPE_${type}`, votes: [vote], result: { [key]: result } }
          return { activities: [activity] }
        }) as MemoryApi['query'],
      }
      const found = await creatorsOf(
        listing,
        {
          organizationId: 'O',
          organizationName: 'acme',
          resources: [{ address: kind, kind, name: 'x', id: 'ID', fields: {} }],
          actor: { userId: 'U', userName: 'mallory', publicKey: '' },
        },
        {},
      )
      expect([...found]).toEqual([['ID', { userId: 'U', userName: 'mallory' }]])
      expect(JSON.stringify(asked)).toContain(`ACTIVITY_TYPE_${type}"`)
    })
  }
})
