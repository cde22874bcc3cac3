import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { ChangeAction, Lock, Plan } from '../../src/plan/index.ts'
import { type Address, type Desired, type KindName, kinds, parentOf, parseAddress } from '../../src/resources/index.ts'
import { KEYS, loadFiles } from '../definitions/harness.ts'
import { startTestService } from '../service/harness.ts'
import { createPasskey } from '../service/passkey.ts'
import { createMemoryApi, MEMORY_ID, ROOT_KEY } from './memory-api.ts'
import { apply, memoryTarget, plan, serviceTarget, type Target } from './target.ts'

type Section = Readonly<Record<string, unknown>>

/** What never changes of a thing stands here, by its name; what may change is generated. */
const ABI = [{ type: 'function', name: 'pay', inputs: [{ name: 'amount', type: 'uint256' }], outputs: [] }]
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const SECRETS = ['aa', 'bb'].map((byte) => `${'00'.repeat(12)}04${'11'.repeat(64)}10000000${byte.repeat(16)}`)

/** Some of these names, each with a value of its own. */
function some(makers: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Section> {
  return fc.record(makers, { requiredKeys: [] })
}

const chosen = (...names: string[]) => fc.subarray(names)

/** What definitions of one organization must fit, beside their own rules. */
interface Facts {
  readonly organizationId: string
  readonly rootKey: string
  /** Credentials of the root user that were there before. */
  readonly seeded: Section
  /** Passkeys as definitions write them, with attestations that this service takes. */
  readonly passkeys: readonly [Section, Section]
  /** A block without which the machine that runs the test would be locked out. */
  readonly always: readonly string[]
}

/** Definitions of every kind. Tags are all there, so that whatever names one finds it. */
const definitions = ({ organizationId, rootKey, seeded, passkeys, always }: Facts) => {
  const allowlist = fc
    .record(
      {
        rules: fc
          .subarray(['203.0.113.9/24', { cidr: '2001:db8::1/64', label: 'office' }, '198.51.100.1/32'], {
            minLength: 1,
          })
          .map((rules) => [...rules, ...always]),
        onEvaluationError: fc.constantFrom('allow', 'deny'),
      },
      { requiredKeys: ['rules'] },
    )
    .map((list) => ({ ...list }))
  return fc.record({
    organization: fc.constant('acme'),
    id: fc.constant(organizationId),
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
      EARN_CONFIG: fc.constantFrom('a', 'b'),
    }).map((features) => ({ ...features, POLICY_TIME: true })),
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
                ci: fc.constant({ curve: 'ED25519', publicKey: KEYS.ed25519, expiresIn: 3600 }),
                old: fc
                  .option(allowlist, { nil: undefined })
                  .map((list) => ({ curve: 'SECP256K1', publicKey: KEYS.secp256k1, ipAllowlist: list })),
              }).map((keys) => ({ ...keys, main: { curve: 'P256', publicKey: KEYS.p256Generator } })),
              authenticators: some({ key: fc.constant(passkeys[0]) }),
              mfaPolicies: some({
                money: fc.record(
                  {
                    condition: fc.constantFrom("activity.resource == 'WALLET'", 'true'),
                    requiredAuthenticationMethods: fc.constantFrom(
                      ['passkey', ['email-otp', 'session']],
                      [[{ type: 'session', id: '00000000-0000-0000-0000-000000000000' }, { type: 'api-key' }]],
                    ),
                    order: fc.constantFrom(0, 7),
                    notes: fc.constant('asked for by the auditors'),
                  },
                  { requiredKeys: ['condition', 'requiredAuthenticationMethods', 'order'] },
                ),
                rest: fc.constant({ condition: 'true', requiredAuthenticationMethods: ['passkey'], order: 9 }),
              }),
            },
            { requiredKeys: ['apiKeys'] },
          ),
        }),
      })
      .map(({ tags, allow, phone, others }) => ({
        ...others,
        alice: {
          tags,
          apiKeys: { laptop: { curve: 'P256', publicKey: rootKey, ipAllowlist: allow } },
          ...seeded,
          authenticators: { ...(seeded['authenticators'] as Section), ...(phone ? { phone: passkeys[1] } : {}) },
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
      hot: fc.record({ name: fc.constantFrom('Main', 'First') }, { requiredKeys: [] }).map((label) => ({
        accounts: [{ path: "m/44'/60'/0'/0/0", curve: 'secp256k1', format: 'ethereum', ...label }],
      })),
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
}

async function load(definition: Section): Promise<Desired> {
  const text = stringify(JSON.parse(JSON.stringify(definition)), { lineWidth: 0 })
  const { desired, diagnostics } = await loadFiles({ 'a.yaml': text }, { env: {}, vars: {} })
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  return desired!
}

/** Brings each state about in turn; what was managed and is not any more goes, or is asked about; then nothing is left to do. */
async function walk(target: Target, states: readonly Section[]): Promise<void> {
  let lock: Lock = {}
  const managed = new Set<Address>()
  /** Fields that were declared of what is managed. */
  const fieldsOf = new Map<Address, Set<string>>()
  let before: ReadonlySet<Address> | undefined
  for (const state of states) {
    const desired = await load(state)
    const first = await plan(target, desired, lock)
    before ??= new Set(first.plan.unmanaged.map(({ address }) => address))
    const declared = new Set(desired.resources.map(({ address }) => address))
    const left = [...managed].filter((address) => !declared.has(address) && !isWithin(address, managed, declared))
    const lasts = (address: Address) => kinds[parseAddress(address)!.kind].deleteNeedsTombstone
    const rows = (action: ChangeAction, { changes }: Plan) =>
      changes.filter((change) => change.action === action).map(({ address }) => address)
    expect(rows('delete', first.plan).toSorted()).toEqual(left.filter((address) => !lasts(address)).toSorted())
    const stuck = desired.resources.filter(({ address, kind, fields }) =>
      [...(fieldsOf.get(address) ?? [])].some((field) => fields[field] === undefined && !canBeSetBack(kind, field)),
    )
    const asked = [...left.filter(lasts), ...stuck.map(({ address }) => address)]
    expect(rows('undecided', first.plan).toSorted()).toEqual(asked.toSorted())
    const after = await apply(target, first)
    for (const address of rows('delete', first.plan)) {
      for (const one of managed) {
        if (one !== address && parentOf(one) !== address) continue
        managed.delete(one)
        fieldsOf.delete(one)
      }
    }
    for (const { address, fields } of desired.resources) {
      managed.add(address)
      const told = Object.keys(fields).filter((field) => fields[field] !== undefined)
      fieldsOf.set(address, new Set([...(fieldsOf.get(address) ?? []), ...told]))
    }
    const second = await plan(target, desired, after)
    expect(second.plan.changes.map(({ action, address }) => [action, address])).toEqual(
      rows('undecided', first.plan).map((address) => ['undecided', address]),
    )
    const kept = (address: Address) => before!.has(address) || isWithin(address, managed, declared) || lasts(address)
    expect(second.plan.unmanaged.filter(({ address }) => !kept(address))).toEqual([])
    lock = second.lock
  }
}

/** Whether a field that a definition leaves out is changed to what it is without; the others are asked about. */
function canBeSetBack(kind: KindName, field: string): boolean {
  const { cleared, immutable } = kinds[kind].fields[field]!
  return cleared !== undefined && immutable === undefined && kinds[kind].update !== undefined
}

/** Whether it is held by something that was managed and is defined no longer: what becomes of that becomes of it. */
function isWithin(address: Address, managed: ReadonlySet<Address>, declared: ReadonlySet<Address>): boolean {
  const parent = parentOf(address)
  if (parent === undefined) return false
  return (managed.has(parent) && !declared.has(parent)) || isWithin(parent, managed, declared)
}

const ISSUER = 'https://accounts.google.com'
const CREATED = { challenge: 'c29tZXRoaW5n', attestation: { clientDataJson: 'e30', attestationObject: 'oA' } }
const inMemory: Facts = {
  organizationId: MEMORY_ID,
  rootKey: ROOT_KEY,
  seeded: {
    authenticators: { yubikey: { credentialId: 'AbCd_-12' } },
    oauthProviders: { google: { issuer: ISSUER, audience: 'client', subject: '1' } },
  },
  passkeys: [
    { credentialId: 'BBBB', ...CREATED },
    { credentialId: 'CCCC', ...CREATED },
  ],
  always: [],
}

/** A passkey as definitions write it. */
function passkey(): Section {
  const { challenge, attestation } = createPasskey().register()
  const transports = (attestation['transports'] as readonly string[]).map((one) =>
    one.replace('AUTHENTICATOR_TRANSPORT_', '').toLowerCase(),
  )
  const { credentialId, clientDataJson, attestationObject } = attestation
  return { credentialId, challenge, attestation: { clientDataJson, attestationObject, transports } }
}

describe('round trip', () => {
  test('live: whatever is declared of every kind, once applied it is read back as it was declared', async () => {
    const states = fc.array(definitions(inMemory), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(states, fc.boolean(), (given, reversed) =>
        walk(memoryTarget(createMemoryApi({ reversed })), given),
      ),
      { numRuns: 25 },
    )
  })

  test('live: so it is at the service, state after state', async () => {
    const service = await startTestService({
      rootUserName: 'alice',
      keyName: 'laptop',
      resolveHost: async () => ['93.184.216.34'],
    })
    try {
      const facts: Facts = {
        organizationId: service.organizationId,
        rootKey: service.root.publicKey,
        seeded: {},
        passkeys: [passkey(), passkey()],
        always: ['127.0.0.1/32'],
      }
      const seed = Date.now()
      const states = fc.sample(definitions(facts), { numRuns: 8, seed })
      await walk(serviceTarget(service), states).catch((cause: unknown) => {
        throw new Error(`it fails for seed ${seed}`, { cause })
      })
    } finally {
      await service.close()
    }
  })

  test('live: an API key takes its list of addresses with it, so one that comes again with that key has none', async () => {
    const service = await startTestService({ rootUserName: 'alice', keyName: 'laptop' })
    try {
      const targets = { [MEMORY_ID]: memoryTarget(createMemoryApi()), [service.organizationId]: serviceTarget(service) }
      const old = { curve: 'SECP256K1', publicKey: KEYS.secp256k1 }
      const main = { curve: 'P256', publicKey: KEYS.p256Generator }
      for (const [id, target] of Object.entries(targets)) {
        const withKeys = (apiKeys: Section): Section => ({
          ...{ organization: 'acme', id, manage: { apiKeys: 'all', ipAllowlist: 'all' } },
          users: { bob: { apiKeys } },
        })
        await walk(target, [
          withKeys({ main, old: { ...old, ipAllowlist: { rules: ['203.0.113.0/24'] } } }),
          withKeys({ main }),
          withKeys({ main, old }),
        ])
      }
    } finally {
      await service.close()
    }
  })

  test('live: a list that is managed whole loses what no definition mentions', async () => {
    const target = memoryTarget(createMemoryApi())
    const base = { organization: 'acme', id: MEMORY_ID }
    const hook = { url: 'https://ops.acme.test/a', subscriptions: ['ACTIVITY_UPDATES'] }
    const lock = await apply(target, await plan(target, await load({ ...base, webhooks: { a: hook, b: hook } }), {}))
    const fewer = { ...base, manage: { webhooks: 'all' }, webhooks: { a: hook } }
    const { plan: made } = await plan(target, await load(fewer), lock)
    expect(made.changes.map(({ action, address }) => `${action} ${address}`)).toEqual(['delete webhook.b'])
  })
})
