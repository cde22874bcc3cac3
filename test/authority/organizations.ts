/** Organizations of every sort of user, put into a service's own database while it is down, and who speaks for them. */
import fc from 'fast-check'
import { serializeTransaction } from 'viem'
import { generateP256KeyPair, sha256 } from '../../src/crypto/index.ts'
import { encodeBase64Url, encodeUtf8 } from '../../src/encoding/index.ts'
import type { RootName } from '../../src/policy/environment.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { insertApiKey } from '../../src/service/resources/api-keys/store.ts'
import { insertAuthenticator } from '../../src/service/resources/authenticators/store.ts'
import { insertOauthProvider } from '../../src/service/resources/oauth-providers/store.ts'
import { setQuorum } from '../../src/service/resources/organizations/quorum-store.ts'
import { insertOrganization } from '../../src/service/resources/organizations/store.ts'
import { insertPolicy } from '../../src/service/resources/policies/store.ts'
import { insertTag } from '../../src/service/resources/tags/store.ts'
import { insertUser } from '../../src/service/resources/users/store.ts'
import type { Transaction } from '../../src/service/store/index.ts'
import { anySyntax, joined } from '../policy/generate.ts'
import { openStoreOf } from '../postgres.ts'
import { complete } from '../service/handlers/steps.ts'
import type { TestClient, TestService } from '../service/harness.ts'
import { createPasskey } from '../service/passkey.ts'

export const PEOPLE = ['alice', 'bob', 'carol', 'dave'] as const
const EVERYBODY = [...PEOPLE, 'erin', 'frank'] as const
export type Name = (typeof EVERYBODY)[number]

/** How somebody may come by a vote; the key of `expired` is one no more, and the two logins give a session key. */
const CREDENTIALS = ['key', 'second key', 'passkey', 'expired', 'oauth', 'code'] as const
type Sort = (typeof CREDENTIALS)[number]

const PASSKEY = 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR'
const OAUTH = 'CREDENTIAL_TYPE_OAUTH_KEY_P256'
const OTP = 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256'

/** What policies ask for; `TAG` and `ID` stand for ids of the organization. */
const CONSENSUS = [
  'approvers.count() >= 2',
  "approvers.any(u, u.tags.contains('TAG'))",
  "approvers.filter(u, u.tags.contains('TAG')).count() >= 2",
  "approvers.any(u, u.id == 'ID')",
  "approvers.any(u, u.alias == 'carol') && approvers.count() >= 2",
  "!approvers.any(u, u.id == 'ID') && approvers.count() >= 2",
  `credentials.any(c, c.type == '${PASSKEY}')`,
  `credentials.filter(c, c.type != '${PASSKEY}').count() >= 2`,
  `credentials.any(c, c.type == '${OAUTH}' || c.type == '${OTP}')`,
  `credentials.all(c, c.type != '${OTP}') && approvers.count() >= 2`,
  "approvers.count() >= 2 && approvers[1].alias != 'bob'",
  'approvers.any(a, approvers.any(b, a.id != b.id && a.email == b.email))',
  // Whom it does not include would make it true: their approval must not be taken.
  "!approvers.all(a, a.email == 'desk@acme.test')",
  `!credentials.all(c, c.type != '${PASSKEY}')`,
] as const

/** What policies of any syntax compare with, so that some comparisons hold. */
const COMPARED = ['TAG', 'ID', 'alice', 'bob', 'carol', 'desk@acme.test', 'carol@acme.test', PASSKEY, OAUTH, OTP, '']

const TO = `0x${'1'.repeat(40)}` as const
const UNSIGNED = serializeTransaction({
  ...({ type: 'eip1559', chainId: 1, nonce: 4, gas: 21_000n, to: TO, value: 6n } as const),
  ...{ maxFeePerGas: 40_000_000_000n, maxPriorityFeePerGas: 1n },
})

