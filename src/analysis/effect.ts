/**
 * What a waiting activity would change, rebuilt from its own intent and what lives: never from anybody's words about it. A row for
 * each family of activities that change what definitions hold; of any other there is nothing to show before and after.
 */
import type { planOfActivity } from '../plan/index.ts'
import { findActivity } from '../protocol/index.ts'
import {
  type Actual,
  type Address,
  claimsOf,
  formatAddress,
  type KindName,
  kinds,
  listOf,
  normalExpression,
  type Resource,
  shortFeatureName,
  type Value,
} from '../resources/index.ts'

type Pair = Parameters<typeof planOfActivity>[1]['pairs'][number]
type Intent = Readonly<Record<string, Value>>

/** What an activity touches, thing by thing. */
export interface Effect {
  readonly pairs: readonly Pair[]
  /** Whether the pairs say everything that the intent does. */
  readonly isWhole: boolean
  /** Ids in the intent under which nothing lives any more. */
  readonly missing: readonly string[]
}

/** The things that live, as the rows ask for them. */
interface World {
  /** A thing of a kind; one that is not there is noted as missing. */
  readonly find: (kind: KindName, id: unknown) => Resource | undefined
  /** The same, of what may as well not be there. */
  readonly seek: (kind: KindName, id: unknown) => Resource | undefined
}

/** Undefined where the intent cannot be read as one of this family, such as policies of selectors. */
type Read = (intent: Intent, world: World) => readonly Pair[] | undefined

const FAMILIES: readonly (readonly [family: RegExp, read: Read])[] = [
  [/^CREATE_POLICY_V3$/, (intent) => [createdPolicy(intent)]],
  [/^CREATE_POLICIES$/, ({ policies }) => recordsOf(policies).map(createdPolicy)],
  [/^UPDATE_POLICY(_V2)?$/, updatedPolicy],
  [/^UPDATE_ROOT_QUORUM$/, updatedQuorum],
  [/^CREATE_USERS(_V[234])?$/, ({ users }) => recordsOf(users).flatMap(createdUser)],
  [/^CREATE_API_ONLY_USERS$/, ({ apiOnlyUsers }) => recordsOf(apiOnlyUsers).flatMap(createdUser)],
  [/^UPDATE_USER(_NAME|_EMAIL|_PHONE_NUMBER)?$/, updatedUser],
  [/^CREATE_USER_TAG$/, createdTag],
  [/^UPDATE_USER_TAG$/, updatedTag],
  [/^CREATE_(API_KEYS|AUTHENTICATORS|OAUTH_PROVIDERS)(_V2)?$/, createdCredentials],
  [/^DELETE_POLICY$/, ({ policyId }, world) => gone('policy', [policyId!], world)],
  [/^DELETE_POLICIES$/, ({ policyIds }, world) => gone('policy', listOf(policyIds), world)],
  [/^DELETE_USERS$/, ({ userIds }, world) => gone('user', listOf(userIds), world)],
  [/^DELETE_USER_TAGS$/, ({ userTagIds }, world) => gone('tag', listOf(userTagIds), world)],
  [/^DELETE_API_KEYS$/, ({ apiKeyIds }, world) => gone('apiKey', listOf(apiKeyIds), world)],
  [/^DELETE_AUTHENTICATORS$/, ({ authenticatorIds }, world) => gone('authenticator', listOf(authenticatorIds), world)],
  [/^DELETE_OAUTH_PROVIDERS$/, ({ providerIds }, world) => gone('oauthProvider', listOf(providerIds), world)],
  [/^DELETE_MFA_POLICY$/, ({ mfaPolicyId }, world) => gone('mfaPolicy', [mfaPolicyId!], world)],
  [/^DELETE_WALLETS$/, ({ walletIds }, world) => gone('wallet', listOf(walletIds), world)],
  [/^DELETE_WALLET_ACCOUNTS$/, ({ walletAccountIds }, world) => gone('walletAccount', listOf(walletAccountIds), world)],
  [/^UPDATE_WALLET$/, updatedWallet],
  [/^SET_ORGANIZATION_FEATURE$/, setFeature],
  [/^REMOVE_ORGANIZATION_FEATURE$/, ({ name }, world) => gone('feature', [shortFeatureName(String(name))], world)],
  [/^CREATE_WALLET$/, ({ walletName }) => [created('wallet', String(walletName), { name: walletName! })]],
]

/** The members of intents that the rows read. */
const READ = new Set(
  `policies policyId policyIds policyName policyEffect policyCondition policyConsensus policyNotes effect condition consensus time notes
  threshold userIds users apiOnlyUsers userId userName userEmail userPhoneNumber userTags userTagIds apiKeys apiKeyName publicKey
  curveType expirationSeconds apiKeyIds userTagName userTagId newUserTagName addUserIds removeUserIds authenticatorIds providerIds
  mfaPolicyId walletId walletIds walletName walletAccountIds name value authenticators authenticatorName challenge attestation credentialId
  clientDataJson attestationObject transports`.split(/\s+/),
)

