import { complete, newPrivateKey, newUser } from '../service/handlers/steps.ts'
import { startTestService, type TestService } from '../service/harness.ts'

/** More accounts than a page holds. */
const ACCOUNTS = 130
/** Of each kind that is made one by one: together more activities than a page holds. */
const MANY = 60

/** The name of its sub-organization. */
export const SUB_ORGANIZATION = 'customer-1'

/** Starts a service with something of every kind that its activities make, and lists longer than a page where there are pages. */
export async function startFullOrganization(): Promise<TestService> {
  const service = await startTestService({ allowedWebhookHosts: ['hooks.acme.test'] })
  const { root, rootUserId } = service
  const tags = await Promise.all(
    range(MANY).map((n) => complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `tag-${n}`, userIds: [] })),
  )
  const userTags = tags.slice(0, 2).map(({ userTagId }) => userTagId)
  const users = ['alice', 'bob'].map((userName) => newUser({ userName, userTags }))
  await complete(root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users })
  await Promise.all(
    range(MANY).map((n) => {
      const condition = `wallet.label == 'Wallet ${n}'`
      return complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
        policyName: `policy-${n}`,
        effect: 'EFFECT_DENY',
        condition,
        notes: '',
      })
    }),
  )
  const accounts = range(ACCOUNTS).map((n) => ({
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    path: `m/44'/60'/0'/0/${n}`,
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  }))
  await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'treasury', accounts })
  await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'spare', accounts: accounts.slice(0, 1) })
  const keyTag = { privateKeyTagName: 'hot', privateKeyIds: [] }
  const { privateKeyTagId } = await complete(root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', keyTag)
  const privateKeys = [newPrivateKey({ privateKeyTags: [privateKeyTagId] })]
  await complete(root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys })
  await complete(root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
    smartContractAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    smartContractInterface: '[]',
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: 'usdc',
    notes: '',
  })
  await complete(root, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', { url: 'https://hooks.acme.test/in', name: 'ops' })
  const credential = { provider: 'OAUTH2_PROVIDER_X', clientId: 'client', encryptedClientSecret: '0xAbCd' }
  await complete(root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', credential)
  const guest = { receiverUserName: 'gwen', receiverUserEmail: 'gwen@acme.test', receiverUserTags: [] }
  const invitations = [{ ...guest, accessType: 'ACCESS_TYPE_ALL', senderUserId: rootUserId }]
  await complete(root, 'ACTIVITY_TYPE_CREATE_INVITATIONS', { invitations })
  await complete(root, 'ACTIVITY_TYPE_SET_IP_ALLOWLIST', { rules: [{ cidr: '127.0.0.1/32', label: 'here' }] })
  const { userTags: _, ...rootUser } = newUser({ userName: 'ann' })
  await complete(root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', {
    subOrganizationName: SUB_ORGANIZATION,
    rootUsers: [rootUser],
    rootQuorumThreshold: 1,
    wallet: { walletName: 'main', accounts: accounts.slice(0, 1) },
  })
  return service
}

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, n) => n)
}