/** Requests that are played, one in an organization; those of a key name it by its id. */
export const REQUESTS = {
  tag: {
    type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
    parameters: ({ tagId }: Named) => ({
      ...{ userTagId: tagId, newUserTagName: 'ops' },
      ...{ addUserIds: [], removeUserIds: [] },
    }),
  },
  payload: {
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    parameters: ({ key }: Named) => ({
      ...{ signWith: key!.id, payload: '00'.repeat(32), encoding: 'PAYLOAD_ENCODING_HEXADECIMAL' },
      hashFunction: 'HASH_FUNCTION_NO_OP',
    }),
  },
  transaction: {
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    parameters: ({ key }: Named) => ({
      ...{ signWith: key!.id, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: UNSIGNED },
    }),
  },
  export: {
    type: 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY',
    parameters: ({ key }: Named) => ({
      ...{ privateKeyId: key!.id, targetPublicKey: TARGET },
    }),
  },
} as const satisfies Readonly<Record<string, { type: ActivityType; parameters: (made: Named) => object }>>
export type RequestName = keyof typeof REQUESTS
type Named = Pick<Made, 'tagId' | 'key'>
const TARGET = generateP256KeyPair().publicKey

/** Conditions that people write, `<key>` for the id of the key: true, false or an error of the request that is played. */
const CONDITIONS = [
  'true',
  ...Object.values(REQUESTS).map(({ type }) => `activity.type == '${type}'`),
  "activity.kind == 'SIGN_TRANSACTION'",
  "activity.action == 'SIGN'",
  "activity.action in ['EXPORT', 'UPDATE']",
  "activity.resource == 'PRIVATE_KEY'",
  "activity.resource == 'USER_TAG'",
  "private_key.id == '<key>'",
  "private_key.label == 'warm'",
  "private_key.label[0..1] == 'c'",
  // Of a shorter label it is an error.
  "private_key.label[5] == 'x'",
  'private_key.tags.count() == 0',
  "wallet.label == 'cold'",
  "activity.params.encoding == 'PAYLOAD_ENCODING_HEXADECIMAL'",
  "activity.params.type == 'TRANSACTION_TYPE_ETHEREUM'",
]
/** Of what no organization tells, but a request. */
const OPEN: Readonly<Record<RequestName, readonly string[]>> = {
  tag: ["activity.params.user_id == 'a'", "eth.tx.value > 5 || activity.action == 'UPDATE'"],
  payload: [
    "activity.params.hash_function == 'HASH_FUNCTION_NO_OP'",
    "activity.params.hash_function == 'HASH_FUNCTION_SHA256'",
    "activity.params.hash_function[20] == 'x'",
  ],
  transaction: [
    'eth.tx.value > 5',
    'eth.tx.gas > 21000',
    `eth.tx.to == '${TO}'`,
    "eth.tx.data == '0x'",
    "eth.tx.data[0..10] == '0xa9059cbb'",
    "eth.tx.contract_call_args['amount'] == 1",
  ],
  export: [`activity.params.target_public_key == '${TARGET}'`, "activity.params.target_public_key[0..2] == '04'"],
}
const READ: Readonly<Record<RequestName, readonly (readonly RootName[])[]>> = {
  tag: [['activity'], ['wallet', 'activity']],
  payload: [['activity'], ['activity', 'private_key']],
  transaction: [['eth'], ['eth'], ['private_key', 'eth'], ['activity', 'eth']],
  export: [['activity', 'private_key']],
}
const TEXTS = ['', 'a', 'cold', '<key>', 'SIGN', 'EXPORT', 'PRIVATE_KEY', 'HASH_FUNCTION_NO_OP', TO, TARGET]
const conditionOf = (request: RequestName) =>
  joined(
    fc.constantFrom(...CONDITIONS),
    fc.constantFrom(...OPEN[request]),
    // The first export of a key would change what reads whether it was exported.
    anySyntax('condition', { texts: TEXTS, given: READ[request] }).filter((text) => !text.includes('exported')),
  )

