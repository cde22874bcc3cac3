import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { kindsMentioned, readActual } from '../../src/live/index.ts'
import { collectIds, extendLock, fillParameters, type Lock, makePlan, type Plan } from '../../src/plan/index.ts'
import type { Desired } from '../../src/resources/index.ts'
import { KEYS, loadFiles } from '../definitions/harness.ts'
import { createMemoryApi, MEMORY_ID, type MemoryApi, ROOT_KEY } from './memory-api.ts'

type Section = Readonly<Record<string, unknown>>

/** What never changes of a thing stands here, by its name; what may change is generated. */
const ABI = [{ type: 'function', name: 'pay', inputs: [{ name: 'amount', type: 'uint256' }], outputs: [] }]
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const SECRETS = ['aa', 'bb'].map((byte) => `${'00'.repeat(12)}04${'11'.repeat(64)}10000000${byte.repeat(16)}`)
const CREATED = { challenge: 'c29tZXRoaW5n', attestation: { clientDataJson: 'e30', attestationObject: 'oA' } }

/** Some of these names, each with a value of its own. */
function some(makers: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Section> {
  return fc.record(makers, { requiredKeys: [] })
}

const chosen = (...names: string[]) => fc.subarray(names)

const allowlist = fc
  .record(
    {
      rules: fc.subarray(['203.0.113.9/24', { cidr: '2001:db8::1/64', label: 'office' }, '198.51.100.1/32'], {
        minLength: 1,
      }),
      onEvaluationError: fc.constantFrom('allow', 'deny'),
    },
    { requiredKeys: ['rules'] },
  )
  .map((list) => ({ ...list }))

/** Definitions of every kind. Tags are all there, so that whatever names one finds it. */
const definitions = fc.record({
  organization: fc.constant('acme'),
  id: fc.constant(MEMORY_ID),
  earlyAccess: fc.constant(['policyTime']),
  name: fc.constantFrom('acme', 'Acme Incorporated'),
  manage: fc.constantFrom(
    {},
    {
      ...{ webhooks: 'all', smartContractInterfaces: 'all', invitations: 'all', oauth2Credentials: 'all' },
      ...{ features: 'all', apiKeys: 'all', authenticators: 'all', ipAllowlist: 'all', policies: 'all' },
    },
  ),
  rootQuorum: fc.constant({ threshold: 1, users: ['alice'] }),
  features: some({
    AUTH_PROXY: fc.constant(true),
    WEBAUTHN_ORIGINS: fc.constantFrom('https://acme.test', 'https://b.test'),
  }),
  ipAllowlist: fc.option(
    allowlist.chain((list) => fc.boolean().map((enabled) => ({ ...list, enabled }))),
    { nil: undefined },
  ),
  tags: fc.constant({ ops: {}, 'Back office': {} }),
  privateKeyTags: fc.constant({ hot: {}, warm: {}, cold: {} }),
  users: fc
    .record({
      tags: chosen('ops', 'Back office'),
      allow: fc.option(allowlist, { nil: undefined }),
      phone: fc.boolean(),
      others: some({
        bob: fc.record(
          {
            email: fc.constantFrom('bob@acme.test', 'BOB@acme.test', 'b@acme.test'),
            tags: chosen('ops', 'Back office'),
            apiKeys: some({
              ci: fc.constant({ curve: 'ED25519', publicKey: KEYS.ed25519, expiresIn: 60 }),
              old: fc
                .option(allowlist, { nil: undefined })
                .map((list) => ({ curve: 'SECP256K1', publicKey: KEYS.secp256k1, ipAllowlist: list })),
            }),
            authenticators: some({ key: fc.constant({ credentialId: 'BBBB', ...CREATED }) }),
          },
          { requiredKeys: ['apiKeys'] },
        ),
      }),
    })
    .map(({ tags, allow, phone, others }) => ({
      ...others,
      alice: {
        tags,
        apiKeys: { laptop: { curve: 'P256', publicKey: ROOT_KEY, ipAllowlist: allow } },
        authenticators: {
          yubikey: { credentialId: 'AbCd_-12' },
          ...(phone ? { phone: { credentialId: 'CCCC', ...CREATED } } : {}),
        },
        oauthProviders: {
          google: { issuer: 'https://accounts.google.com', audience: 'client', subject: '1' },
        },
      },
    })),
  invitations: some({
    dave: fc.constant({ email: 'dave@acme.test', access: 'web', sender: 'alice', tags: ['ops'] }),
    erin: fc.constant({ email: 'erin@acme.test', access: 'all', sender: 'alice' }),
  }),
  oauth2Credentials: some({
    login: fc
      .constantFrom(...SECRETS)
      .map((secret) => ({ provider: 'x', clientId: 'client', encryptedClientSecret: secret })),
  }),
  policies: some({
    office: fc.constant({ effect: 'allow', time: "time.now > Timestamp('2025-01-01T00:00:00Z')" }),
  }),
  privateKeys: some({
    reserve: chosen('hot', 'warm', 'cold').map((tags) => ({
      curve: 'secp256k1',
      formats: ['ethereum', 'bitcoin-mainnet-p2tr'],
      tags,
    })),
    spare: chosen('hot', 'cold').map((tags) => ({ curve: 'ed25519', formats: ['solana'], tags })),
    bare: fc.constant({ curve: 'p256' }),
  }),
  wallets: some({
    hot: fc
      .record({ name: fc.constantFrom('Main', 'First') }, { requiredKeys: [] })
      .map((label) => ({ accounts: [{ path: "m/44'/60'/0'/0/0", curve: 'secp256k1', format: 'ethereum', ...label }] })),
    empty: fc.constant({}),
  }),
  smartContractInterfaces: some({
    usdc: fc.constant({ address: USDC, type: 'ethereum', interface: ABI, notes: 'the token' }),
    program: fc.constant({
      address: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      type: 'solana',
      interface: '{"instructions": [], "types": []}',
    }),
  }),
  webhooks: some({
    ops: fc.record(
      {
        url: fc.constantFrom('https://ops.acme.test/a', 'https://ops.acme.test/b'),
        subscriptions: fc.constant(['ACTIVITY_UPDATES']),
        isActive: fc.boolean(),
      },
      { requiredKeys: ['url', 'subscriptions'] },
    ),
    chain: fc.boolean().map((isActive) => ({
      url: 'https://ops.acme.test/chain',
      isActive,
      subscriptions: [
        { event: 'BALANCE_CONFIRMED_UPDATES', filters: { caip2: ['eip155:1'], addresses: [] }, isActive: false },
        { event: 'ACTIVITY_UPDATES' },
      ],
    })),
  }),
})

async function load(definition: Section): Promise<Desired> {
  const text = stringify(JSON.parse(JSON.stringify(definition)), { lineWidth: 0 })
  const { desired, diagnostics } = await loadFiles({ 'a.yaml': text }, { env: {}, vars: {} })
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  return desired!
}

async function plan(api: MemoryApi, desired: Desired, lock: Lock): Promise<{ plan: Plan; lock: Lock }> {
  const actual = await readActual(api, { mentioned: kindsMentioned(desired) })
  const allow = ['delete', 'deletes=99', 'lock-out', 'exclusive-credentials']
  const now = '2026-01-02T03:04:05.000Z'
  const made = makePlan({ desired, actual, lock, creators: {}, baseUrl: api.baseUrl, allow, now })
  expect(made.diagnostics.map(({ message }) => message)).toEqual([])
  return made
}

/** Carries a plan out in its order; the lock knows what came of it. */
function apply(api: MemoryApi, made: { plan: Plan; lock: Lock }): Lock {
  let ids: Record<string, string> = {}
  for (const batch of made.plan.batches) {
    const parameters = fillParameters(batch.parameters, { ...made.plan.ids, ...ids })
    const result = api.execute(batch.type, parameters as Parameters<MemoryApi['execute']>[1])
    ids = { ...ids, ...collectIds(batch, result) }
  }
  return extendLock(made.lock, MEMORY_ID, ids)
}

describe('round trip', () => {
  test('live: whatever is declared of every kind, once applied it is read back as it was declared', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(definitions, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (states, reversed) => {
          const api = createMemoryApi({ reversed })
          let lock: Lock = {}
          for (const state of states) {
            const desired = await load(state)
            const first = await plan(api, desired, lock)
            lock = apply(api, first)
            const second = await plan(api, desired, lock)
            expect(second.plan.changes).toEqual([])
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  test('live: a list that is managed whole loses what no definition mentions', async () => {
    const api = createMemoryApi()
    const base = { organization: 'acme', id: MEMORY_ID }
    const hook = { url: 'https://ops.acme.test/a', subscriptions: ['ACTIVITY_UPDATES'] }
    const lock = apply(api, await plan(api, await load({ ...base, webhooks: { a: hook, b: hook } }), {}))
    const fewer = { ...base, manage: { webhooks: 'all' }, webhooks: { a: hook } }
    const { plan: made } = await plan(api, await load(fewer), lock)
    expect(made.changes.map(({ action, address }) => `${action} ${address}`)).toEqual(['delete webhook.b'])
  })
})
