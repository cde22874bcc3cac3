/** The published HTTP client against this service: nothing is changed but the base URL. */
import { ApiKeyStamper } from '@turnkey/api-key-stamper'
import { createActivityPoller, TurnkeyActivityError, TurnkeyClient, TurnkeyRequestError } from '@turnkey/http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createTestUser, startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { recordOperations } from './operations.ts'

let service: TestService
let client: TurnkeyClient
beforeAll(async () => {
  service = await startTestService()
  client = published(service.root)
})
afterAll(() => service.close())

function published({ publicKey, privateKey }: Pick<TestClient, 'publicKey' | 'privateKey'>): TurnkeyClient {
  return new TurnkeyClient(
    { baseUrl: service.url },
    new ApiKeyStamper({ apiPublicKey: publicKey, apiPrivateKey: privateKey }),
  )
}

let sent = 0
const envelope = <Type extends string>(type: Type) => ({
  type,
  timestampMs: String(Date.now() + sent++),
  organizationId: service.organizationId,
})
const ofService = () => ({ organizationId: service.organizationId })
const newKey = () => ({
  apiKeyName: 'k',
  publicKey: generateP256KeyPair().publicKey,
  curveType: 'API_KEY_CURVE_P256' as const,
})
const newUser = (userName: string) => ({
  userName,
  apiKeys: [newKey()],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
})