/** When policies are open: office hours, at night, and from one day on; each is asked of in both halves of a day. */
export const TIMES = [
  "CronSpan('0 8 * * *', '10h', 'Europe/Oslo')",
  "CronSpan('0 20 * * *', '9h', 'UTC')",
  "time.now >= Timestamp('2025-06-20T00:00:00Z')",
] as const

export interface Shape {
  readonly people: Readonly<Partial<Record<Name, { readonly has: readonly Sort[]; readonly tagged: boolean }>>>
  /** What is played. @default a change of the tag */
  readonly request?: RequestName
  readonly members: readonly Name[]
  readonly threshold: number
  readonly policies: readonly {
    /** The place of one that people write, or a text with `TAG` and `ID`. */
    readonly consensus: number | string
    readonly who: Name
    readonly denies: boolean
    /** @default none */
    readonly condition?: string
    /** @default none */
    readonly time?: string
  }[]
}

const person = (least: readonly Sort[], most: number) =>
  fc.record({
    has: fc.subarray([...CREDENTIALS]).map((some) => [...new Set([...least, ...some])].slice(0, most)),
    tagged: fc.boolean(),
  })

const policyOf = (names: readonly Name[], request: RequestName, consensus: fc.Arbitrary<number | string>) =>
  fc.record(
    {
      consensus,
      who: fc.constantFrom(...names),
      denies: fc.constantFrom(false, false, false, true),
      condition: conditionOf(request),
      time: fc.constantFrom('', '', '', ...TIMES),
    },
    { requiredKeys: ['consensus', 'who', 'denies', 'time'] },
  )

/** Two to six people, of whom alice asks, with a key. */
export const shapes: fc.Arbitrary<Shape> = fc
  .tuple(
    fc.constantFrom(2, 3, 3, 4, 4, 4, 5, 6),
    fc.constantFrom<RequestName>('tag', 'payload', 'transaction', 'transaction', 'export'),
  )
  .chain(([size, request]) => {
    const names = EVERYBODY.slice(0, size)
    // Of many people with many credentials there are more orders of ballots than can be tried.
    const most = size > 4 ? 2 : CREDENTIALS.length
    const policies = (consensus: fc.Arbitrary<number | string>, maxLength: number) =>
      fc.array(policyOf(names, request, consensus), { minLength: 1, maxLength })
    return fc.record({
      people: fc.record(Object.fromEntries(names.map((name) => [name, person(name === 'alice' ? ['key'] : [], most)]))),
      request: fc.constant(request),
      members: fc.subarray(names, { minLength: 1, maxLength: Math.min(size, 3) }),
      threshold: fc.integer({ min: 1, max: 3 }),
      policies: fc.oneof(
        policies(fc.nat(CONSENSUS.length - 1), 3),
        policies(joined(fc.constantFrom(...CONSENSUS), anySyntax('consensus', { texts: COMPARED })), 12),
      ),
    })
  })

/** Those of them with more people or more policies. */
export const wideShapes: fc.Arbitrary<Shape> = shapes.filter(
  ({ people, policies }) => Object.keys(people).length > 4 || policies.length > 5,
)

/** One way in which somebody can stamp. */
export interface Stamping {
  readonly sort: Sort
  /** What the credential is called in requests of scenarios. */
  readonly name: string
  readonly raw: TestClient['raw']
}

export interface Made {
  readonly shape: Shape
  readonly organizationId: string
  readonly names: readonly Name[]
  readonly userIds: Readonly<Record<Name, string>>
  readonly tagId: string
  /** The private key `cold` that the request of the shape is about. */
  readonly key?: { readonly id: string; readonly address: string }
  /** In the order of the shape. */
  readonly policyIds: readonly string[]
  readonly stampings: Readonly<Record<Name, readonly Stamping[]>>
  readonly alice: { readonly publicKey: string; readonly privateKey: string }
}