/** Whether all that an intent says is read; what is empty says nothing. */
function isRead(value: Value): boolean {
  if (Array.isArray(value)) return value.every((one: Value) => isRead(one))
  if (!isRecord(value)) return true
  return Object.entries(value).every(([name, member]) => isEmpty(member) || (READ.has(name) && isRead(member)))
}

function isEmpty(value: Value): boolean {
  return value === null || value === '' || value === false || (Array.isArray(value) && value.length === 0)
}

/** Rebuilds what an activity would change; undefined for one that changes nothing that definitions hold, or in a way not known here. */
export function effectOf(
  { type, intent }: { readonly type: string; readonly intent: object },
  { resources }: Pick<Actual, 'resources'>,
): Effect | undefined {
  const row = findActivity(type)?.row
  const family = row && FAMILIES.find(([pattern]) => pattern.test(row.type.replace('ACTIVITY_TYPE_', '')))
  const parameters = row && (intent as Readonly<Record<string, Value>>)[row.intentKey]
  if (!family || !isRecord(parameters)) return undefined
  const missing = new Set<string>()
  const seek: World['seek'] = (kind, id) => resources.find((one) => one.kind === kind && one.id === id)
  const find: World['find'] = (kind, id) => {
    const found = seek(kind, id)
    if (!found) missing.add(String(id))
    return found
  }
  const pairs = family[1](parameters, { find, seek })
  return pairs && { pairs, missing: [...missing], isWhole: missing.size === 0 && isRead(parameters) }
}

function created(kind: KindName, name: string, fields: Intent): Pair {
  const address = formatAddress(kind, name)
  return { address, kind, desired: { address, kind, name, fields } }
}

function changed(actual: Resource, fields: Intent): Pair {
  const name = typeof fields['name'] === 'string' && kinds[actual.kind].fields['name'] ? fields['name'] : actual.name
  const { address, kind } = actual
  return { address, kind, actual, desired: { ...actual, name, fields: { ...actual.fields, ...fields } } }
}

function gone(kind: KindName, ids: readonly Value[], { find }: World): readonly Pair[] {
  return ids.flatMap((id) => {
    const actual = find(kind, id)
    return actual ? [{ address: actual.address, kind, actual }] : []
  })
}

function createdPolicy({ policyName, effect, consensus, condition, time, notes }: Intent): Pair {
  const name = String(policyName)
  return created('policy', name, {
    name,
    effect: wordOf(effect),
    consensus: normalExpression(consensus),
    condition: normalExpression(condition),
    time: normalExpression(time),
    ...(notes ? { notes } : {}),
  })
}

/** What is absent stays as it is. */
function updatedPolicy(intent: Intent, { find }: World): readonly Pair[] {
  const { policyId, policyName, policyEffect, policyCondition, policyConsensus, policyNotes, time } = intent
  const actual = find('policy', policyId)
  if (!actual) return []
  return [
    changed(actual, {
      ...(policyName ? { name: policyName } : {}),
      ...(policyEffect ? { effect: wordOf(policyEffect) } : {}),
      ...(policyCondition == null ? {} : { condition: normalExpression(policyCondition) }),
      ...(policyConsensus == null ? {} : { consensus: normalExpression(policyConsensus) }),
      ...(time == null ? {} : { time: normalExpression(time) }),
      ...(policyNotes == null ? {} : { notes: policyNotes }),
    }),
  ]
}

function updatedQuorum({ threshold, userIds }: Intent, { find }: World): readonly Pair[] {
  const actual = find('rootQuorum', 'rootQuorum')
  return actual ? [changed(actual, { threshold: Number(threshold), users: userIds ?? [] })] : []
}

function createdUser(intent: Intent): readonly Pair[] {
  const { userName, userEmail, userPhoneNumber, userTags } = intent
  const name = String(userName)
  const user = created('user', name, {
    name,
    ...(userEmail ? { email: userEmail } : {}),
    ...(userPhoneNumber ? { phone: userPhoneNumber } : {}),
    tags: userTags ?? [],
  })
  return [user, ...credentialsIn(intent, { address: user.address, name })]
}

function updatedUser({ userId, userName, userEmail, userPhoneNumber, userTagIds }: Intent, { find }: World) {
  const actual = find('user', userId)
  if (!actual) return []
  return [
    changed(actual, {
      ...(userName ? { name: userName } : {}),
      ...(userEmail == null ? {} : { email: userEmail || null }),
      ...(userPhoneNumber == null ? {} : { phone: userPhoneNumber || null }),
      ...(userTagIds == null ? {} : { tags: userTagIds }),
    }),
  ]
}

