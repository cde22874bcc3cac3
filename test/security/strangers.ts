/**
 * Whatever an organization has, in the hands of another: in every field of every activity and query it must look like
 * something that nobody has. The matrix is made from the catalogue, field by field, so a new field is in it by itself.
 */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { generateP256KeyPair, KEY_CURVES, uncompressP256 } from '../../src/crypto/index.ts'
import { type ActivityType, activities, type JsonObject, type QueryName, queries } from '../../src/protocol/index.ts'
import { closureOf, type MessageSchema, refName } from '../../src/protocol/schema.ts'
import { handlers } from '../../src/service/resources/index.ts'
import { sampleOf } from '../service/handlers/sample.ts'
import { addTenant, complete, newUser, type Tenant } from '../service/handlers/steps.ts'
import { makeTvcDeployment, newApp } from '../service/handlers/tvc.ts'
import type { Answer, TestClient, TestService } from '../service/harness.ts'
import { startLoginStage } from '../service/login/stage.ts'
import { nonceOf } from '../service/oauth/stage.ts'
import { startIssuer, type TestIssuer } from '../service/oidc/issuer.ts'
import { createPasskey } from '../service/passkey.ts'

const accounts = [
  {
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    path: "m/44'/60'/0'/0/0",
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  },
]

/** One of everything that an organization can have, by the name that requests call it by. */
type Belongings = Readonly<Record<string, string>>

/** The clients of an organization, and who vouches for identities there. */
interface Filled {
  readonly client: TestClient
  readonly organizationId: string
  readonly issuer: TestIssuer
}