describe('http client', () => {
  test('http client: a user is made, found, renamed and deleted', async () => {
    const create = createActivityPoller({ client, requestFn: client.createUsers })
    const { result } = await create({
      ...envelope('ACTIVITY_TYPE_CREATE_USERS_V4'),
      parameters: { users: [newUser('ann')] },
    })
    const userId = result.createUsersResult!.userIds[0]!
    const rename = createActivityPoller({ client, requestFn: client.updateUser })
    await rename({
      ...envelope('ACTIVITY_TYPE_UPDATE_USER'),
      parameters: { userId, userName: 'ann two', userTagIds: [] },
    })
    const { user } = await client.getUser({ ...ofService(), userId })
    expect([user.userName, user.apiKeys.length]).toEqual(['ann two', 1])
    const remove = createActivityPoller({ client, requestFn: client.deleteUsers })
    await remove({ ...envelope('ACTIVITY_TYPE_DELETE_USERS'), parameters: { userIds: [userId] } })
    const { users } = await client.getUsers(ofService())
    expect(users.map((row) => row.userId)).not.toContain(userId)
  })

  test('http client: a policy comes back with exactly the text that was sent', async () => {
    const create = createActivityPoller({ client, requestFn: client.createPolicy })
    const texts = { condition: " activity.type  ==\n'ACTIVITY_TYPE_CREATE_WALLET' ", consensus: 'true' }
    const parameters = { policyName: 'exact', effect: 'EFFECT_ALLOW' as const, notes: 'why', ...texts }
    const { result } = await create({ ...envelope('ACTIVITY_TYPE_CREATE_POLICY_V3'), parameters })
    const { policy } = await client.getPolicy({ ...ofService(), policyId: result.createPolicyResult!.policyId })
    expect(policy).toMatchObject(parameters)
  })

  test('http client: a wallet is made, and its accounts carry their wallet', async () => {
    const create = createActivityPoller({ client, requestFn: client.createWallet })
    const account = {
      curve: 'CURVE_SECP256K1' as const,
      pathFormat: 'PATH_FORMAT_BIP32' as const,
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM' as const,
    }
    const parameters = { walletName: 'treasury', accounts: [account] }
    const { result } = await create({ ...envelope('ACTIVITY_TYPE_CREATE_WALLET'), parameters })
    const { walletId, addresses } = result.createWalletResult!
    const { accounts } = await client.getWalletAccounts({ ...ofService(), walletId })
    expect(accounts).toMatchObject([{ address: addresses[0], walletDetails: { walletId, walletName: 'treasury' } }])
  })

  test('http client: a sub-organization is made, listed, read by its parent, and deleted from inside', async () => {
    const key = generateP256KeyPair()
    const create = createActivityPoller({ client, requestFn: client.createSubOrganization })
    const { userTags: _, ...user } = newUser('customer')
    const rootUsers = [{ ...user, apiKeys: [{ ...newKey(), publicKey: key.publicKey }] }]
    const { result } = await create({
      ...envelope('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8'),
      parameters: { subOrganizationName: 'customer-1', rootUsers, rootQuorumThreshold: 1 },
    })
    const { subOrganizationId, rootUserIds } = result.createSubOrganizationResultV8!
    const { organizationIds } = await client.getSubOrgIds({
      ...ofService(),
      filterType: 'NAME',
      filterValue: 'customer-1',
    })
    expect(organizationIds).toEqual([subOrganizationId])
    const { users } = await client.getUsers({ organizationId: subOrganizationId })
    expect(users.map(({ userId }) => userId)).toEqual(rootUserIds)
    const inside = published(key)
    expect(await inside.getWhoami(ofService())).toMatchObject({
      organizationId: subOrganizationId,
      username: 'customer',
    })
    const remove = createActivityPoller({ client: inside, requestFn: inside.deleteSubOrganization })
    await remove({
      ...envelope('ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION'),
      organizationId: subOrganizationId,
      parameters: {},
    })
    await expect(client.getUsers({ organizationId: subOrganizationId })).rejects.toThrow('Turnkey error 5')
  })

  test('http client: the same bytes are the same activity, and are carried out once', async () => {
    const body = {
      ...envelope('ACTIVITY_TYPE_CREATE_USER_TAG'),
      parameters: { userTagName: 'once', userIds: [] },
    }
    const [first, second] = [await client.createUserTag(body), await client.createUserTag(body)]
    expect(second.activity).toEqual(first.activity)
    const { userTags } = await client.listUserTags(ofService())
    expect(userTags.filter(({ tagName }) => tagName === 'once')).toHaveLength(1)
  })

  test('http client: a refusal is its error, with code, message and details as it prints them', async () => {
    const error = await client
      .getUser({ ...ofService(), userId: service.organizationId })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TurnkeyRequestError)
    expect(error).toMatchObject({ name: 'TurnkeyRequestError', code: 5, details: [] })
    expect((error as Error).message).toBe(
      `Turnkey error 5: unable to find user ${service.organizationId} in organization ${service.organizationId} (Details: [])`,
    )
    const stranger = published(generateP256KeyPair())
    await expect(stranger.getWhoami(ofService())).rejects.toThrow(/^Turnkey error 16: could not find public key/)
    const invalid = client.createPolicy({
      ...envelope('ACTIVITY_TYPE_CREATE_POLICY_V3'),
      parameters: { policyName: 'bad', effect: 'EFFECT_ALLOW', condition: 'activity.nothing', notes: '' },
    })
    await expect(invalid).rejects.toThrow(
      /^Turnkey error 3: invalid policy condition: .*"turnkeyErrorCode":"REQUEST_INVALID"/,
    )
  })

  test('http client: a denial carries the detail that clients look for', async () => {
    const { client: other } = await createTestUser(service, 'nobody')
    const error = await published(other)
      .createUserTag({ ...envelope('ACTIVITY_TYPE_CREATE_USER_TAG'), parameters: { userTagName: 't', userIds: [] } })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 7,
      details: [
        {
          '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
          message: 'No policies evaluated to outcome: Allow',
        },
      ],
    })
  })

  test('http client: what needs another approver says so, and that approver completes it', async () => {
    const ada = await createTestUser(service, 'ada')
    const bob = await createTestUser(service, 'bob')
    const consensus = `approvers.any(user, user.id == '${ada.userId}') && approvers.any(user, user.id == '${bob.userId}')`
    const condition = "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'"
    await client.createPolicy({
      ...envelope('ACTIVITY_TYPE_CREATE_POLICY_V3'),
      parameters: { policyName: 'two people', effect: 'EFFECT_ALLOW', consensus, condition, notes: '' },
    })
    const [first, second] = [published(ada.client), published(bob.client)]
    const tag = (userTagName: string) => ({
      ...envelope('ACTIVITY_TYPE_CREATE_USER_TAG'),
      parameters: { userTagName, userIds: [] },
    })
    const create = createActivityPoller({ client: first, requestFn: first.createUserTag })
    const waiting = await create(tag('approved')).catch((thrown: unknown) => thrown)
    expect(waiting).toBeInstanceOf(TurnkeyActivityError)
    const { activityId, activityStatus } = waiting as TurnkeyActivityError
    expect(activityStatus).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const { activity } = await second.getActivity({ ...ofService(), activityId: activityId! })
    expect(activity).toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', canApprove: true, canReject: true })
    const approved = await second.approveActivity({
      ...envelope('ACTIVITY_TYPE_APPROVE_ACTIVITY'),
      parameters: { fingerprint: activity.fingerprint },
    })
    expect(approved.activity).toMatchObject({ id: activityId, status: 'ACTIVITY_STATUS_COMPLETED' })

    const rejected = (await first.createUserTag(tag('rejected'))).activity
    const answer = await second.rejectActivity({
      ...envelope('ACTIVITY_TYPE_REJECT_ACTIVITY'),
      parameters: { fingerprint: rejected.fingerprint },
    })
    expect(answer.activity).toMatchObject({ id: rejected.id, status: 'ACTIVITY_STATUS_REJECTED' })
    const names = (await client.listUserTags(ofService())).userTags.map(({ tagName }) => tagName)
    expect(names).toContain('approved')
    expect(names).not.toContain('rejected')

    // The very bytes from the second person are an approval as well.
    const body = tag('co-signed')
    expect((await first.createUserTag(body)).activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    expect((await second.createUserTag(body)).activity.status).toBe('ACTIVITY_STATUS_COMPLETED')
  })
})

recordOperations('http')
