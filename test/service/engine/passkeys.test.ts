import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, Wire } from '../../../src/protocol/index.ts'
import { type Algorithm, FLAG } from '../../stamp/authenticator.ts'
import { complete, makeUser } from '../handlers/steps.ts'
import { createTestUser, startTestService, type TestBody, type TestService } from '../harness.ts'
import { createPasskey, type Passkey } from '../passkey.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const WHOAMI = '/public/v1/query/whoami'

/** Sends a body that a passkey stamps, or a stamp that was made of another one. */
async function send(passkey: Passkey, { path, text }: TestBody, stamp = passkey.stamp(text)) {
  return service.root.raw(path, text, { 'x-stamp': '', 'x-stamp-webauthn': stamp })
}

const ask = () => ({ path: WHOAMI, text: JSON.stringify({ organizationId: service.organizationId }) })

describe('passkey stamps', () => {
  test.each<Algorithm>(['ES256', 'RS256'])('passkey stamps: a key of %s speaks for its user', async (algorithm) => {
    const passkey = createPasskey(algorithm)
    const userId = await makeUser(service.root, { apiKeys: [], authenticators: [passkey.register()] })
    expect((await send(passkey, ask())).body).toMatchObject({ userId })
  })

  test('passkey stamps: a vote keeps what the passkey signed, and may be of any user who is asked', async () => {
    const passkey = createPasskey()
    const userId = await makeUser(service.root, { apiKeys: [], authenticators: [passkey.register()] })
    const ada = await createTestUser(service, 'ada')
    const [approvers, tag] = [[ada.userId, userId], { userTagName: 'by passkey', userIds: [] }]
    const both = approvers.map((id) => `approvers.any(user, user.id == '${id}')`).join(' && ')
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'both',
      effect: 'EFFECT_ALLOW',
      consensus: `${both} && credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' && c.public_key == '${passkey.publicKey}')`,
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
    })
    const waiting = await ada.client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag)
    expect(waiting.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const body = service.body('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint: waiting.fingerprint })
    const stamp = passkey.stamp(body.text, { signCount: 7 })
    const { activity } = (await send(passkey, body, stamp)).body as JsonObject & { activity: Wire.Activity }
    expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(activity.votes[1]).toMatchObject({
      userId,
      scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN',
      publicKey: passkey.publicKey,
      signature: stamp,
      message: body.text,
      user: { authenticators: [{ credentialId: passkey.credentialId }] },
    })
  })

  test('passkey stamps: an approval goes with the passkey that gave it', async () => {
    const passkey = createPasskey()
    const { userId, client } = await createTestUser(service, 'both ways')
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', {
      userId,
      authenticators: [passkey.register()],
    })
    const bob = await createTestUser(service, 'bob')
    const consensus = [userId, bob.userId].map((id) => `approvers.any(user, user.id == '${id}')`).join(' && ')
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'pair',
      effect: 'EFFECT_ALLOW',
      consensus,
      condition: "activity.type == 'ACTIVITY_TYPE_DELETE_USER_TAGS'",
    })
    const made = { userTagName: 't', userIds: [] }
    const { userTagId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', made)
    const { userTagId: another } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', made)
    const counting = service.body('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [another] })
    const first = (await send(passkey, counting)).body as JsonObject & { activity: Wire.Activity }
    expect((await bob.client.approve(first.activity.fingerprint)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    const body = service.body('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [userTagId] })
    const { activity } = (await send(passkey, body)).body as JsonObject & { activity: Wire.Activity }
    expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const { authenticators } = await service.root.query('get_authenticators', { userId })
    await complete(client, 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS', {
      userId,
      authenticatorIds: [authenticators[0]!.authenticatorId],
    })
    expect((await bob.client.approve(activity.fingerprint)).status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    expect((await client.approve(activity.fingerprint)).status).toBe('ACTIVITY_STATUS_COMPLETED')
  })

  test.each<{ name: string; stamp: (passkey: Passkey, text: string) => string }>([
    { name: 'of other bytes', stamp: (passkey, text) => passkey.stamp(`${text} `) },
    { name: 'of another relying party', stamp: (passkey, text) => passkey.stamp(text, { rpId: 'evil.test' }) },
    { name: 'without the user', stamp: (passkey, text) => passkey.stamp(text, { flags: 0 }) },
    {
      name: 'of a credential that says now that it can be copied',
      stamp: (passkey, text) => passkey.stamp(text, { flags: FLAG.userPresent | FLAG.backupEligible }),
    },
    {
      name: 'of a registration',
      stamp: (passkey, text) => passkey.stamp(text, { client: { type: 'webauthn.create' } }),
    },
    {
      name: 'of another passkey under its id',
      stamp: (passkey, text) =>
        JSON.stringify({ ...JSON.parse(createPasskey().stamp(text)), credentialId: passkey.credentialId }),
    },
  ])('passkey stamps: one $name is refused', async ({ stamp }) => {
    const passkey = createPasskey()
    await makeUser(service.root, { authenticators: [passkey.register()] })
    const request = ask()
    expect((await send(passkey, request)).status).toBe(200)
    const { status, body } = await send(passkey, request, stamp(passkey, request.text))
    expect([status, body['message'], body['turnkeyErrorCode']]).toEqual([
      401,
      'could not verify WebAuthN signature',
      'SIGNATURE_INVALID',
    ])
  })

  test('passkey stamps: a counter that stands still or steps back refuses nothing', async () => {
    const passkey = createPasskey()
    const userId = await makeUser(service.root, { authenticators: [passkey.register()] })
    for (const signCount of [9, 9, 3, 0]) {
      const body = service.body('ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', {
        userId,
        authenticators: [createPasskey().register()],
      })
      expect((await send(passkey, body, passkey.stamp(body.text, { signCount }))).status).toBe(200)
    }
  })
})