async function fill({ client, organizationId, issuer }: Filled, word: string): Promise<Belongings> {
  const make = <Type extends ActivityType>(type: Type, parameters: object) =>
    complete(client, type, parameters, organizationId)
  const userEmail = `${word}@example.com`
  const { userIds } = await make('ACTIVITY_TYPE_CREATE_USERS_V4', { users: [newUser({ userEmail, userName: word })] })
  const userId = userIds[0]!
  const { apiKeys } = await client.query('get_api_keys', { organizationId, userId })
  const { userTagId } = await make('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: word, userIds: [userId] })
  const denial = { policyName: word, effect: 'EFFECT_DENY', condition: 'false' }
  const { policyId } = await make('ACTIVITY_TYPE_CREATE_POLICY_V3', denial)
  const { walletId } = await make('ACTIVITY_TYPE_CREATE_WALLET', { walletName: word, accounts })
  const wallet = (await client.query('list_wallet_accounts', { organizationId, walletId })).accounts[0]!
  const key = { privateKeyName: word, curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: [] }
  const { privateKeys } = await make('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: [key] })
  const privateKeyId = privateKeys[0]!.privateKeyId!
  const { privateKeyTagId } = await make('ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', {
    privateKeyTagName: word,
    privateKeyIds: [privateKeyId],
  })
  const { smartContractInterfaceId } = await make('ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
    smartContractAddress: `0x${'5'.repeat(40)}`,
    smartContractInterface: '[]',
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: word,
  })
  const invitation = {
    receiverUserName: word,
    receiverUserEmail: `invited-${userEmail}`,
    receiverUserTags: [],
    accessType: 'ACCESS_TYPE_ALL',
    senderUserId: userId,
  }
  const { invitationIds } = await make('ACTIVITY_TYPE_CREATE_INVITATIONS', { invitations: [invitation] })
  const oauth2 = { provider: 'OAUTH2_PROVIDER_X', clientId: word, encryptedClientSecret: '00' }
  const { oauth2CredentialId } = await make('ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', oauth2)
  const { authenticatorIds } = await make('ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', {
    userId,
    authenticators: [createPasskey().register()],
  })
  const { mfaPolicyId } = await make('ACTIVITY_TYPE_CREATE_MFA_POLICY', {
    userId,
    mfaPolicyName: word,
    condition: 'false',
    requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],
    order: 0,
  })
  const { sessionProfileId } = await make('ACTIVITY_TYPE_CREATE_SESSION_PROFILE', {
    sessionProfileName: word,
    scope: 'true',
  })
  const { session } = await make('ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', {})
  const { providerIds } = await make('ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS', {
    userId,
    oauthProviders: [{ providerName: word, oidcToken: await issuer.token({ sub: word }) }],
  })
  await make('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: '' })
  const code = { otpType: 'OTP_TYPE_EMAIL', appName: word, contact: userEmail }
  const { otpId } = await make('ACTIVITY_TYPE_INIT_OTP_V3', code)
  const tvc = await makeTvcDeployment(client, newApp(), organizationId)
  const { activities: made } = await client.query('list_activities', { organizationId })
  return {
    userId,
    userEmail,
    userName: word,
    apiKeyId: apiKeys[0]!.apiKeyId,
    apiPublicKey: apiKeys[0]!.credential.publicKey,
    userTagId,
    policyId,
    walletId,
    walletAccountId: wallet.walletAccountId,
    address: wallet.address,
    publicKey: wallet.publicKey!,
    privateKeyId,
    privateKeyTagId,
    smartContractInterfaceId,
    invitationId: invitationIds[0]!,
    oauth2CredentialId,
    authenticatorId: authenticatorIds[0]!,
    mfaPolicyId,
    sessionProfileId,
    session,
    providerId: providerIds[0]!,
    otpId,
    appId: tvc.appId,
    deploymentId: tvc.deploymentId,
    operatorId: tvc.manifestSetOperatorIds[0]!,
    activityId: made[0]!.id,
    fingerprint: made[0]!.fingerprint,
    organizationId,
  }
}

/** Of ids, one is like another, and none can be taken: in the place of each, the same is asked for, and but once a field. */
const ID_OF_NOTHING = randomUUID()

/** A value of the same form that nobody has. */
function strangerTo(value: string): string {
  if (/^[0-9a-f-]{36}$/.test(value)) return ID_OF_NOTHING
  if (/^0x[0-9a-fA-F]{40}$/.test(value)) return value.replace(/[1-8](?=[^1-8]*$)/, turned)
  if (/^0[23][0-9a-f]{64}$/.test(value)) return otherPoint(value)
  if (value.startsWith('sha256:')) return `sha256:${'0'.repeat(64)}`
  // A token begins with `-` or `_` now and then, by which a grammar tells it from a name.
  const mark = /^[-_]/.exec(value)?.[0] ?? ''
  return `${mark}nobody-${value.length}@example.com`.slice(0, value.includes('@') ? undefined : 8 + mark.length)
}

/** A key that nobody has, on P-256 where the value is and not on it where the value is not: some fields take no other. */
function otherPoint(value: string): string {
  const isP256 = uncompressP256(value) !== undefined
  for (;;) {
    const { publicKey } = KEY_CURVES[isP256 ? 'p256' : 'secp256k1'].generateKeyPair()
    if ((uncompressP256(publicKey) !== undefined) === isP256) return publicKey
  }
}

/** Another digit: policies and checksums may tell texts apart by where their digits and letters stand. */
function turned(digit: string): string {
  return digit === '8' ? '1' : String(Number(digit) + 1)
}

/** Texts of other kinds: they have a grammar of their own, or are taken as they are; no id is looked up by them. */
const REFERS_TO_NOTHING =
  /condition|consensus|^scope$|^time$|notes|name$|label|^number$|^cvv$|^unsignedTransaction$|^targetPublicKey$/i

type Path = readonly (string | number)[]

/** The texts of a message that anything may stand in, required or not. */
function textPaths(name: string): readonly { readonly path: Path; readonly member: string }[] {
  const defs = closureOf(name)
  const walk = (schema: MessageSchema, path: Path, member: string, depth: number): { path: Path; member: string }[] => {
    if (depth > 6) return []
    if (schema.$ref !== undefined) return walk(defs[refName(schema.$ref)]!, path, member, depth + 1)
    if (schema.enum !== undefined) return []
    if (schema.type === 'object') {
      return Object.entries(schema.properties ?? {}).flatMap(([key, property]) =>
        walk(property, [...path, key], key, depth + 1),
      )
    }
    if (schema.type === 'array') return walk(schema.items!, [...path, 0], member, depth + 1)
    return schema.type === 'string' && schema.pattern === undefined ? [{ path, member }] : []
  }
  return walk({ $ref: `#/$defs/${name}` }, [], '', 0).filter(({ member }) => !REFERS_TO_NOTHING.test(member))
}

/** A copy with a value at a place; what is missing on the way there is made. */
function withValue(given: unknown, [step, ...rest]: Path, value: string): unknown {
  if (step === undefined) return value
  if (typeof step === 'number') return [withValue(Array.isArray(given) ? given[0] : undefined, rest, value)]
  return { ...(given as object), [step]: withValue((given as JsonObject | undefined)?.[step], rest, value) }
}

/** The least message of a name, with what the caller itself has wherever a field is called so. */
function ownSample(name: string, own: Belongings): JsonObject {
  const replaced = (value: unknown, member: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => replaced(item, member.replace(/s$/, '')))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, key)]))
    }
    if (typeof value !== 'string') return value
    if (member === 'signWith') return own['address']
    return own[member] ?? value
  }
  return replaced(sampleOf(name), '') as JsonObject
}