/** Puts organizations of these shapes under the service's parent; all that is in them is made at `now`. `more` adds to them. */
export async function addOrganizations(
  service: TestService,
  all: readonly Shape[],
  now: number,
  more: (tx: Transaction, made: readonly Made[]) => Promise<void> = async () => {},
): Promise<readonly Made[]> {
  const made: Made[] = []
  const keys = (await addKeys(service, all.filter(needsKey).length)).values()
  await inStore(service, now, async (tx) => {
    for (const shape of all) {
      const one = await insert(tx, service, shape, needsKey(shape) ? keys.next().value! : undefined, now)
      made.push(one)
    }
    await more(tx, made)
  })
  return made
}

const needsKey = ({ request = 'tag' }: Shape) => request !== 'tag'

/** Private keys of the service's parent, made many at once. */
export async function addKeys(service: TestService, count: number): Promise<readonly NonNullable<Made['key']>[]> {
  const keys: NonNullable<Made['key']>[] = []
  while (keys.length < count) {
    const privateKeys = Array.from({ length: Math.min(20, count - keys.length) }, () => ({
      ...{ privateKeyName: crypto.randomUUID(), curve: 'CURVE_SECP256K1' },
      ...{ addressFormats: ['ADDRESS_FORMAT_ETHEREUM'], privateKeyTags: [] },
    }))
    const { privateKeys: made } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys })
    keys.push(...made.map(({ privateKeyId, addresses }) => ({ id: privateKeyId!, address: addresses![0]!.address! })))
  }
  return keys
}

interface Taken {
  readonly organizationId: string
  readonly name: string
}

/** Gives an organization a private key that was made in the parent: it is sealed under its own id. */
export async function takeKey(tx: Transaction, id: string, { organizationId, name }: Taken): Promise<void> {
  const organization_id = organizationId
  await tx.updateTable('private_keys').set({ organization_id, name }).where('id', '=', id).execute()
  await tx.updateTable('private_key_addresses').set({ organization_id }).where('private_key_id', '=', id).execute()
}

/** Gives an organization a wallet that was made in the parent, with its accounts. */
export async function takeWallet(tx: Transaction, id: string, { organizationId, name }: Taken): Promise<void> {
  const organization_id = organizationId
  const accounts = tx.selectFrom('wallet_accounts').select('id').where('wallet_id', '=', id)
  await tx.updateTable('wallets').set({ organization_id, name }).where('id', '=', id).execute()
  await tx.updateTable('wallet_account_keys').set({ organization_id }).where('account_id', 'in', accounts).execute()
  await tx.updateTable('wallet_accounts').set({ organization_id }).where('wallet_id', '=', id).execute()
}

/** Writes into the service's own database while it is down. */
export async function inStore(
  service: TestService,
  now: number,
  work: (tx: Transaction) => Promise<void>,
): Promise<void> {
  await service.service.close()
  const database = await openStoreOf(service.dataDir, { now })
  await database.write(work)
  await database.close()
  await service.restart()
}

