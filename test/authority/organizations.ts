/** Organizations of every sort of user, put into a service's own database while it is down, and who speaks for them. */
import fc from 'fast-check'
import { generateP256KeyPair, sha256 } from '../../src/crypto/index.ts'
import { encodeBase64Url, encodeUtf8 } from '../../src/encoding/index.ts'
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
import type { TestClient, TestService } from '../service/harness.ts'
import { createPasskey } from '../service/passkey.ts'

export const PEOPLE = ['alice', 'bob', 'carol', 'dave'] as const
export type Name = (typeof PEOPLE)[number]

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

export interface Shape {
  readonly people: Readonly<Record<Name, { readonly has: readonly Sort[]; readonly tagged: boolean }>>
  readonly members: readonly Name[]
  readonly threshold: number
  readonly policies: readonly {
    /** The place of one that people write, or a text with `TAG` and `ID`. */
    readonly consensus: number | string
    readonly who: Name
    readonly denies: boolean
    /** @default none */
    readonly condition?: string
  }[]
}

const person = (least: readonly Sort[]) =>
  fc.record({
    has: fc.subarray([...CREDENTIALS]).map((some) => [...new Set([...least, ...some])]),
    tagged: fc.boolean(),
  })

const policyOf = (consensus: fc.Arbitrary<number | string>) =>
  fc.record({
    consensus,
    who: fc.constantFrom(...PEOPLE),
    denies: fc.constantFrom(false, false, false, true),
  })

/** Alice asks, with a key or a passkey. */
export const shapes: fc.Arbitrary<Shape> = fc.record({
  people: fc.record({ alice: person(['key']), bob: person([]), carol: person([]), dave: person([]) }),
  members: fc.subarray([...PEOPLE], { minLength: 1, maxLength: 3 }),
  threshold: fc.integer({ min: 1, max: 3 }),
  policies: fc.oneof(
    fc.array(policyOf(fc.nat(CONSENSUS.length - 1)), { minLength: 1, maxLength: 3 }),
    fc.array(policyOf(joined(fc.constantFrom(...CONSENSUS), anySyntax('consensus', { texts: COMPARED }))), {
      minLength: 1,
      maxLength: 12,
    }),
  ),
})

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
  readonly userIds: Readonly<Record<Name, string>>
  readonly tagId: string
  /** In the order of the shape. */
  readonly policyIds: readonly string[]
  readonly stampings: Readonly<Record<Name, readonly Stamping[]>>
  readonly alice: { readonly publicKey: string; readonly privateKey: string }
}

/** Puts organizations of these shapes under the service's parent; all that is in them is made at `now`. */
export async function addOrganizations(
  service: TestService,
  all: readonly Shape[],
  now: number,
): Promise<readonly Made[]> {
  const made: Made[] = []
  await inStore(service, now, async (tx) => {
    for (const shape of all) made.push(await insert(tx, service, shape, now))
  })
  return made
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

async function insert(tx: Transaction, service: TestService, shape: Shape, now: number): Promise<Made> {
  const [organizationId, tag] = [crypto.randomUUID(), crypto.randomUUID()]
  const dated = { organization_id: organizationId, created_at: now, updated_at: now }
  const userIds = Object.fromEntries(PEOPLE.map((name) => [name, crypto.randomUUID()])) as Record<Name, string>
  const stampings = Object.fromEntries(PEOPLE.map((name) => [name, [] as Stamping[]])) as Record<Name, Stamping[]>
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
  for (const [index, name] of PEOPLE.entries()) {
    const { has, tagged } = shape.people[name]
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
  for (const [index, { consensus, who, denies, condition = null }] of shape.policies.entries()) {
    const policy = {
      id: policyIds[index]!,
      name: `p${index}`,
      effect: denies ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
      consensus: (typeof consensus === 'string' ? consensus : CONSENSUS[consensus]!)
        .replaceAll('TAG', tag)
        .replaceAll('ID', userIds[who]),
      condition,
      time: null,
      notes: '',
      ...dated,
    }
    await insertPolicy(tx, policy, crypto.randomUUID())
  }
  const members = shape.members.map((name) => userIds[name])
  const threshold = Math.min(shape.threshold, members.length)
  await setQuorum(tx, organizationId, { userIds: members, threshold, now })
  return { shape, organizationId, userIds, tagId: tag, policyIds, stampings, alice: alice! }
}