function updatedWallet({ walletId, walletName }: Intent, { find }: World): readonly Pair[] {
  const actual = find('wallet', walletId)
  return actual ? [changed(actual, walletName ? { name: walletName } : {})] : []
}

/** Setting one that is set gives it another value. */
function setFeature({ name, value }: Intent, { seek }: World): readonly Pair[] {
  const short = shortFeatureName(String(name))
  const actual = seek('feature', short)
  const fields = { value: value ?? '' }
  return [actual ? changed(actual, fields) : created('feature', short, fields)]
}

function createdTag({ userTagName, userIds }: Intent, { find }: World): readonly Pair[] {
  const tag = created('tag', String(userTagName), { name: userTagName! })
  const members = listOf(userIds).flatMap((id) => find('user', id) ?? [])
  const joined = ({ fields }: Resource) => ({ tags: [...listOf(fields['tags']), { $ref: tag.address }] })
  return [tag, ...members.map((user) => changed(user, joined(user)))]
}

function updatedTag({ userTagId, newUserTagName, addUserIds, removeUserIds }: Intent, { find }: World) {
  const tag = find('tag', userTagId)
  if (!tag) return []
  const tagsOf = ({ fields }: Resource) => listOf(fields['tags']).filter((one) => one !== tag.id)
  const members = (ids: Value | undefined) => listOf(ids).flatMap((id) => find('user', id) ?? [])
  return [
    ...(newUserTagName ? [changed(tag, { name: newUserTagName })] : []),
    ...members(addUserIds).map((user) => changed(user, { tags: [...tagsOf(user), tag.id!] })),
    ...members(removeUserIds).map((user) => changed(user, { tags: tagsOf(user) })),
  ]
}

function createdCredentials(intent: Intent, { find }: World): readonly Pair[] {
  const user = find('user', intent['userId'])
  return user ? credentialsIn(intent, user) : []
}

function credentialsIn({ apiKeys, authenticators, oauthProviders }: Intent, user: Owner): readonly Pair[] {
  return [
    ...recordsOf(apiKeys).map((one) => createdKey(one, user)),
    ...recordsOf(authenticators).map((one) => createdPasskey(one, user)),
    ...recordsOf(oauthProviders).map((one) => createdProvider(one, user)),
  ]
}

/** Whose a credential is, of whom only one who lives has an id. */
interface Owner {
  readonly address: Address
  readonly name: string
  readonly id?: string | undefined
}

/** Of before keys had curves, the curve is P256. */
function createdKey({ apiKeyName, publicKey, curveType, expirationSeconds }: Intent, user: Owner): Pair {
  return createdCredential('apiKey', apiKeyName, user, {
    curve: String(curveType ?? 'API_KEY_CURVE_P256').replace('API_KEY_CURVE_', ''),
    publicKey: String(publicKey).toLowerCase(),
    ...(expirationSeconds ? { expiresIn: Number(expirationSeconds) } : {}),
  })
}

/** The first version names its credential by `id`. */
function createdPasskey({ authenticatorName, challenge, attestation }: Intent, user: Owner): Pair {
  const { credentialId, id } = isRecord(attestation) ? attestation : {}
  return createdCredential('authenticator', authenticatorName, user, {
    credentialId: credentialId ?? id ?? '',
    ...(challenge === undefined ? {} : { challenge }),
    ...(attestation === undefined ? {} : { attestation }),
  })
}

/** Whom a token is of is what it says itself; the intent is shown too. */
function createdProvider({ providerName, oidcClaims, oidcToken }: Intent, user: Owner): Pair {
  const { iss, aud, sub } = isRecord(oidcClaims) ? oidcClaims : {}
  const fields = {
    ...(iss ? { issuer: iss } : {}),
    ...(aud ? { audience: aud } : {}),
    ...(sub ? { subject: sub } : {}),
    ...claimsOf(oidcToken),
  }
  return createdCredential('oauthProvider', providerName, user, fields)
}

function createdCredential(kind: KindName, named: Value | undefined, user: Owner, fields: Intent): Pair {
  const name = String(named)
  const address = formatAddress(kind, user.name, name)
  const held = { parent: user.address, ...(user.id === undefined ? {} : { parentId: user.id }) }
  return { address, kind, desired: { address, kind, name, fields, ...held } }
}

function wordOf(effect: Value | undefined): string {
  return effect === 'EFFECT_DENY' ? 'deny' : 'allow'
}

function recordsOf(value: Value | undefined): readonly Intent[] {
  return listOf(value).filter(isRecord)
}

function isRecord(value: Value | undefined): value is Intent {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