/** A field of a request, and what comes back for a value in it. */
interface Place {
  readonly at: string
  ask(value: string): Promise<Pick<Answer, 'status' | 'text'>>
}

/**
 * Asks everywhere with what the victim has and with what nobody has: how often, and where the answers differ. What the caller
 * has taken for its own by then, such as a key that it gave to a user of its own, is no more a thing of the victim's alone.
 */
async function compare(
  victim: Belongings,
  places: Iterable<Place>,
  asks: (at: string, what: string) => boolean,
  hasTaken: (value: string) => Promise<boolean>,
) {
  const wrong: unknown[] = []
  let compared = 0
  for (const { at, ask } of places) {
    const said = async (value: string) => {
      const { status, text } = await ask(value)
      return [status, text.replaceAll(value, 'VALUE').replaceAll(value.toLowerCase(), 'VALUE')] as const
    }
    // One field's questions go out together: the service answers them in few transactions, and nobody waits for each.
    const things = Object.entries(victim)
      .filter(([what]) => asks(at, what))
      .map(([what, value]) => ({ what, value, nobody: strangerTo(value) }))
    const nobodies = [...new Set(things.map(({ nobody }) => nobody))]
    const ofNobody = new Map(await Promise.all(nobodies.map(async (nobody) => [nobody, await said(nobody)] as const)))
    const differing = await Promise.all(
      things.map(async ({ what, value, nobody }) => {
        const [got, expected] = [await said(value), ofNobody.get(nobody)]
        return isDeepStrictEqual(got, expected) ? [] : [{ what, value, got, expected }]
      }),
    )
    compared += things.length
    for (const { what, value, got, expected } of differing.flat()) {
      if (!(await hasTaken(value))) wrong.push([at, what, got, expected])
    }
  }
  return { wrong, compared }
}

function* fieldsOfActivities(
  service: TestService,
  { client, organizationId }: Tenant,
  own: Belongings,
): Iterable<Place> {
  for (const type of (Object.keys(activities) as ActivityType[]).filter((each) => 'execute' in handlers[each])) {
    if (/SET_IP_ALLOWLIST|ROOT_QUORUM|SET_ORGANIZATION_FEATURE|DELETE_SUB_ORG/.test(type)) continue
    const sample = ownSample(activities[type].intent, own)
    for (const { path } of textPaths(activities[type].intent)) {
      const ask = async (value: string) => {
        const { path: to, text } = service.body(type, withValue(sample, path, value) as object, { organizationId })
        const answer = await client.raw(to, text)
        // What succeeded has an id and a time of its own.
        return answer.status === 200 ? { status: 200, text: '' } : answer
      }
      yield { at: `${type} ${path.join('.')}`, ask }
    }
  }
}

function* fieldsOfQueries(_: TestService, { client, organizationId }: Tenant, own: Belongings): Iterable<Place> {
  for (const name of Object.keys(queries) as QueryName[]) {
    const { request, path: to } = queries[name]
    const sample = { ...ownSample(request, own), organizationId }
    for (const { path } of textPaths(request).filter(({ path: [first] }) => first !== 'organizationId')) {
      const ask = (value: string) => client.raw(to, JSON.stringify(withValue(sample, path, value)))
      yield { at: `${name} ${path.join('.')}`, ask }
    }
  }
}

/** Who asks, and for what of whom. */
const STRANGERS = [
  { who: 'another organization', whose: 'a sub-organization' },
  { who: 'another organization', whose: 'a parent' },
  { who: 'a sub-organization', whose: 'its sibling' },
  { who: 'a sub-organization', whose: 'its parent' },
] as const
const FIELDS = { 'an activity': fieldsOfActivities, 'a query': fieldsOfQueries } as const

