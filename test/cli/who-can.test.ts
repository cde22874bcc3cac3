import { expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { startTestService } from '../service/harness.ts'
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

  const wrong = await quorateShared(['who-can', 'fly'], { env })
  expect([wrong.exit, wrong.stderr]).toEqual([
    1,
    expect.stringContaining('error cli/unknown-power: there is no power `fly`'),
  ])
  const lost = await quorateShared(['who-can', '--wallet', 'lost'], { env })
  expect(lost.stderr).toContain('error cli/unknown-wallet: there is no wallet or private key `lost`')
  expect(await countActivities(service)).toBe(before)
})
