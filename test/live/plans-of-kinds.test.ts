import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { kindsMentioned, readActual } from '../../src/live/index.ts'
import { kindsOf, makePlan, movedSince } from '../../src/plan/index.ts'
import { KEYS, loadFiles } from '../definitions/harness.ts'
import { createMemoryApi, MEMORY_ID, type MemoryApi } from './memory-api.ts'

/** What a plan does, what it refuses, and what it says, for definitions of one organization in memory. */
async function planOf(api: MemoryApi, sections: object) {
  const text = stringify({ organization: 'acme', id: MEMORY_ID, ...sections }, { lineWidth: 0 })
  const { desired, diagnostics } = await loadFiles({ 'a.yaml': text }, { env: {}, vars: {} })
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  const actual = await readActual(api, { mentioned: kindsMentioned(desired!) })
  const lock = { [MEMORY_ID]: {} }
  const now = '2026-01-02T03:04:05.000Z'
  const made = makePlan({
    desired: desired!,
    actual,
    lock,
    creators: Object.fromEntries(
      actual.resources.map(({ id }) => [id!, { userId: actual.actor.userId, userName: 'alice' }]),
    ),
    baseUrl: api.baseUrl,
    allow: [],
    now,
  })
  return {
    plan: made.plan,
    batches: made.plan.batches.map(({ type, summary, after }) => `${type.slice(14)}: ${summary} [${after}]`),
    changes: made.plan.changes.map(({ action, address }) => `${action} ${address}`),
    faults: made.diagnostics.map(({ code, message }) => `${code} ${message}`),
    guards: made.plan.guards.map(({ name, message }) => `${name}: ${message}`),
  }
}

const KEY = { curve: 'secp256k1', formats: ['ethereum'] }

