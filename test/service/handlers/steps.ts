import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import type { ActivityResults, ActivityType, JsonObject } from '../../../src/protocol/index.ts'
import { activities } from '../../../src/protocol/index.ts'
import { insertApiKey } from '../../../src/service/resources/api-keys/store.ts'
import { setQuorum } from '../../../src/service/resources/organizations/quorum-store.ts'
import { insertOrganization } from '../../../src/service/resources/organizations/store.ts'
import { insertUser } from '../../../src/service/resources/users/store.ts'
import type { Database } from '../../../src/service/store/index.ts'
import { openStoreOf } from '../../postgres.ts'
import { Refused, type TestClient, type TestService } from '../harness.ts'

/** A UUID that nothing has. */
export const NOBODY = '00000000-0000-4000-8000-00000000dead'

/** Submits what must complete at once, and returns the result of its type. */
export async function complete<Type extends ActivityType>(
  client: TestClient,
  type: Type,
  parameters: object,
  organizationId?: string,
): Promise<ActivityResults[Type]> {
  const activity = await client.submit(type, parameters, organizationId === undefined ? {} : { organizationId })
  if (activity.status !== 'ACTIVITY_STATUS_COMPLETED') throw new Error(`not completed: ${JSON.stringify(activity)}`)
  const result = (activity.result as unknown as Record<string, unknown>)[activities[type].resultKey!]
  return result as ActivityResults[Type]
}

/** What a refusal says, in the order of the tables: status, code, message, the API's error code. */
export type Refusal = readonly [status: number, code: number, message: string, turnkeyErrorCode: string]

/** Waits for a refusal and says it; throws when there is none. */
export async function refusalOf(sent: Promise<unknown>): Promise<Refusal> {
  const answer = await sent.then(
    (value) => new Error(`expected a refusal, got ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  if (!(answer instanceof Refused)) throw answer
  const { code, message, turnkeyErrorCode } = answer.body as JsonObject & {
    code: number
    message: string
    turnkeyErrorCode: string
  }
  return [answer.status, code, message, turnkeyErrorCode]
}

export const invalid = (message: string): Refusal => [400, 3, message, 'REQUEST_INVALID']
export const invalidField = (field: string, rule: string) => invalid(`invalid request body: field \`${field}\` ${rule}`)
export const missing = (message: string): Refusal => [404, 5, message, '']
export const taken = (message: string): Refusal => [409, 6, message, '']
export const exhausted = (message: string): Refusal => [429, 8, message, '']

let names = 0
/** A name that no other test uses. */
export function fresh(word: string): string {
  return `${word}-${names++}`
}

/** One entry of `apiKeys` with a new P-256 key. */
export function newKey(overrides: object = {}) {
  const { publicKey } = generateP256KeyPair()
  return { apiKeyName: fresh('key'), publicKey, curveType: 'API_KEY_CURVE_P256', ...overrides }
}

/** One entry of `create_users` in its latest version, with one key. */
export function newUser(overrides: object = {}) {
  const none: never[] = []
  const lists = { apiKeys: [newKey()], authenticators: none, oauthProviders: none, userTags: none }
  return { userName: fresh('user'), ...lists, ...overrides }
}

/** One entry of `create_private_keys`. */
export function newPrivateKey(overrides: object = {}) {
  const addressFormats = ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_COMPRESSED']
  const key = { privateKeyName: fresh('key'), curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats }
  return { ...key, ...overrides }
}

/** Makes a private key and returns the id. */
export async function makePrivateKey(client: TestClient, overrides: object = {}): Promise<string> {
  const privateKeys = [newPrivateKey(overrides)]
  const made = await complete(client, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys })
  return made.privateKeys[0]!.privateKeyId!
}

/** Makes a user and returns the id. */
export async function makeUser(client: TestClient, overrides: object = {}): Promise<string> {
  const result = await complete(client, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users: [newUser(overrides)] })
  return result.userIds[0]!
}

/** Another organization on the same service, and someone who speaks for it. */
export interface Tenant {
  readonly organizationId: string
  readonly userId: string
  readonly client: TestClient
}

/**
 * Adds organizations with one root user each, in the service's own database while the service is down: no activity makes
 * a second parent.
 */
export async function addTenants(
  service: TestService,
  count: number,
  { parentId = null }: { readonly parentId?: string | null } = {},
): Promise<readonly Tenant[]> {
  await service.service.close()
  const database = await openStoreOf(service.dataDir, { now: 0 })
  const made = Array.from({ length: count }, () => insertTenant(database, service, parentId))
  const tenants = await Promise.all(made)
  await database.close()
  await service.restart()
  return tenants
}

/** Adds one. */
export async function addTenant(service: TestService, options: { readonly parentId?: string } = {}): Promise<Tenant> {
  return (await addTenants(service, 1, options))[0]!
}

async function insertTenant(database: Database, service: TestService, parent_id: string | null): Promise<Tenant> {
  const key = generateP256KeyPair()
  const [organizationId, userId, keyId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
  const made = { organization_id: organizationId, created_at: 1_000, updated_at: 1_000 }
  await database.write(async (tx) => {
    const { created_at, updated_at } = made
    await insertOrganization(tx, {
      id: organizationId,
      parent_id,
      name: 'tenant',
      quorum_threshold: 1,
      created_at,
      updated_at,
    })
    await insertUser(tx, { id: userId, name: 'tess', email: null, phone_number: null, ...made })
    await insertApiKey(tx, {
      id: keyId,
      user_id: userId,
      name: 'tess',
      public_key: key.publicKey,
      credential_type: 'CREDENTIAL_TYPE_API_KEY_P256',
      expiration_seconds: null,
      ...made,
    })
    await setQuorum(tx, organizationId, { userIds: [userId], threshold: 1, now: 1_000 })
  })
  return { organizationId, userId, client: service.client(key.privateKey) }
}
