import { expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { countActivities, environmentOf, quorateShared, testFolder } from './harness.ts'

test('who-can: powers of the live organization with a key that may only read; nothing is submitted', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const { root } = service
  const reading = generateP256KeyPair()
  const user = (userName: string, publicKey: string) => ({
    userName,
    apiKeys: [{ apiKeyName: 'k', publicKey, curveType: 'API_KEY_CURVE_P256' }],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
  })
  const users = [user('audra', reading.publicKey), user('bob', generateP256KeyPair().publicKey)]
  await root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users })
  const accounts = [
    {
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    },
  ]
  for (const walletName of ['cold', 'hot']) await root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName, accounts })
  const { users: all } = await root.query('list_users', {})
  const bob = all.find(({ userName }) => userName === 'bob')!.userId
  await root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'small payments',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${bob}')`,
    condition: "activity.kind == 'SIGN_TRANSACTION' && wallet.label == 'hot' && eth.tx.value < 1000",
    notes: '',
  })
  const before = await countActivities(service)
  const env = environmentOf(service, testFolder(), reading.privateKey)

  const asked = await quorateShared(['who-can', 'sign', 'quorum', '--json'], { env })
  expect(asked.exit, asked.stderr + asked.stdout).toBe(0)
  const { rows, stateDigest } = JSON.parse(asked.stdout)
  const rootLine = { policies: [], ways: [expect.objectContaining({ sets: [['root']] })] }
  expect(rows).toContainEqual({
    power: 'sign',
    activities: [
      'ACTIVITY_TYPE_SIGN_TRANSACTION (TRANSACTION_TYPE_ETHEREUM)',
      'ACTIVITY_TYPE_SIGN_TRANSACTION_V2 (TRANSACTION_TYPE_ETHEREUM)',
    ],
    over: ['wallet.hot'],
    lines: [
      rootLine,
      {
        condition: 'eth.tx.value < 1000',
        policies: ['small payments'],
        ways: [{ sets: [['bob']], any: { count: 1, of: ['bob'] } }],
      },
    ],
  })
  expect(rows.at(-1)).toEqual({
    power: 'quorum',
    activities: ['ACTIVITY_TYPE_UPDATE_ROOT_QUORUM'],
    over: [],
    lines: [rootLine],
  })

  const cold = await quorateShared(['who-can', 'sign', '--wallet', 'cold'], { env })
  expect(cold.stdout).toContain('sign  wallet.cold\n')
  expect(cold.stdout).not.toContain('bob')
  expect(cold.stdout).toContain(stateDigest)

  const mine = await quorateShared(['who-can', 'sign', 'quorum', '--user', 'bob', '--csv'], { env })
  expect(mine.stdout.split('\r\n')).toEqual([
    'power,over,activities,people,condition,unless,policies,steps,at,state',
    expect.stringMatching(
      /^sign,wallet\.hot,"ACTIVITY_TYPE_SIGN_TRANSACTION \(TRANSACTION_TYPE_ETHEREUM\); [^"]*",bob,eth\.tx\.value < 1000,,small payments,,20[^,]*,sha256:/,
    ),
    '',
  ])
  const stranger = await quorateShared(['who-can', '--user', 'mallory'], { env })
  expect(stranger.stderr).toContain('error cli/unknown-user: there is no user `mallory`')

  const wrong = await quorateShared(['who-can', 'fly'], { env })
  expect([wrong.exit, wrong.stderr]).toEqual([
    1,
    expect.stringContaining('error cli/unknown-power: there is no power `fly`'),
  ])
  const lost = await quorateShared(['who-can', '--wallet', 'lost'], { env })
  expect(lost.stderr).toContain('error cli/unknown-wallet: there is no wallet or private key `lost`')
  expect(await countActivities(service)).toBe(before)
})

test('who-can --indirect: the way that is told is played in the service, and ends in a signature', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const { root } = service
  const bob = await createTestUser(service, 'bob')
  const tagged = await root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'ops', userIds: [] })
  const tag = tagged.result.createUserTagResult!.userTagId
  const accounts = [
    {
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    },
  ]
  const wallet = await root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'cold', accounts })
  const [signWith] = wallet.result.createWalletResult!.addresses
  const allow = (policyName: string, consensus: string, condition: string) =>
    root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName,
      effect: 'EFFECT_ALLOW',
      consensus,
      condition,
      notes: '',
    })
  await allow('desk', `approvers.any(user, user.tags.contains('${tag}'))`, "activity.action == 'SIGN'")
  await allow(
    'tagging',
    `approvers.any(user, user.id == '${bob.userId}')`,
    "activity.type == 'ACTIVITY_TYPE_UPDATE_USER_TAG'",
  )
  const env = environmentOf(service, testFolder(), bob.privateKey)

  const asked = await quorateShared(['who-can', 'sign', '--indirect', '--json'], { env })
  expect(asked.exit, asked.stderr).toBe(0)
  const { indirect } = JSON.parse(asked.stdout)
  expect(indirect).toMatchObject({ roots: [], limits: [], rows: [{ power: 'sign', over: ['wallet.cold'] }] })
  expect(indirect.rows[0].paths).toMatchObject([
    {
      people: ['bob'],
      isConditional: false,
      steps: [
        { activity: 'ACTIVITY_TYPE_UPDATE_USER_TAG', people: ['bob'], policies: ['tagging'] },
        { people: ['bob'], policies: ['desk'] },
      ],
    },
  ])
  const shown = await quorateShared(['who-can', 'sign', '--indirect'], { env })
  expect(shown.stdout).toMatch(
    /sign, by moves {2}wallet\.cold\n.*\n {2}bob\n {4}1\. UPDATE_USER_TAG: bob {2}by tagging\n/,
  )

  const sign = {
    signWith: signWith!,
    payload: 'ab'.repeat(32),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  } as const
  await expect(bob.client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', sign)).rejects.toThrow()
  await bob.client.submit('ACTIVITY_TYPE_UPDATE_USER_TAG', {
    userTagId: tag,
    addUserIds: [bob.userId],
    removeUserIds: [],
  })
  const signed = await bob.client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', sign)
  expect(signed.status).toBe('ACTIVITY_STATUS_COMPLETED')
})
