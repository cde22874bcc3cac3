/** Parent organizations: made with the enrolment secret alone, kept apart, and deleted. */
import { randomUUID } from 'node:crypto'
import { encryptSecretToBundle, generateP256KeyPair } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ActivityType, activities, type JsonObject, type Wire } from '../../../src/protocol/index.ts'
import { mayEnrol } from '../../../src/service/engine/enrolment.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { type Answer, startTestService, type TestService } from '../harness.ts'
import { asBrowserGave, createPasskey, type Passkey } from '../passkey.ts'
import { complete, invalid, newUser, type Refusal, refusalOf, taken } from './steps.ts'
import { newApp } from './tvc.ts'

const SECRET = 'an enrolment secret that nobody guesses'
const WRONG: Refusal = [
  403,
  7,
  'request not authorized: X-Enrolment-Secret is not the enrolment secret of this service',
  'REQUEST_NOT_AUTHORIZED',
]
const ABSENT: Refusal = [404, 5, 'no organization found with the given ID', 'ORGANIZATION_NOT_FOUND']
let service: TestService
beforeAll(async () => {
  service = await startTestService({ enrolmentSecret: new Secret(SECRET) })
})
afterAll(() => service.close())

const said = ({ status, body }: Answer): Refusal => {
  const { code, message, turnkeyErrorCode } = body as JsonObject & {
    code: number
    message: string
    turnkeyErrorCode: string
  }
  return [status, code, message, turnkeyErrorCode]
}
const activityOf = ({ body }: Answer) => body['activity'] as unknown as Wire.Activity

/** Sends a body that a passkey stamps. */
function send(
  passkey: Passkey,
  { path, text }: { path: string; text: string },
  headers: Readonly<Record<string, string>> = {},
) {
  return service.root.raw(path, text, { 'x-stamp': '', 'x-stamp-webauthn': passkey.stamp(text), ...headers })
}
function submit(passkey: Passkey, type: ActivityType, parameters: object, organizationId: string) {
  return send(passkey, service.body(type, parameters, { organizationId }))
}
const parametersOf = (passkey: Passkey, overrides: object = {}) => ({
  organizationName: 'new parent',
  rootEmail: 'root@parent.test',
  rootAuthenticator: passkey.register(),
  ...overrides,
})
const bodyOf = (passkey: Passkey, organizationId: string, overrides: object = {}) =>
  service.body('ACTIVITY_TYPE_CREATE_ORGANIZATION_V2', parametersOf(passkey, overrides), { organizationId })
const withSecret = { 'x-enrolment-secret': SECRET }

async function makeParent() {
  const [passkey, organizationId] = [createPasskey(), randomUUID()]
  const answer = await send(passkey, bodyOf(passkey, organizationId), withSecret)
  expect(answer.status).toBe(200)
  return { passkey, organizationId }
}
const isThere = async (passkey: Passkey, organizationId: string) =>
  (await send(passkey, { path: '/public/v1/query/whoami', text: JSON.stringify({ organizationId }) })).status === 200