describe('plans of the other kinds', () => {
  test('private keys: all are made at once with their tags, and a tag once for all that gain or lose it', async () => {
    const api = createMemoryApi()
    for (const name of ['hot', 'cold'])
      api.execute('ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', { privateKeyTagName: name, privateKeyIds: [] })
    const keys = ['a', 'b'].map((name) => ({
      privateKeyName: name,
      curve: 'CURVE_SECP256K1',
      privateKeyTags: [],
      addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
    }))
    api.execute('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: keys })
    const { batches, changes, faults } = await planOf(api, {
      privateKeyTags: { hot: {}, cold: {}, new: {} },
      privateKeys: {
        a: { ...KEY, tags: ['hot', 'cold'] },
        b: { ...KEY, tags: ['hot', 'new'] },
        c: { ...KEY, tags: ['new'] },
        d: KEY,
      },
    })
    expect(faults).toEqual([])
    expect(changes).toEqual([
      'create privateKeyTag.new',
      'update privateKey.a',
      'update privateKey.b',
      'create privateKey.c',
      'create privateKey.d',
    ])
    expect(batches.toSorted()).toEqual([
      'CREATE_PRIVATE_KEYS_V2: create 2 private keys [0]',
      'CREATE_PRIVATE_KEY_TAG: create private key tag new []',
      'UPDATE_PRIVATE_KEY_TAG: update 2 private keys []',
      'UPDATE_PRIVATE_KEY_TAG: update private key a []',
      'UPDATE_PRIVATE_KEY_TAG: update private key b [0]',
    ])
  })

  test('private keys: one is deleted where its definition says so, and never because it is missing', async () => {
    const api = createMemoryApi()
    const key = { privateKeyName: 'a', curve: 'CURVE_P256', privateKeyTags: [], addressFormats: [] }
    api.execute('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: [key] })
    expect((await planOf(api, { manage: { privateKeys: 'all' } })).changes).toEqual([])
    const { changes, guards } = await planOf(api, { privateKeys: { a: { delete: true } } })
    expect(changes).toEqual(['delete privateKey.a'])
    expect(guards).toEqual(['deletes: deleting 1 of 1 private key is 100 %, over 30 %'])
  })

  const immutable: { name: string; live: [string, object]; sections: object; expected: string }[] = [
    {
      name: 'an interface',
      live: [
        'CREATE_SMART_CONTRACT_INTERFACE',
        {
          smartContractAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
          smartContractInterface: '[]',
          type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
          label: 'usdc',
          notes: 'old',
        },
      ],
      sections: {
        smartContractInterfaces: {
          usdc: {
            address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
            type: 'ethereum',
            interface: [],
            notes: 'new',
          },
        },
      },
      expected:
        'plan/immutable `notes` of `smartContractInterface.usdc` cannot be changed: the API changes no interface; define another one beside it and mark this one `delete: true`',
    },
    {
      name: 'a subscription',
      live: ['CREATE_WEBHOOK_ENDPOINT', { name: 'ops', url: 'https://ops.acme.test/a', subscriptions: [] }],
      sections: { webhooks: { ops: { url: 'https://ops.acme.test/a', subscriptions: ['ACTIVITY_UPDATES'] } } },
      expected:
        'plan/immutable `subscriptions` of `webhook.ops` cannot be changed: the API changes no subscription; define another endpoint beside it and mark this one `delete: true`',
    },
  ]
  for (const { name, live, sections, expected } of immutable) {
    test(`immutable: ${name} is not changed, and what to do instead is said`, async () => {
      const api = createMemoryApi()
      api.execute(`ACTIVITY_TYPE_${live[0]}`, live[1] as never)
      const { faults, batches } = await planOf(api, sections)
      expect(faults).toEqual([expected])
      expect(batches).toEqual([])
    })
  }

  test('webhooks: one that is to be paused is made, and paused by a second activity of the same plan', async () => {
    const hook = { url: 'https://ops.acme.test/a', isActive: false }
    const { batches, faults } = await planOf(createMemoryApi(), { webhooks: { ops: hook } })
    expect(faults).toEqual([])
    expect(batches).toEqual([
      'CREATE_WEBHOOK_ENDPOINT: create webhook endpoint ops []',
      'UPDATE_WEBHOOK_ENDPOINT: update webhook endpoint ops [0]',
    ])
  })

  test('policies: one with a time comes after the feature that it needs', async () => {
    const time = "time.now > Timestamp('2025-01-01T00:00:00Z')"
    const { batches, faults } = await planOf(createMemoryApi(), {
      features: { POLICY_TIME: true },
      policies: {
        office: { effect: 'deny', time },
        always: { effect: 'allow', condition: "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'" },
      },
    })
    expect(faults).toEqual([])
    expect(batches).toEqual([
      'SET_ORGANIZATION_FEATURE: create feature POLICY_TIME []',
      'CREATE_POLICIES: create 2 policies [0]',
    ])
  })

  test('allow-lists: the plan shows what a write removes, and that of a new key comes after the key', async () => {
    const api = createMemoryApi()
    const rules = [{ cidr: '198.51.100.0/24', label: 'old office' }, { cidr: '192.0.2.0/24' }]
    api.execute('ACTIVITY_TYPE_SET_IP_ALLOWLIST', { enabled: true, rules, onEvaluationError: 'DENY' })
    const ci = { curve: 'ED25519', publicKey: KEYS.ed25519, ipAllowlist: { rules: ['203.0.113.0/24'] } }
    const { plan, batches, faults } = await planOf(api, {
      ipAllowlist: { rules: ['192.0.2.0/24'] },
      users: { alice: { apiKeys: { ci } } },
    })
    expect(faults).toEqual([])
    expect(plan.changes.find(({ kind }) => kind === 'ipAllowlist')!.fields).toEqual([
      { field: 'rules', before: rules, after: [{ cidr: '192.0.2.0/24' }] },
    ])
    const place = (start: string) => batches.findIndex((one) => one.startsWith(start))
    const list = plan.batches.find(({ changes }) => changes[0] === 'apiKeyIpAllowlist.alice.ci')!
    expect(list.after).toContain(place('CREATE_API_KEYS_V2'))
  })

  test('credentials: a passkey or provider that is not there cannot be made without its user', async () => {
    const issuer = 'https://accounts.google.com'
    const { faults } = await planOf(createMemoryApi(), {
      users: {
        alice: {
          authenticators: { phone: { credentialId: 'ZZZZ' } },
          oauthProviders: { other: { issuer, audience: 'client', subject: '2' } },
        },
      },
    })
    expect(faults).toEqual([
      'plan/cannot-change `authenticator.alice.phone` cannot be created: only its user can register a passkey; have them do it, or write the `attestation` and `challenge` of one that they made',
      'plan/cannot-change `oauthProvider.alice.other` cannot be created: it takes a token of the issuer, which only its user has; have them register it',
    ])
  })

  test('credentials: passkeys and providers of quorum members are exclusive like keys', async () => {
    const alice = { apiKeys: { laptop: { curve: 'P256', publicKey: KEYS.p256 } } }
    const { guards } = await planOf(createMemoryApi(), {
      rootQuorum: { threshold: 1, users: ['alice'] },
      users: { alice },
    })
    expect(guards).toEqual([
      'exclusive-credentials: `authenticator.alice.yubikey` and `oauthProvider.alice.google` let quorum members in and are not in the definitions',
    ])
  })

  test('staleness: a plan says which kinds it leans on, and sees what moved among them', async () => {
    const api = createMemoryApi()
    const hook = { url: 'https://ops.acme.test/a', subscriptions: [] }
    api.execute('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', { name: 'ops', ...hook })
    const { plan } = await planOf(api, {
      webhooks: { ops: { ...hook, url: 'https://ops.acme.test/b' } },
      ipAllowlist: { rules: ['192.0.2.0/24'] },
    })
    expect([...kindsOf(plan)]).toEqual(expect.arrayContaining(['webhook', 'ipAllowlist', 'authenticator']))
    const read = () => readActual(api, { mentioned: kindsOf(plan) })
    expect(movedSince(plan, await read())).toEqual([])
    const [endpoint] = (await read()).resources.filter(({ kind }) => kind === 'webhook')
    api.execute('ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT', { endpointId: endpoint!.id!, url: 'https://evil.test/a' })
    api.execute('ACTIVITY_TYPE_SET_IP_ALLOWLIST', { enabled: true, rules: [{ cidr: '192.0.2.0/24' }] })
    const [alice] = (await read()).resources.filter(({ kind }) => kind === 'user')
    const attestation = { credentialId: 'QQQQ', clientDataJson: '', attestationObject: '', transports: [] }
    api.execute('ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', {
      userId: alice!.id!,
      authenticators: [{ authenticatorName: 'stray', challenge: 'c', attestation }],
    })
    expect(movedSince(plan, await read())).toEqual([
      '`authenticator.alice.stray` is new',
      '`ipAllowlist` is live now',
      '`webhook.ops` has another `url`',
    ])
  })
})
