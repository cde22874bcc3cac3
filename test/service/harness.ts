import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { post } from '../../src/client/post.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import {
  type ActivityType,
  activities,
  type JsonObject,
  type QueryName,
  type QueryTypes,
  queries,
  type Wire,
} from '../../src/protocol/index.ts'
import { createService, type Service, type ServiceOptions } from '../../src/service/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { databaseOf, dropDatabaseOf } from '../postgres.ts'
import { isPublishedAlone, startPublishedFront } from './published-alone.ts'

/** What came back over the socket. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: JsonObject
}

/** Thrown by `query` and `submit` for an answer other than 200. */
export class Refused extends Error {
  readonly status: number
  readonly body: JsonObject

  constructor({ status, body }: Answer) {
    super(`refused with ${status}: ${JSON.stringify(body)}`)
    this.status = status
    this.body = body
  }
}

/** A body that may be sent more than once, and by more than one client. */
export interface TestBody {
  readonly path: string
  readonly text: string
}

export interface SubmitOverrides {
  /** @default the service's clock, and a millisecond more for each body, so that no two are equal */
  readonly timestampMs?: number | string
  /** @default the first organization */
  readonly organizationId?: string
}

/** Speaks for one API key. */
export interface TestClient {
  readonly publicKey: string
  readonly privateKey: string
  /** `organizationId` is filled in unless given. */
  query<Name extends QueryName>(name: Name, request?: object): Promise<QueryTypes[Name]['response']>
  /** Makes a body, sends it, and returns the activity in whatever status it is in. */
  submit(type: ActivityType, parameters: object, overrides?: SubmitOverrides): Promise<Wire.Activity>
  approve(fingerprint: string, overrides?: SubmitOverrides): Promise<Wire.Activity>
  reject(fingerprint: string, overrides?: SubmitOverrides): Promise<Wire.Activity>
  /** Sends a body that was made before. */
  send(body: TestBody): Promise<Wire.Activity>
  /** Stamps exactly this text and sends it; `headers` replace or, when empty, remove what would be sent. */
  raw(path: string, text: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

export interface TestService {
  /** The one that runs now; another one after `restart`. */
  readonly service: Service
  readonly url: string
  readonly dataDir: string
  readonly organizationId: string
  readonly rootUserId: string
  /** Speaks for the root user's key. */
  readonly root: TestClient
  client(privateKey: string): TestClient
  body(type: ActivityType, parameters: object, overrides?: SubmitOverrides): TestBody
  /** Closes and opens the same folder. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** A clock that stands until it is moved. */
export interface TestClock {
  (): number
  advance(ms: number): void
}

/** Creates a clock that starts at a round time. */
export function createTestClock(start = 1_750_000_000_000): TestClock {
  let now = start
  return Object.assign(() => now, {
    advance(ms: number) {
      now += ms
    },
  })
}

/**
 * Starts a service on a folder of its own and any free port of this machine. Close it, or the folder stays.
 * @param create makes it. @default the real one
 */
export async function startTestService(
  options: Partial<ServiceOptions> = {},
  create: typeof createService = createService,
): Promise<TestService> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'quorate-service-'))
  const clock = options.clock ?? Date.now
  const database = options.database ?? (await databaseOf(dataDir))
  const start = () => create({ ...options, dataDir, ...(database && { database }), port: 0 })
  let service = await start()
  const front = isPublishedAlone() ? await startPublishedFront(() => service.url) : undefined
  let bodies = 0
  const { organizationId, rootUserId } = service.bootstrap

  const body: TestService['body'] = (type, parameters, overrides = {}) => {
    const timestampMs = String(overrides.timestampMs ?? clock() + (bodies++ % 100_000))
    const of = overrides.organizationId ?? organizationId
    return { path: activities[type].path, text: JSON.stringify({ type, timestampMs, organizationId: of, parameters }) }
  }

  const client: TestService['client'] = (privateKey) => {
    const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
    const raw: TestClient['raw'] = async (path, text, headers = {}) => {
      const stamp = await stamper.stamp(encodeUtf8(text))
      const given = { 'content-type': 'text/plain;charset=UTF-8', [stamp.name.toLowerCase()]: stamp.value, ...headers }
      const sent = Object.fromEntries(Object.entries(given).filter(([, value]) => value))
      // For a quarter of the processor time of `fetch`.
      const { signal } = new AbortController()
      const answer = await post(`${(front ?? service).url}${path}`, text, { headers: sent, signal })
      const answered = Object.entries(answer.headers).flatMap(([name, value = []]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      )
      return { ...answer, headers: new Headers(answered), body: JSON.parse(answer.text) as JsonObject }
    }
    const ask = async (path: string, text: string): Promise<JsonObject> => {
      const answer = await raw(path, text)
      if (answer.status !== 200) throw new Refused(answer)
      return answer.body
    }
    const send: TestClient['send'] = async ({ path, text }) =>
      (await ask(path, text))['activity'] as unknown as Wire.Activity
    return {
      publicKey: stamper.publicKey,
      privateKey,
      raw,
      send,
      query: async (name, request = {}) =>
        (await ask(queries[name].path, JSON.stringify({ organizationId, ...request }))) as never,
      submit: (type, parameters, overrides) => send(body(type, parameters, overrides)),
      approve: (fingerprint, overrides) => send(body('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint }, overrides)),
      reject: (fingerprint, overrides) => send(body('ACTIVITY_TYPE_REJECT_ACTIVITY', { fingerprint }, overrides)),
    }
  }

  return {
    get service() {
      return service
    },
    get url() {
      return (front ?? service).url
    },
    dataDir,
    organizationId,
    rootUserId,
    root: client(service.bootstrap.apiPrivateKey!.reveal()),
    client,
    body,
    async restart() {
      await service.close()
      service = await start()
    },
    async close() {
      await front?.close()
      await service.close()
      rmSync(dataDir, { recursive: true, force: true })
      await dropDatabaseOf(dataDir)
    },
  }
}

/** A user with one API key, made by the root user. */
export interface TestUser {
  readonly userId: string
  readonly client: TestClient
}

/** Makes a user with a key of its own; the root quorum must be one of one. */
export async function createTestUser(
  service: TestService,
  userName: string,
  userTags: readonly string[] = [],
): Promise<TestUser & { readonly privateKey: string }> {
  const key = generateP256KeyPair()
  const apiKeys = [{ apiKeyName: `${userName}-key`, publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }]
  const user = { userName, apiKeys, authenticators: [], oauthProviders: [], userTags }
  const activity = await service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users: [user] })
  const userId = activity.result.createUsersResult?.userIds[0]
  if (userId === undefined) throw new Error(`expected a user, got ${JSON.stringify(activity)}`)
  return { userId, privateKey: key.privateKey, client: service.client(key.privateKey) }
}

/** Lets a user do alone, by a policy, whatever the condition is true for. Returns the policy's id. */
export async function allowAlone(
  service: TestService,
  { userId }: Pick<TestUser, 'userId'>,
  condition: string,
): Promise<string> {
  const consensus = `approvers.any(user, user.id == '${userId}')`
  const policy = { policyName: `alone ${crypto.randomUUID()}`, effect: 'EFFECT_ALLOW', consensus, condition, notes: '' }
  const activity = await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
  const policyId = activity.result.createPolicyResult?.policyId
  if (policyId === undefined) throw new Error(`expected a policy, got ${JSON.stringify(activity)}`)
  return policyId
}