/** Every stranger with the fields of every sort of request. */
export const strangers = STRANGERS.flatMap((stranger) =>
  (Object.keys(FIELDS) as (keyof typeof FIELDS)[]).map((of) => ({ ...stranger, of })),
)
type Stranger = (typeof strangers)[number]

export interface Asked {
  readonly compared: number
  /** Where an answer told more than that nobody has it. */
  readonly wrong: readonly unknown[]
}

/** Somebody who has proved themselves in one organization, and asks by attested stamps alone. */
export interface Attested {
  /** Asks an organization who they are, or for a tag; what was answered. */
  ask(organizationId: string, submits: boolean): Promise<readonly [number, string]>
}

/** Organizations that have one of everything: one alone, two below another, and that one. */
export async function openStrangers() {
  const issuer = await startIssuer()
  const stage = await startLoginStage({ clock: Date.now, privateIssuers: [issuer.url] })
  const { service } = stage
  const stranger = await addTenant(service)
  const child = await addTenant(service, { parentId: service.organizationId })
  const sibling = await addTenant(service, { parentId: service.organizationId })
  const top = { client: service.root, organizationId: service.organizationId }
  const owned = {
    'a sub-organization': await fill({ ...child, issuer }, 'victim'),
    parent: await fill({ ...top, issuer }, 'victim-above'),
  }
  const victims = {
    'a sub-organization': owned['a sub-organization'],
    'its sibling': owned['a sub-organization'],
    'a parent': owned.parent,
    'its parent': owned.parent,
  }
  const asking = { 'another organization': stranger, 'a sub-organization': sibling }
  const own = new Map<Tenant, Belongings>()
  for (const one of [stranger, sibling]) own.set(one, await fill({ ...one, issuer }, `own-${own.size}`))

  /** What is proved is the victim's own word, or a word that nobody has; the proof is of the stranger's organization. */
  async function attested(
    who: Stranger['who'],
    scheme: 'OIDC' | 'VERIFICATION_TOKEN',
    subject: string,
  ): Promise<Attested> {
    const { organizationId } = asking[who]
    const key = generateP256KeyPair()
    const nonce = nonceOf(key.publicKey)
    const token =
      scheme === 'OIDC'
        ? await issuer.token({ sub: subject, nonce })
        : await stage.token(`${subject}@example.com`, key.publicKey, { organizationId })
    const asked = stage.attested(token, key, scheme)
    return {
      async ask(of, submits) {
        const tag = { userTagName: 'taken', userIds: [] }
        const { status, text } = submits
          ? await asked.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag, { organizationId: of })
          : await asked.query('whoami', { organizationId: of })
        return [status, text.replaceAll(of, 'ORGANIZATION')]
      },
    }
  }
  return {
    attested,
    victims,
    own: (who: Stranger['who']) => own.get(asking[who])!,
    /** With `every`, each stranger asks for everything in every field; else they share what a field is not meant for. */
    async ask({ who, whose, of }: Stranger, { every }: { readonly every: boolean }): Promise<Asked> {
      const tenant = asking[who]
      const turn = STRANGERS.findIndex((one) => one.who === who && one.whose === whose)
      let pairs = 0
      const isAsked = (at: string, what: string) => {
        const mine = pairs++ % STRANGERS.length === turn
        return every || mine || isMeant(at, what)
      }
      const hasTaken = async (value: string) => {
        const { client, organizationId } = tenant
        const { users } = await client.query('list_users', { organizationId })
        return JSON.stringify(users).toLowerCase().includes(`"${value.toLowerCase()}"`)
      }
      return compare(victims[whose], FIELDS[of](service, tenant, own.get(tenant)!), isAsked, hasTaken)
    },
    async close() {
      await stage.close()
      await issuer.close()
    },
  }
}

/** Whether a field is called as the thing is, in the singular or the plural. */
function isMeant(at: string, what: string): boolean {
  const member = at.split(/[ .]/).findLast((part) => !/^\d+$/.test(part))!
  return member.toLowerCase().replace(/s$/, '').endsWith(what.toLowerCase())
}