async function insert(
  tx: Transaction,
  service: TestService,
  shape: Shape,
  key: Made['key'],
  now: number,
): Promise<Made> {
  const names = Object.keys(shape.people) as readonly Name[]
  const [organizationId, tag] = [crypto.randomUUID(), crypto.randomUUID()]
  const dated = { organization_id: organizationId, created_at: now, updated_at: now }
  const userIds = Object.fromEntries(names.map((name) => [name, crypto.randomUUID()])) as Record<Name, string>
  const stampings = Object.fromEntries(names.map((name) => [name, [] as Stamping[]])) as Record<Name, Stamping[]>
  const policyIds = shape.policies.map(() => crypto.randomUUID())
  let alice: Made['alice'] | undefined
  await insertOrganization(tx, {
    id: organizationId,
    parent_id: service.organizationId,
    name: organizationId,
    quorum_threshold: 1,
    created_at: now,
    updated_at: now,
  })
  await tx
    .insertInto('features')
    .values({ organization_id: organizationId, name: 'FEATURE_NAME_SMS_AUTH', value: '' })
    .execute()
  await insertTag(tx, { id: tag, name: 'ops', type: 'TAG_TYPE_USER', ...dated })
  if (key !== undefined) await takeKey(tx, key.id, { organizationId, name: 'cold' })
  for (const [index, name] of names.entries()) {
    const { has, tagged } = shape.people[name]!
    const user_id = userIds[name]
    // Two of them share an address.
    const email = index < 2 ? 'desk@acme.test' : `${name}@acme.test`
    const phone_number = has.includes('code') ? `+1555123000${index}` : null
    await insertUser(tx, { id: user_id, name, email, phone_number, ...dated })
    if (tagged)
      await tx
        .insertInto('tag_members')
        .values({ organization_id: organizationId, tag_id: tag, member_id: user_id })
        .execute()
    for (const sort of has) {
      if (sort === 'passkey') {
        const passkey = createPasskey()
        await insertAuthenticator(tx, {
          id: crypto.randomUUID(),
          user_id,
          name: 'passkey',
          credential_id: passkey.credentialId,
          public_key: passkey.publicKey,
          transports: '[]',
          attestation_type: 'none',
          aaguid: encodeBase64Url(new Uint8Array(16)),
          model: '',
          rp_id_hash: encodeBase64Url(sha256(encodeUtf8('app.acme.test'))),
          backup_eligible: 0,
          sign_count: 0,
          ...dated,
        })
        const raw: TestClient['raw'] = (path, text) =>
          service.root.raw(path, text, { 'x-stamp': '', 'x-stamp-webauthn': passkey.stamp(text) })
        stampings[name].push({ sort, name: 'passkey', raw })
        continue
      }
      if (sort === 'oauth') {
        const provider = { name: 'oauth', issuer: 'https://id.test', audience: 'a', subject: name }
        await insertOauthProvider(tx, { id: crypto.randomUUID(), user_id, ...provider, ...dated })
      }
      // A login leaves a key of its session.
      const type = sort === 'oauth' ? OAUTH : sort === 'code' ? OTP : 'CREDENTIAL_TYPE_API_KEY_P256'
      const pair = generateP256KeyPair()
      await insertApiKey(tx, {
        id: crypto.randomUUID(),
        user_id,
        name: sort,
        public_key: pair.publicKey,
        credential_type: type,
        expiration_seconds: sort === 'expired' ? 3_600 : null,
        ...dated,
      })
      if (name === 'alice' && sort === 'key') alice = pair
      if (sort !== 'expired') {
        const { raw } = service.client(pair.privateKey)
        stampings[name].push({ sort, name: sort === 'code' ? 'login by code' : sort, raw })
      }
    }
  }
  for (const [index, { consensus, who, denies, condition, time }] of shape.policies.entries()) {
    const policy = {
      id: policyIds[index]!,
      name: `p${index}`,
      effect: denies ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
      consensus: (typeof consensus === 'string' ? consensus : CONSENSUS[consensus]!)
        .replaceAll('TAG', tag)
        .replaceAll('ID', userIds[who]),
      condition: condition?.replaceAll('<key>', key?.id ?? '') ?? null,
      time: time || null,
      notes: '',
      ...dated,
    }
    await insertPolicy(tx, policy, crypto.randomUUID())
  }
  const members = shape.members.map((name) => userIds[name])
  const threshold = Math.min(shape.threshold, members.length)
  await setQuorum(tx, organizationId, { userIds: members, threshold, now })
  return {
    ...{ shape, organizationId, names, userIds, tagId: tag, policyIds, stampings, alice: alice! },
    ...(key === undefined ? {} : { key }),
  }
}