describe('create_organization', () => {
  test('create_organization: who brings the secret makes an organization, whose root user is the passkey that stamps', async () => {
    const [passkey, organizationId] = [createPasskey(), randomUUID()]
    const rootUserId = randomUUID()
    const body = bodyOf(passkey, organizationId, { rootUserId })
    const activity = activityOf(await send(passkey, body, withSecret))
    expect(activity).toMatchObject({ organizationId, status: 'ACTIVITY_STATUS_COMPLETED' })
    expect(activity.result.createOrganizationResult).toEqual({ organizationId })
    expect(activity.votes[0]).toMatchObject({ userId: rootUserId, scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN' })
    const asked = { path: '/public/v1/query/get_organization', text: JSON.stringify({ organizationId }) }
    const { organizationData } = (await send(passkey, asked)).body as { organizationData: Wire.OrganizationData }
    expect(organizationData).toMatchObject({ name: 'new parent', rootQuorum: { threshold: 1, userIds: [rootUserId] } })
    expect(organizationData.users).toHaveLength(1)
    expect(organizationData.features).toEqual([])
    // The same bytes again are the same activity, for whoever may ask about it.
    for (const headers of [withSecret, {}]) expect(activityOf(await send(passkey, body, headers)).id).toBe(activity.id)
    // Another organization of the same service is not its own.
    expect(await isThere(passkey, service.organizationId)).toBe(false)
    expect((await refusalOf(service.root.query('whoami', { organizationId })))[0]).toBe(401)
  })

  test('create_organization: without the secret, or with another one, nothing is made and nothing is told', async () => {
    const [passkey, organizationId] = [createPasskey(), randomUUID()]
    const body = bodyOf(passkey, organizationId)
    expect(said(await send(passkey, body))).toEqual(ABSENT)
    for (const given of ['', 'x', `${SECRET}x`, SECRET.slice(1)]) {
      if (given) expect(said(await send(passkey, body, { 'x-enrolment-secret': given }))).toEqual(WRONG)
      // Whether an organization is there makes no difference.
      const there = bodyOf(passkey, service.organizationId)
      if (given) expect(said(await send(passkey, there, { 'x-enrolment-secret': given }))).toEqual(WRONG)
    }
    expect(await isThere(passkey, organizationId)).toBe(false)
    // A service without a secret has none that could be guessed.
    const row = activities.ACTIVITY_TYPE_CREATE_ORGANIZATION_V2
    for (const given of ['', 'x'])
      expect(() => mayEnrol(row, { 'x-enrolment-secret': given }, undefined)).toThrow('request not authorized')
  })

  test('create_organization: a stamp of another passkey or of an API key makes nothing', async () => {
    const [passkey, organizationId] = [createPasskey(), randomUUID()]
    const body = bodyOf(passkey, organizationId)
    expect((await send(createPasskey(), body, withSecret)).status).toBe(401)
    expect((await service.root.raw(body.path, body.text, withSecret)).status).toBe(401)
    expect(await isThere(passkey, organizationId)).toBe(false)
    expect((await send(passkey, body, withSecret)).status).toBe(200)
  })

  test('create_organization: the first version takes what the browser gave', async () => {
    const [passkey, organizationId, rootUserId] = [createPasskey(), randomUUID(), randomUUID()]
    const rootAuthenticator = asBrowserGave(passkey.register(), rootUserId)
    const parameters = parametersOf(passkey, { rootUserId, rootAuthenticator })
    const body = service.body('ACTIVITY_TYPE_CREATE_ORGANIZATION', parameters, { organizationId })
    expect(activityOf(await send(passkey, body, withSecret))).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED' })
    expect(await isThere(passkey, organizationId)).toBe(true)
  })

  test('create_organization: an id that an organization or a user has is refused', async () => {
    const { organizationId } = service
    const passkey = createPasskey()
    const own = service.body('ACTIVITY_TYPE_CREATE_ORGANIZATION_V2', parametersOf(passkey))
    expect(said(await service.root.raw(own.path, own.text, withSecret))).toEqual(
      taken(`organization with ID ${organizationId} already exists`),
    )
    const ofSomebody = bodyOf(passkey, randomUUID(), { rootUserId: service.rootUserId })
    expect(said(await send(passkey, ofSomebody, withSecret))).toEqual(
      invalid('invalid request body: field `rootUserId` must be the id of nobody'),
    )
  })
})

describe('delete_organization', () => {
  const remove = (passkey: Passkey, organizationId: string, named = organizationId) =>
    submit(passkey, 'ACTIVITY_TYPE_DELETE_ORGANIZATION', { organizationId: named }, organizationId)

  test('delete_organization: once nothing is left that would be lost, the organization goes, and its id never comes again', async () => {
    const { passkey, organizationId } = await makeParent()
    const { userTags: _, ...rootUser } = newUser()
    const child = { subOrganizationName: 's', rootUsers: [rootUser], rootQuorumThreshold: 1 }
    await submit(passkey, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', child, organizationId)
    expect(said(await remove(passkey, organizationId))).toEqual(
      invalid('the organization has sub-organizations, which must be deleted before it'),
    )
    const other = await makeParent()
    const wallet = { walletName: 'w', accounts: [] }
    await submit(other.passkey, 'ACTIVITY_TYPE_CREATE_WALLET', wallet, other.organizationId)
    expect(said(await remove(other.passkey, other.organizationId))[2]).toBe('wallet account has not been exported')
    expect(said(await remove(other.passkey, other.organizationId, organizationId))[2]).toContain('organizationId')
    const empty = await makeParent()
    const done = activityOf(await remove(empty.passkey, empty.organizationId))
    expect(done.result.deleteOrganizationResult).toEqual({ organizationId: empty.organizationId })
    expect(await isThere(empty.passkey, empty.organizationId)).toBe(false)
    const again = bodyOf(empty.passkey, empty.organizationId)
    expect(said(await send(empty.passkey, again))).toEqual(ABSENT)
    expect(said(await send(empty.passkey, again, withSecret))[0]).toBe(409)
  })

  test('delete_organization: a secret that never left, or an app whose quorum key cannot leave, keeps the organization', async () => {
    const { passkey, organizationId } = await makeParent()
    const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1'
    const done = async (type: ActivityType, parameters: object) => {
      const activity = activityOf(await submit(passkey, type, parameters, organizationId))
      expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED')
      return activity.result
    }
    const targets = await done('ACTIVITY_TYPE_INIT_IMPORT_SECRETS', { encryptionSuite, numSecrets: 2 })
    const secrets = await Promise.all(
      targets.initImportSecretsResult!.enclaveTargetMessages.map(async (ingressTargetBundle) => ({
        ...(await encryptSecretToBundle({
          ...{ plaintext: 'x', ingressTargetBundle, organizationId },
          dangerouslyOverrideSignerPublicKey: service.service.bootstrap.signerPublicKey,
        })),
        encryptionSuite,
      })),
    )
    const { secretIds } = (await done('ACTIVITY_TYPE_IMPORT_SECRETS', { secrets })).importSecretsResult!
    const { appId } = (await done('ACTIVITY_TYPE_CREATE_TVC_APP', newApp())).createTvcAppResult!
    for (const secretId of secretIds) {
      expect(said(await remove(passkey, organizationId))[2]).toBe('a secret of the organization has not been exported')
      const targetPublicKey = generateP256KeyPair().publicKeyUncompressed
      await done('ACTIVITY_TYPE_EXPORT_SECRETS', { secrets: [{ secretId, targetPublicKey, encryptionSuite }] })
    }
    expect(said(await remove(passkey, organizationId))[2]).toBe(
      'the organization has TVC apps, which must be deleted before it',
    )
    await done('ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS', { appId })
    expect(activityOf(await remove(passkey, organizationId)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(await isThere(passkey, organizationId)).toBe(false)
  })

  test('delete_organization: the first organization stays, and a sub-organization has an activity of its own', async () => {
    const { root, organizationId } = service
    expect((await refusalOf(root.submit('ACTIVITY_TYPE_DELETE_ORGANIZATION', { organizationId })))[2]).toContain(
      'the first organization of a service cannot be deleted',
    )
    const passkey = createPasskey()
    const { userTags: _, ...rootUser } = newUser({ authenticators: [passkey.register()] })
    const child = { subOrganizationName: 's', rootUsers: [rootUser], rootQuorumThreshold: 1 }
    const { subOrganizationId } = await complete(root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', child)
    expect(said(await remove(passkey, subOrganizationId))[2]).toContain('ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION')
  })
})
