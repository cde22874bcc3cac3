/**
 * Of activities that are said to give nobody power, somebody who may do nothing but one of them does it in a service, in an organization
 * whose policies wait for a name, a tag, an address or another person; and can sign and write policies no more than before.
 */
import { decryptCredentialBundle, generateP256KeyPair as generatePublished } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FAMILIES } from '../../src/analysis/families.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { handlers } from '../../src/service/resources/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { createEnclaveRoot } from '../service/handlers/enclave.ts'
import { complete, fresh, makePrivateKey, makeUser, newKey, newUser } from '../service/handlers/steps.ts'
import { createTestUser, startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { type SocialProviders, startSocialProviders } from '../service/oauth/social.ts'
import { startIssuer, type TestIssuer } from '../service/oidc/issuer.ts'
import { messageOf } from '../service/one-time-passcodes/outbox.ts'
import { createPasskey, type Passkey } from '../service/passkey.ts'
import { type Anvil, startAnvil } from '../service/sends/anvil.ts'
import { startSolanaNode, type TestSolanaNode } from '../service/sends/solana-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { makeWallet, SOLANA } from '../service/signing/keys.ts'
import {
  DEVNET,
  GIVE_NOTHING,
  HOOK,
  makeOwnWallet,
  payload,
  type Request,
  sparkIdentity,
  type Things,
} from './family-requests.ts'

const ENROLMENT = 'an enrolment secret that nobody guesses'

/** Moves, which the same people must be found to gain by. */
const GIVE: readonly (readonly [ActivityType, Request])[] = [
  ['ACTIVITY_TYPE_UPDATE_USER_TAG', ({ me, hot }) => ({ userTagId: hot, addUserIds: [me.userId], removeUserIds: [] })],
  ['ACTIVITY_TYPE_UPDATE_USER_NAME', ({ me }) => ({ userId: me.userId, userName: 'the signer' })],
  ['ACTIVITY_TYPE_UPDATE_USER_EMAIL', ({ me }) => ({ userId: me.userId, userEmail: 'desk@acme.test' })],
  [
    'ACTIVITY_TYPE_CREATE_USERS_V4',
    ({ ours }) => ({ users: [newUser({ apiKeys: [newKey({ publicKey: ours.publicKey })] })] }),
  ],
  [
    'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
    ({ rootUserId, ours }) => ({ userId: rootUserId, apiKeys: [newKey({ publicKey: ours.publicKey })] }),
  ],
  [
    'ACTIVITY_TYPE_CREATE_POLICY_V3',
    () => ({ policyName: fresh('any'), effect: 'EFFECT_ALLOW', condition: 'true', consensus: 'true', notes: '' }),
  ],
]

/** An organization that is not the one that is played in, and what is done there. */
interface Elsewhere {
  readonly organizationId: string
  readonly parameters: object
}

describe('families played', () => {
  let service: TestService
  let shared: Omit<Things, 'me' | 'ours' | 'may'>
  let probed: string
  let outside: readonly [Anvil, TestSolanaNode]
  let issuer: TestIssuer
  let social: SocialProviders
  beforeAll(async () => {
    outside = [await startAnvil({ mining: 'on-request' }), await startSolanaNode({ blocks: 'on-request' })]
    ;[issuer, social] = [await startIssuer(), await startSocialProviders()]
    const enclaves = await createEnclaveRoot(Date.now())
    const pollMs = 3_600_000
    service = await startTestService({
      chains: { [SEPOLIA]: { url: outside[0].url, pollMs }, [DEVNET]: { url: outside[1].url, pollMs } },
      privateIssuers: [issuer.url],
      providerUrls: { x: social.url },
      allowedWebhookHosts: [HOOK],
      enclaveRoot: enclaves.certificate,
      enrolmentSecret: new Secret(ENROLMENT),
    })
    const { root, rootUserId } = service
    await complete(root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH' })
    const tag = async (userTagName: string) =>
      (await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName, userIds: [] })).userTagId
    probed = await tag('probed')
    shared = {
      root,
      rootUserId,
      wallet: await makeOwnWallet(service),
      keyId: await makePrivateKey(root),
      hot: await tag('hot'),
      spark: (await makeWallet(root, sparkIdentity(0))).accounts[0]!,
      solana: (await makeWallet(root, SOLANA)).accounts[0]!.address,
      outside: { service, issuer, social, enclaves },
    }
    const tagged = (id: string) => `approvers.any(u, u.tags.contains('${id}'))`
    await allow(tagged(shared.hot), "activity.action == 'SIGN'")
    await allow("approvers.any(u, u.alias == 'the signer')", "activity.action == 'SIGN'")
    await allow("approvers.any(u, u.email == 'desk@acme.test')", "activity.action == 'SIGN'")
    await allow('approvers.count() >= 2', "activity.action == 'SIGN'")
    await allow(tagged(probed), "activity.action == 'SIGN' && wallet.label == 'hot'")
  })
  afterAll(async () => {
    await service.close()
    await Promise.all([outside[0].kill(), outside[1].close(), issuer.close(), social.close()])
  })

  const allow = async (consensus: string, condition: string) => {
    const policy = { policyName: fresh('policy'), effect: 'EFFECT_ALLOW', consensus, condition, notes: '' }
    return (await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)).policyId
  }
  const statusOf = async (client: TestClient, type: ActivityType, parameters: object) => {
    const { path, text } = service.body(type, parameters)
    const { body } = await client.raw(path, text)
    return body['activity'] as { readonly status: string; readonly fingerprint: string } | undefined
  }
  /** What somebody gets done with these keys. */
  const getsDone = async (clients: readonly TestClient[]) => {
    const asked: readonly (readonly [ActivityType, object])[] = [
      ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', payload(shared.wallet.addresses[0]!)],
      ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', payload(shared.keyId)],
      [
        'ACTIVITY_TYPE_CREATE_POLICY_V3',
        { policyName: fresh('p'), effect: 'EFFECT_DENY', condition: 'false', consensus: 'true', notes: '' },
      ],
    ]
    const done: string[] = []
    for (const [type, parameters] of asked)
      for (const client of clients) {
        const first = await statusOf(client, type, parameters)
        const others =
          first?.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' ? clients.filter((one) => one !== client) : []
        const votes = await Promise.all(
          others.map((one) => statusOf(one, 'ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint: first!.fingerprint })),
        )
        if ([first, ...votes].some((one) => one?.status === 'ACTIVITY_STATUS_COMPLETED')) done.push(type)
      }
    return done
  }
  const rawBy =
    (passkey: Passkey): TestClient['raw'] =>
    (path, text, headers = {}) =>
      service.root.raw(path, text, { 'x-stamp': '', 'x-stamp-webauthn': passkey.stamp(text), ...headers })
  /** What a user gets done who may do this alone, before and after it was done. */
  const play = async (type: ActivityType, request: Request) => {
    const me = await createTestUser(service, fresh('me'), [probed])
    const ours = generateP256KeyPair()
    const policyIds: string[] = []
    const may = async (one: ActivityType) => {
      policyIds.push(await allow(`approvers.any(u, u.id == '${me.userId}')`, `activity.type == '${one}'`))
    }
    await may(type)
    const clients = [me.client, service.client(ours.privateKey)]
    const before = await getsDone(clients)
    const by = activities[type].rootOnly ? service.root : me.client
    const activity = await statusOf(by, type, await request({ ...shared, me, ours, may }))
    const after = await getsDone(clients)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICIES', { policyIds })
    // An organization has a hundred at most.
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [me.userId] })
    return { before, status: activity?.status, after }
  }

  /** What those alone do to whom a key was mailed for it: who was invited, who lost a credential. */
  const MAILED: readonly (readonly [
    ActivityType,
    () => Promise<{ readonly client: TestClient; readonly intent: object }>,
  ])[] = [
    [
      'ACTIVITY_TYPE_ACCEPT_INVITATION_V2',
      async () => {
        const guest = { receiverUserName: fresh('guest'), receiverUserEmail: 'guest@acme.test' }
        const more = { receiverUserTags: [probed], accessType: 'ACCESS_TYPE_ALL', senderUserId: service.rootUserId }
        const { result, message } = await messageOf(service, () =>
          complete(service.root, 'ACTIVITY_TYPE_CREATE_INVITATIONS', { invitations: [{ ...guest, ...more }] }),
        )
        const lineOf = (name: string) => new RegExp(`^${name}: (\\S+)$`, 'm').exec(message.text)?.[1] ?? ''
        const intent = { invitationId: result.invitationIds[0]!, userId: lineOf('User') }
        return { client: service.client(lineOf('Key')), intent }
      },
    ],
    [
      'ACTIVITY_TYPE_RECOVER_USER',
      async () => {
        const { root } = service
        const feature = { name: 'FEATURE_NAME_EMAIL_RECOVERY' }
        await complete(root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature)
        const email = 'lost@acme.test'
        const userId = await makeUser(root, { userEmail: email, userTags: [probed] })
        const target = generatePublished()
        const asked = { email, targetPublicKey: target.publicKeyUncompressed, emailCustomization: { appName: 'Acme' } }
        const { message } = await messageOf(service, () =>
          complete(root, 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2', asked),
        )
        await complete(root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', feature)
        const bundle = /code:\s+(\w+)\n/.exec(message.text)![1]!
        return { client: service.client(decryptCredentialBundle(bundle, target.privateKey)), intent: { userId } }
      },
    ],
  ]

  /** What somebody with a passkey does to another organization, which is theirs alone. */
  const ELSEWHERE: readonly (readonly [ActivityType, (passkey: Passkey) => Promise<Elsewhere>])[] = [
    [
      'ACTIVITY_TYPE_CREATE_ORGANIZATION_V2',
      async (passkey) => ({ organizationId: crypto.randomUUID(), parameters: parentOf(passkey) }),
    ],
    [
      'ACTIVITY_TYPE_DELETE_ORGANIZATION',
      async (passkey) => {
        const organizationId = crypto.randomUUID()
        const parent = parentOf(passkey)
        const made = await stamped(passkey, 'ACTIVITY_TYPE_CREATE_ORGANIZATION_V2', parent, organizationId)
        expect(made.status).toBe(200)
        return { organizationId, parameters: { organizationId } }
      },
    ],
    [
      'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
      async (passkey) => {
        const { userTags: _, ...rootUser } = newUser({ authenticators: [passkey.register()] })
        const child = { subOrganizationName: fresh('sub'), rootUsers: [rootUser], rootQuorumThreshold: 1 }
        const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', child)
        return { organizationId: made.subOrganizationId, parameters: {} }
      },
    ],
  ]
  const parentOf = (passkey: Passkey) => ({
    ...{ organizationName: fresh('theirs'), rootEmail: 'root@theirs.test' },
    rootAuthenticator: passkey.register(),
  })
  const stamped = (passkey: Passkey, type: ActivityType, parameters: object, organizationId: string) => {
    const { path, text } = service.body(type, parameters, { organizationId })
    return rawBy(passkey)(path, text, { 'x-enrolment-secret': ENROLMENT })
  }

  // Before the origins of passkeys are narrowed below.
  test.each(ELSEWHERE)(
    'families played: a user who does %s elsewhere gets nothing done here',
    async (type, elsewhere) => {
      expect(FAMILIES[activities[type].family]).toHaveProperty('nothing')
      const me = await createTestUser(service, fresh('me'), [probed])
      const passkey = createPasskey()
      const mine = { userId: me.userId, authenticators: [passkey.register()] }
      await complete(service.root, 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', mine)
      const clients = [me.client, { ...me.client, raw: rawBy(passkey) }]
      expect(await getsDone(clients)).toEqual([])
      const { organizationId, parameters } = await elsewhere(passkey)
      const { body } = await stamped(passkey, type, parameters, organizationId)
      expect(body['activity']).toMatchObject({ organizationId, status: 'ACTIVITY_STATUS_COMPLETED' })
      expect(await getsDone(clients)).toEqual([])
    },
  )

  test.each(MAILED)('families played: whoever does %s by a key from a mail gets nothing done', async (type, mailed) => {
    expect(FAMILIES[activities[type].family]).toHaveProperty('nothing')
    const { client, intent } = await mailed()
    const passkey = createPasskey()
    const clients = [client, { ...client, raw: rawBy(passkey) }]
    expect(await getsDone(clients)).toEqual([])
    const done = await client.submit(type, { ...intent, authenticator: passkey.register() })
    expect(done.status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(await getsDone(clients)).toEqual([])
  })

  test.each(GIVE_NOTHING)(
    'families played: whoever does %s gets nothing done that they did not before',
    async (type, request) => {
      expect(FAMILIES[activities[type].family]).toHaveProperty('nothing')
      expect(await play(type, request)).toEqual({ before: [], status: 'ACTIVITY_STATUS_COMPLETED', after: [] })
    },
  )

  test.each(GIVE)('families played: whoever does %s is found to get more done', async (type, request) => {
    expect(FAMILIES[activities[type].family]).toHaveProperty('gains')
    const { status, after } = await play(type, request)
    expect(status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(after).toContain('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2')
  })

  test('families played: whatever the service carries out is played', () => {
    const played = new Set([...GIVE_NOTHING, ...MAILED, ...ELSEWHERE].map(([type]) => activities[type].family))
    const others = Object.values(activities).flatMap(({ type, family }) =>
      'nothing' in FAMILIES[family] && !played.has(family) && 'execute' in handlers[type] ? [family] : [],
    )
    expect([...new Set(others)]).toEqual([])
  })
})
