import { describe, expect, test } from 'vitest'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import {
  type Actual,
  apiKeyFromWire,
  authenticatorFromWire,
  type ChangeInput,
  featureFromWire,
  invitationFromWire,
  ipAllowlistFromWire,
  KINDS,
  type KindName,
  kinds,
  type Power,
  policyFromWire,
  type Resource,
  smartContractInterfaceFromWire,
  tagFromWire,
  userFromWire,
  type Value,
  walletAccountFromWire,
  walletFromWire,
  webhookFromWire,
} from '../../src/resources/index.ts'

const NOBODY: Actual = {
  organizationId: 'O',
  organizationName: 'acme',
  resources: [],
  actor: { userId: 'U', userName: 'alice', publicKey: '' },
}

function resource(kind: KindName, name: string, fields: Record<string, Value>, more: Partial<Resource> = {}): Resource {
  return { address: `${kind}.${name}`, kind, name, fields: { ...fields }, ...more }
}

function change(desired?: Resource, actual?: Resource, fields: string[] = [], children: Resource[] = []): ChangeInput {
  return { desired, actual, fields, children }
}

const laptop = resource(
  'apiKey',
  'laptop',
  { curve: 'P256', publicKey: '02ab', expiresIn: 60 },
  { parent: 'user.alice' },
)
const ethereum = resource(
  'walletAccount',
  'e',
  { path: "m/44'/60'/0'/0/0", curve: 'secp256k1', format: 'ethereum' },
  { parent: 'wallet.hot' },
)
const alice = resource('user', 'alice', { name: 'alice', email: 'a@b.c', tags: [{ $ref: 'tag.ops' }] })
const open = resource('policy', 'open', {
  name: 'open',
  effect: 'allow',
  consensus: null,
  condition: 'true && true',
  time: null,
})

const yubikey = resource(
  'authenticator',
  'yubikey',
  {
    credentialId: 'AbCd',
    challenge: 'Yw',
    attestation: { clientDataJson: 'e30', attestationObject: 'oA', transports: ['usb'] },
  },
  { parent: 'user.alice' },
)
const login = resource('oauth2Credential', 'login', { provider: 'x', clientId: 'c', encryptedClientSecret: '00ff' })
const reserve = resource('privateKey', 'reserve', {
  curve: 'secp256k1',
  formats: ['ethereum'],
  tags: [{ $ref: 'privateKeyTag.hot' }],
})
const ops = resource('webhook', 'ops', {
  url: 'https://o.test',
  isActive: false,
  subscriptions: [{ event: 'ACTIVITY_UPDATES', filters: { b: [], a: [1] }, isActive: false }],
})
const money = resource(
  'mfaPolicy',
  'money',
  {
    condition: 'true',
    requiredAuthenticationMethods: [['passkey', { type: 'session', id: 'S' }], ['email-otp']],
    order: 3,
  },
  { parent: 'user.alice' },
)
const STEPS = [
  { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }, { type: 'AUTHENTICATION_TYPE_SESSION', id: 'S' }] },
  { any: [{ type: 'AUTHENTICATION_TYPE_EMAIL_OTP' }] },
]
const allowlist = (cidrs: string[], enabled: boolean, onEvaluationError = 'deny') =>
  resource('ipAllowlist', 'ipAllowlist', { enabled, rules: cidrs.map((cidr) => ({ cidr })), onEvaluationError })

/** What each activity of each kind carries. */
const intents: {
  name: string
  kind: KindName
  action: 'create' | 'update' | 'remove'
  change: ChangeInput
  type: string
  parameters: unknown
}[] = [
  {
    name: 'a tag is created',
    kind: 'tag',
    action: 'create',
    change: change(resource('tag', 'ops', { name: 'ops' })),
    type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
    parameters: { userTagName: 'ops', userIds: [] },
  },
  {
    name: 'a tag is renamed',
    kind: 'tag',
    action: 'update',
    change: change(resource('tag', 'ops', {}), resource('tag', 'old', {}, { id: 'T' }), ['name']),
    type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
    parameters: { userTagId: 'T', newUserTagName: 'ops', addUserIds: [], removeUserIds: [] },
  },
  {
    name: 'a user comes with their keys',
    kind: 'user',
    action: 'create',
    change: change(alice, undefined, [], [laptop]),
    type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
    parameters: {
      users: [
        {
          userName: 'alice',
          userEmail: 'a@b.c',
          apiKeys: [
            { apiKeyName: 'laptop', publicKey: '02ab', curveType: 'API_KEY_CURVE_P256', expirationSeconds: '60' },
          ],
          authenticators: [],
          oauthProviders: [],
          userTags: [{ $ref: 'tag.ops' }],
        },
      ],
    },
  },
  {
    name: 'a user is changed in what differs alone',
    kind: 'user',
    action: 'update',
    change: change(alice, resource('user', 'alice', {}, { id: 'U' }), ['tags']),
    type: 'ACTIVITY_TYPE_UPDATE_USER',
    parameters: { userId: 'U', userTagIds: [{ $ref: 'tag.ops' }] },
  },
  {
    name: 'an address is taken away by an empty text',
    kind: 'user',
    action: 'update',
    change: change(resource('user', 'alice', { email: null }), resource('user', 'alice', {}, { id: 'U' }), ['email']),
    type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
    parameters: { userId: 'U', userEmail: '' },
  },
  {
    name: 'a key is added to a user that exists',
    kind: 'apiKey',
    action: 'create',
    change: change(laptop),
    type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
    parameters: {
      userId: { $ref: 'user.alice' },
      apiKeys: [{ apiKeyName: 'laptop', publicKey: '02ab', curveType: 'API_KEY_CURVE_P256', expirationSeconds: '60' }],
    },
  },
  {
    name: 'a key is deleted from the user who has it, whatever they are called',
    kind: 'apiKey',
    action: 'remove',
    change: change(undefined, { ...laptop, id: 'K', parentId: 'U' }),
    type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
    parameters: { userId: 'U', apiKeyIds: ['K'] },
  },
  {
    name: 'a policy is created without the expressions that it leaves out',
    kind: 'policy',
    action: 'create',
    change: change(open),
    type: 'ACTIVITY_TYPE_CREATE_POLICIES',
    parameters: { policies: [{ policyName: 'open', effect: 'EFFECT_ALLOW', condition: 'true && true', notes: '' }] },
  },
  {
    name: 'a policy whose expressions go is told `true`, and an empty time',
    kind: 'policy',
    action: 'update',
    change: change(open, resource('policy', 'open', {}, { id: 'P' }), ['consensus', 'time', 'name']),
    type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2',
    parameters: { policyId: 'P', policyName: 'open', policyConsensus: 'true', time: '' },
  },
  {
    name: 'the quorum is set whole, also when one half of it changes',
    kind: 'rootQuorum',
    action: 'update',
    change: change(
      resource('rootQuorum', 'rootQuorum', { threshold: 2, users: [{ $ref: 'user.alice' }] }),
      resource('rootQuorum', 'rootQuorum', { threshold: 1, users: ['U'] }),
      ['threshold'],
    ),
    type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
    parameters: { threshold: 2, userIds: [{ $ref: 'user.alice' }] },
  },
  {
    name: 'the organization is renamed',
    kind: 'organization',
    action: 'update',
    change: change(resource('organization', 'organization', { name: 'Acme' })),
    type: 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
    parameters: { organizationName: 'Acme' },
  },
  {
    name: 'a feature is set under its whole name, with an empty value when it has none',
    kind: 'feature',
    action: 'create',
    change: change(resource('feature', 'AUTH_PROXY', {})),
    type: 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
    parameters: { name: 'FEATURE_NAME_AUTH_PROXY', value: '' },
  },
  {
    name: 'a feature is removed',
    kind: 'feature',
    action: 'remove',
    change: change(undefined, resource('feature', 'SMS_AUTH', {})),
    type: 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
    parameters: { name: 'FEATURE_NAME_SMS_AUTH' },
  },
  {
    name: 'a wallet comes with its accounts',
    kind: 'wallet',
    action: 'create',
    change: change(resource('wallet', 'hot', { mnemonicLength: 24 }), undefined, [], [ethereum]),
    type: 'ACTIVITY_TYPE_CREATE_WALLET',
    parameters: {
      walletName: 'hot',
      accounts: [
        {
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: "m/44'/60'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        },
      ],
      mnemonicLength: 24,
    },
  },
  {
    name: 'a wallet is deleted, and without export only where that is written',
    kind: 'wallet',
    action: 'remove',
    change: change(resource('wallet', 'hot', {}, { tombstone: true }), resource('wallet', 'hot', {}, { id: 'W' })),
    type: 'ACTIVITY_TYPE_DELETE_WALLETS',
    parameters: { walletIds: ['W'] },
  },
  {
    name: 'a wallet is deleted without export where that is written',
    kind: 'wallet',
    action: 'remove',
    change: change(resource('wallet', 'hot', { withoutExport: true }), resource('wallet', 'hot', {}, { id: 'W' })),
    type: 'ACTIVITY_TYPE_DELETE_WALLETS',
    parameters: { walletIds: ['W'], deleteWithoutExport: true },
  },
  {
    name: 'an account is added to a wallet',
    kind: 'walletAccount',
    action: 'create',
    change: change(ethereum),
    type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
    parameters: {
      walletId: { $ref: 'wallet.hot' },
      accounts: [
        {
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: "m/44'/60'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        },
      ],
    },
  },
  {
    name: 'a user comes with their passkeys',
    kind: 'user',
    action: 'create',
    change: change(resource('user', 'alice', {}), undefined, [], [yubikey]),
    type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
    parameters: {
      users: [
        {
          userName: 'alice',
          apiKeys: [],
          authenticators: [
            {
              authenticatorName: 'yubikey',
              challenge: 'Yw',
              attestation: {
                credentialId: 'AbCd',
                clientDataJson: 'e30',
                attestationObject: 'oA',
                transports: ['AUTHENTICATOR_TRANSPORT_USB'],
              },
            },
          ],
          oauthProviders: [],
          userTags: [],
        },
      ],
    },
  },
  {
    name: 'a passkey is added to a user that exists, with no transports where none are known',
    kind: 'authenticator',
    action: 'create',
    change: change({
      ...yubikey,
      fields: { ...yubikey.fields, attestation: { clientDataJson: 'e30', attestationObject: 'oA' } },
    }),
    type: 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
    parameters: {
      userId: { $ref: 'user.alice' },
      authenticators: [
        {
          authenticatorName: 'yubikey',
          challenge: 'Yw',
          attestation: { credentialId: 'AbCd', clientDataJson: 'e30', attestationObject: 'oA', transports: [] },
        },
      ],
    },
  },
  {
    name: 'a passkey is deleted from the user who has it',
    kind: 'authenticator',
    action: 'remove',
    change: change(undefined, { ...yubikey, id: 'A', parentId: 'U' }),
    type: 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS',
    parameters: { userId: 'U', authenticatorIds: ['A'] },
  },
  {
    name: 'an OAuth provider is deleted from the user who has it',
    kind: 'oauthProvider',
    action: 'remove',
    change: change(undefined, resource('oauthProvider', 'google', {}, { id: 'P', parentId: 'U' })),
    type: 'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS',
    parameters: { userId: 'U', providerIds: ['P'] },
  },
  {
    name: 'an MFA policy is made for its user, its methods in the words of the API',
    kind: 'mfaPolicy',
    action: 'create',
    change: change(money),
    type: 'ACTIVITY_TYPE_CREATE_MFA_POLICY',
    parameters: {
      userId: { $ref: 'user.alice' },
      mfaPolicyName: 'money',
      condition: 'true',
      requiredAuthenticationMethods: STEPS,
      order: 3,
      notes: '',
    },
  },
  {
    name: 'an MFA policy is changed in what differs alone',
    kind: 'mfaPolicy',
    action: 'update',
    change: change(money, { ...money, id: 'M', parentId: 'U' }, ['requiredAuthenticationMethods', 'order']),
    type: 'ACTIVITY_TYPE_UPDATE_MFA_POLICY',
    parameters: { userId: 'U', mfaPolicyId: 'M', requiredAuthenticationMethods: STEPS, order: 3 },
  },
  {
    name: 'an MFA policy is deleted from the user who has it',
    kind: 'mfaPolicy',
    action: 'remove',
    change: change(undefined, { ...money, id: 'M', parentId: 'U' }),
    type: 'ACTIVITY_TYPE_DELETE_MFA_POLICY',
    parameters: { userId: 'U', mfaPolicyId: 'M' },
  },
  {
    name: 'somebody is invited',
    kind: 'invitation',
    action: 'create',
    change: change(resource('invitation', 'dave', { email: 'd@b.c', access: 'web', sender: { $ref: 'user.alice' } })),
    type: 'ACTIVITY_TYPE_CREATE_INVITATIONS',
    parameters: {
      invitations: [
        {
          receiverUserName: 'dave',
          receiverUserEmail: 'd@b.c',
          receiverUserTags: [],
          accessType: 'ACCESS_TYPE_WEB',
          senderUserId: { $ref: 'user.alice' },
        },
      ],
    },
  },
  {
    name: 'an invitation is taken back',
    kind: 'invitation',
    action: 'remove',
    change: change(undefined, resource('invitation', 'dave', {}, { id: 'I' })),
    type: 'ACTIVITY_TYPE_DELETE_INVITATION',
    parameters: { invitationId: 'I' },
  },
  {
    name: 'an OAuth 2.0 credential is made',
    kind: 'oauth2Credential',
    action: 'create',
    change: change(login),
    type: 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL',
    parameters: { provider: 'OAUTH2_PROVIDER_X', clientId: 'c', encryptedClientSecret: '00ff' },
  },
  {
    name: 'an OAuth 2.0 credential is given whole, whatever of it differs',
    kind: 'oauth2Credential',
    action: 'update',
    change: change(login, { ...login, id: 'O' }, ['encryptedClientSecret']),
    type: 'ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL',
    parameters: {
      oauth2CredentialId: 'O',
      provider: 'OAUTH2_PROVIDER_X',
      clientId: 'c',
      encryptedClientSecret: '00ff',
    },
  },
  {
    name: 'a private key tag is created without keys',
    kind: 'privateKeyTag',
    action: 'create',
    change: change(resource('privateKeyTag', 'hot', {})),
    type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
    parameters: { privateKeyTagName: 'hot', privateKeyIds: [] },
  },
  {
    name: 'a private key tag is renamed and keeps its keys',
    kind: 'privateKeyTag',
    action: 'update',
    change: change(resource('privateKeyTag', 'hot', {}), resource('privateKeyTag', 'warm', {}, { id: 'T' }), ['name']),
    type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
    parameters: { privateKeyTagId: 'T', newPrivateKeyTagName: 'hot', addPrivateKeyIds: [], removePrivateKeyIds: [] },
  },
  {
    name: 'a private key comes with its tags and addresses',
    kind: 'privateKey',
    action: 'create',
    change: change(reserve),
    type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
    parameters: {
      privateKeys: [
        {
          privateKeyName: 'reserve',
          curve: 'CURVE_SECP256K1',
          privateKeyTags: [{ $ref: 'privateKeyTag.hot' }],
          addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
        },
      ],
    },
  },
  {
    name: 'a private key gains a tag by way of the tag',
    kind: 'privateKey',
    action: 'update',
    change: {
      ...change(reserve, { ...reserve, id: 'K' }, ['tags']),
      part: { tag: { $ref: 'privateKeyTag.hot' }, gained: true },
    },
    type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
    parameters: {
      privateKeyTagId: { $ref: 'privateKeyTag.hot' },
      addPrivateKeyIds: ['K'],
      removePrivateKeyIds: [],
    },
  },
  {
    name: 'a private key is deleted without export only where that is written',
    kind: 'privateKey',
    action: 'remove',
    change: change(resource('privateKey', 'reserve', { withoutExport: true }), { ...reserve, id: 'K' }),
    type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS',
    parameters: { privateKeyIds: ['K'], deleteWithoutExport: true },
  },
  {
    name: 'a wallet account gets another name',
    kind: 'walletAccount',
    action: 'update',
    change: change({ ...ethereum, fields: { ...ethereum.fields, name: 'Main' } }, { ...ethereum, id: 'A' }, ['name']),
    type: 'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
    parameters: { walletAccountId: 'A', name: 'Main' },
  },
  {
    name: 'a contract interface is made of its JSON',
    kind: 'smartContractInterface',
    action: 'create',
    change: change(resource('smartContractInterface', 'usdc', { address: '0xab', type: 'ethereum', interface: '[]' })),
    type: 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE',
    parameters: {
      smartContractAddress: '0xab',
      smartContractInterface: '[]',
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'usdc',
      notes: '',
    },
  },
  {
    name: 'a webhook endpoint comes with its subscriptions, filters as a text of JSON',
    kind: 'webhook',
    action: 'create',
    change: change(ops),
    type: 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
    parameters: {
      url: 'https://o.test',
      name: 'ops',
      subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson: '{"a":[1],"b":[]}', isActive: false }],
    },
  },
  {
    name: 'a webhook endpoint is changed in what differs alone',
    kind: 'webhook',
    action: 'update',
    change: change(ops, { ...ops, id: 'E' }, ['isActive', 'name']),
    type: 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT',
    parameters: { endpointId: 'E', name: 'ops', isActive: false },
  },
  {
    name: 'a webhook endpoint that is to be paused is paused once it is there',
    kind: 'webhook',
    action: 'update',
    change: change(ops, undefined, ['isActive']),
    type: 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT',
    parameters: { endpointId: { $ref: 'webhook.ops' }, isActive: false },
  },
  {
    name: 'an allow-list is set whole',
    kind: 'ipAllowlist',
    action: 'update',
    change: change(allowlist(['203.0.113.0/24'], true), allowlist([], true), ['rules']),
    type: 'ACTIVITY_TYPE_SET_IP_ALLOWLIST',
    parameters: { enabled: true, rules: [{ cidr: '203.0.113.0/24' }], onEvaluationError: 'DENY' },
  },
  {
    name: 'the allow-list of a key says which',
    kind: 'apiKeyIpAllowlist',
    action: 'create',
    change: change(
      resource('apiKeyIpAllowlist', 'laptop', { publicKey: '02ab', rules: [], onEvaluationError: 'allow' }),
    ),
    type: 'ACTIVITY_TYPE_SET_IP_ALLOWLIST',
    parameters: { publicKey: '02ab', rules: [], onEvaluationError: 'ALLOW' },
  },
  {
    name: 'the allow-list of the organization is removed without naming a key',
    kind: 'ipAllowlist',
    action: 'remove',
    change: change(undefined, allowlist([], true)),
    type: 'ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST',
    parameters: {},
  },
]

describe('activities', () => {
  for (const { name, kind, action, change, type, parameters } of intents) {
    test(`activities: ${name}`, () => {
      const row = kinds[kind]
      const template = action === 'update' ? row.update!(change) : row[action]!
      expect(template.type).toBe(type)
      expect(template.parameters([change])).toEqual(parameters)
      // The author of such a change is found: a drift report looks among these.
      expect(row.changedBy).toContain(activities[type as ActivityType].family)
    })
  }

  test('activities: every template names an activity of the protocol and what it answers with', () => {
    for (const kind of KINDS) {
      const { create, update, remove } = kinds[kind]
      const any = change(
        resource(kind, 'x', {}, { parent: 'user.alice' }),
        resource(kind, 'x', {}, { id: 'I', parentId: 'U' }),
      )
      const part = { tag: 'T', gained: true }
      for (const template of [create, update?.({ ...any, part }), remove]) {
        if (!template) continue
        expect(Object.keys(activities)).toContain(template.type)
        expect(kinds[kind].changedBy).toContain(activities[template.type as ActivityType].family)
      }
      for (const { at } of create?.produces?.([any]) ?? []) {
        expect(at[0]).toBe(activities[create!.type as ActivityType].resultKey)
      }
    }
  })

  test('activities: ids are found in the order in which changes were given', () => {
    const two = ['a', 'b'].map((name) => change(resource('policy', name, {})))
    expect(kinds.policy.create!.produces!(two)).toEqual([
      { address: 'policy.a', at: ['createPoliciesResult', 'policyIds', 0] },
      { address: 'policy.b', at: ['createPoliciesResult', 'policyIds', 1] },
    ])
  })
})

const quorum = (threshold: number, ...users: string[]) => resource('rootQuorum', 'rootQuorum', { threshold, users })
const policyOf = (effect: string) => resource('policy', 'p', { effect })
const featureOf = (name: string) => resource('feature', name, {})
const userOf = (...tags: string[]) => resource('user', 'u', { tags })

/** What a change does to the power to act. */
const powers: {
  name: string
  kind: KindName
  action: 'create' | 'update' | 'delete'
  change: ChangeInput
  expected: Power
}[] = [
  {
    name: 'a higher threshold',
    kind: 'rootQuorum',
    action: 'update',
    change: change(quorum(2, 'a', 'b', 'c'), quorum(1, 'a')),
    expected: 'tightens',
  },
  {
    name: 'a lower threshold',
    kind: 'rootQuorum',
    action: 'update',
    change: change(quorum(1, 'a'), quorum(2, 'a', 'b')),
    expected: 'loosens',
  },
  {
    name: 'a new member at the same threshold',
    kind: 'rootQuorum',
    action: 'update',
    change: change(quorum(2, 'a', 'b', 'c'), quorum(2, 'a', 'b')),
    expected: 'loosens',
  },
  {
    name: 'a member who goes',
    kind: 'rootQuorum',
    action: 'update',
    change: change(quorum(1, 'a'), quorum(1, 'a', 'b')),
    expected: 'tightens',
  },
  { name: 'a new DENY', kind: 'policy', action: 'create', change: change(policyOf('deny')), expected: 'tightens' },
  { name: 'a new ALLOW', kind: 'policy', action: 'create', change: change(policyOf('allow')), expected: 'loosens' },
  {
    name: 'a DENY that goes',
    kind: 'policy',
    action: 'delete',
    change: change(undefined, policyOf('deny')),
    expected: 'loosens',
  },
  {
    name: 'an ALLOW that goes',
    kind: 'policy',
    action: 'delete',
    change: change(undefined, policyOf('allow')),
    expected: 'tightens',
  },
  {
    name: 'another condition of an ALLOW',
    kind: 'policy',
    action: 'update',
    change: change(policyOf('allow'), policyOf('allow'), ['condition']),
    expected: 'loosens',
  },
  {
    name: 'another condition of a DENY',
    kind: 'policy',
    action: 'update',
    change: change(policyOf('deny'), policyOf('deny'), ['condition']),
    expected: 'loosens',
  },
  {
    name: 'an ALLOW that becomes a DENY',
    kind: 'policy',
    action: 'update',
    change: change(policyOf('deny'), policyOf('allow'), ['effect']),
    expected: 'tightens',
  },
  {
    name: 'a DENY that becomes an ALLOW',
    kind: 'policy',
    action: 'update',
    change: change(policyOf('allow'), policyOf('deny'), ['effect']),
    expected: 'loosens',
  },
  {
    name: 'other notes',
    kind: 'policy',
    action: 'update',
    change: change(policyOf('allow'), policyOf('allow'), ['notes', 'name']),
    expected: 'neutral',
  },
  { name: 'a new user', kind: 'user', action: 'create', change: change(userOf('t')), expected: 'neutral' },
  {
    name: 'a user who goes',
    kind: 'user',
    action: 'delete',
    change: change(undefined, userOf('t')),
    expected: 'tightens',
  },
  {
    name: 'a tag that a user gains',
    kind: 'user',
    action: 'update',
    change: change(userOf('s', 't'), userOf('s'), ['tags']),
    expected: 'loosens',
  },
  {
    name: 'a tag that a user loses',
    kind: 'user',
    action: 'update',
    change: change(userOf(), userOf('s'), ['tags']),
    expected: 'tightens',
  },
  {
    name: 'another e-mail address',
    kind: 'user',
    action: 'update',
    change: change(userOf(), userOf(), ['email']),
    expected: 'loosens',
  },
  {
    name: 'another name',
    kind: 'user',
    action: 'update',
    change: change(userOf(), userOf(), ['name']),
    expected: 'neutral',
  },
  { name: 'a new key', kind: 'apiKey', action: 'create', change: change(laptop), expected: 'loosens' },
  {
    name: 'a key that goes',
    kind: 'apiKey',
    action: 'delete',
    change: change(undefined, laptop),
    expected: 'tightens',
  },
  {
    name: 'a feature that lets people in',
    kind: 'feature',
    action: 'create',
    change: change(featureOf('SMS_AUTH')),
    expected: 'loosens',
  },
  {
    name: 'a feature that lets people in and goes',
    kind: 'feature',
    action: 'delete',
    change: change(undefined, featureOf('SMS_AUTH')),
    expected: 'tightens',
  },
  {
    name: 'a feature that restricts',
    kind: 'feature',
    action: 'create',
    change: change(featureOf('WEBAUTHN_ORIGINS')),
    expected: 'tightens',
  },
  {
    name: 'a feature that restricts and goes',
    kind: 'feature',
    action: 'delete',
    change: change(undefined, featureOf('WEBAUTHN_ORIGINS')),
    expected: 'loosens',
  },
  {
    name: 'a feature that only lets policies say more',
    kind: 'feature',
    action: 'create',
    change: change(featureOf('POLICY_TIME')),
    expected: 'neutral',
  },
  { name: 'a new tag', kind: 'tag', action: 'create', change: change(resource('tag', 't', {})), expected: 'neutral' },
  {
    name: 'a new wallet',
    kind: 'wallet',
    action: 'create',
    change: change(resource('wallet', 'w', {})),
    expected: 'neutral',
  },
  { name: 'a new passkey', kind: 'authenticator', action: 'create', change: change(yubikey), expected: 'loosens' },
  {
    name: 'a passkey that goes',
    kind: 'authenticator',
    action: 'delete',
    change: change(undefined, yubikey),
    expected: 'tightens',
  },
  {
    name: 'an OAuth provider that goes',
    kind: 'oauthProvider',
    action: 'delete',
    change: change(undefined, resource('oauthProvider', 'g', {})),
    expected: 'tightens',
  },
  { name: 'a new MFA policy', kind: 'mfaPolicy', action: 'create', change: change(money), expected: 'tightens' },
  {
    name: 'an MFA policy that goes',
    kind: 'mfaPolicy',
    action: 'delete',
    change: change(undefined, money),
    expected: 'loosens',
  },
  {
    name: 'other steps of an MFA policy',
    kind: 'mfaPolicy',
    action: 'update',
    change: change(money, money, ['requiredAuthenticationMethods']),
    expected: 'loosens',
  },
  {
    name: 'another name of an MFA policy',
    kind: 'mfaPolicy',
    action: 'update',
    change: change(money, money, ['name']),
    expected: 'neutral',
  },
  {
    name: 'an invitation',
    kind: 'invitation',
    action: 'create',
    change: change(resource('invitation', 'd', {})),
    expected: 'loosens',
  },
  {
    name: 'an invitation that is taken back',
    kind: 'invitation',
    action: 'delete',
    change: change(undefined, resource('invitation', 'd', {})),
    expected: 'tightens',
  },
  {
    name: 'an OAuth 2.0 credential',
    kind: 'oauth2Credential',
    action: 'update',
    change: change(login, login),
    expected: 'loosens',
  },
  {
    name: 'an allow-list',
    kind: 'ipAllowlist',
    action: 'create',
    change: change(allowlist(['a'], true)),
    expected: 'tightens',
  },
  {
    name: 'an allow-list that is not enabled',
    kind: 'ipAllowlist',
    action: 'create',
    change: change(allowlist(['a'], false)),
    expected: 'neutral',
  },
  {
    name: 'an allow-list that goes',
    kind: 'ipAllowlist',
    action: 'delete',
    change: change(undefined, allowlist(['a'], true)),
    expected: 'loosens',
  },
  {
    name: 'a block that an allow-list gains',
    kind: 'ipAllowlist',
    action: 'update',
    change: change(allowlist(['a', 'b'], true), allowlist(['a'], true), ['rules']),
    expected: 'loosens',
  },
  {
    name: 'a block that an allow-list loses',
    kind: 'ipAllowlist',
    action: 'update',
    change: change(allowlist(['a'], true), allowlist(['a', 'b'], true), ['rules']),
    expected: 'tightens',
  },
  {
    name: 'an allow-list that is no longer enforced',
    kind: 'ipAllowlist',
    action: 'update',
    change: change(allowlist(['a'], false), allowlist(['a'], true), ['enabled']),
    expected: 'loosens',
  },
  {
    name: 'an allow-list that lets through what it cannot tell',
    kind: 'ipAllowlist',
    action: 'update',
    change: change(allowlist(['a'], true, 'allow'), allowlist(['a'], true), ['onEvaluationError']),
    expected: 'loosens',
  },
  {
    name: 'a new private key',
    kind: 'privateKey',
    action: 'create',
    change: change(reserve),
    expected: 'neutral',
  },
  {
    name: 'another tag of a private key',
    kind: 'privateKey',
    action: 'update',
    change: change(reserve, reserve, ['tags']),
    expected: 'loosens',
  },
  {
    name: 'a contract interface',
    kind: 'smartContractInterface',
    action: 'create',
    change: change(resource('smartContractInterface', 'u', {})),
    expected: 'loosens',
  },
  { name: 'a webhook endpoint', kind: 'webhook', action: 'create', change: change(ops), expected: 'neutral' },
]

describe('power', () => {
  for (const { name, kind, action, change, expected } of powers) {
    test(`power: ${name} ${expected === 'neutral' ? 'is neutral' : expected}`, () => {
      expect(kinds[kind].power(change, action, NOBODY)).toBe(expected)
    })
  }
})

describe('parts of a change', () => {
  const tags = (...names: string[]) => names.map((name) => ({ $ref: `privateKeyTag.${name}` }))
  test('parts: the tags that a private key gains and loses are parts of their own, about the tag', () => {
    const desired = { ...reserve, fields: { ...reserve.fields, tags: ['T1', ...tags('new')] } }
    const actual = { ...reserve, id: 'K', fields: { ...reserve.fields, tags: ['T1', 'T2'] } }
    const whole = change(desired, actual, ['tags'])
    const parts = kinds.privateKey.split!(whole)
    expect(parts).toEqual([
      { fields: ['tags'], part: { tag: { $ref: 'privateKeyTag.new' }, gained: true } },
      { fields: ['tags'], part: { tag: 'T2', gained: false } },
    ])
    const about = parts.map((part) => kinds.privateKey.update!({ ...whole, ...part }).carries)
    expect(about).toEqual([{ about: 'privateKeyTag.new' }, { about: 'T2' }])
  })

  test('parts: keys that gain and lose one tag share its activity', () => {
    const one = (id: string, gained: boolean) => ({
      ...change(reserve, { ...reserve, id }, ['tags']),
      part: { tag: 'T', gained },
    })
    const changes = [one('K1', true), one('K2', false), one('K3', true)]
    expect(kinds.privateKey.update!(changes[0]!).parameters(changes)).toEqual({
      privateKeyTagId: 'T',
      addPrivateKeyIds: ['K1', 'K3'],
      removePrivateKeyIds: ['K2'],
    })
  })

  test('parts: only an endpoint that is made paused needs something afterwards', () => {
    expect(kinds.webhook.afterCreation!(ops)).toEqual(['isActive'])
    expect(kinds.webhook.afterCreation!(resource('webhook', 'ops', { isActive: true }))).toEqual([])
    expect(kinds.webhook.afterCreation!(resource('webhook', 'ops', {}))).toEqual([])
  })

  test('parts: a passkey without attestation and an OAuth provider cannot be made, and why is said', () => {
    expect(kinds.authenticator.uncreatable!(yubikey)).toBeUndefined()
    expect(kinds.authenticator.uncreatable!(resource('authenticator', 'y', { credentialId: 'A' }))).toMatch(
      /^only its user can register a passkey/,
    )
    expect(kinds.oauthProvider.uncreatable!(resource('oauthProvider', 'g', {}))).toMatch(/^it takes a token/)
  })
})

describe('long values', () => {
  test('long values: an interface and a secret are shown by their digest, another for another', () => {
    const brief = (kind: KindName, field: string, value: Value) => kinds[kind].fields[field]!.brief!(value)
    expect(brief('smartContractInterface', 'interface', '[]')).toBe(
      'sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945 (2 bytes)',
    )
    expect(brief('smartContractInterface', 'interface', '[1]')).not.toBe(
      brief('smartContractInterface', 'interface', '[]'),
    )
    expect(brief('oauth2Credential', 'encryptedClientSecret', '00ff')).not.toContain('00ff')
  })
})

const record = { createdAt: { seconds: '1', nanos: '0' } }

describe('records of the API', () => {
  test('records: a key that a session made is no API key', () => {
    const user = resource('user', 'alice', {}, { id: 'U' })
    const key = (type: string) => ({ apiKeyId: 'K', apiKeyName: 'k', credential: { publicKey: '02AB', type } })
    expect(apiKeyFromWire(key('CREDENTIAL_TYPE_LOGIN'), user)).toBeUndefined()
    expect(apiKeyFromWire(key('CREDENTIAL_TYPE_OTP_AUTH_KEY_P256'), user)).toBeUndefined()
    expect(apiKeyFromWire({ ...key('CREDENTIAL_TYPE_API_KEY_P256'), expirationSeconds: '60' }, user)).toMatchObject({
      parentId: 'U',
      fields: { curve: 'P256', publicKey: '02ab', expiresIn: 60 },
    })
  })

  test('records: an expression that is empty, absent or `true` is none', () => {
    const policy = {
      policyId: 'P',
      policyName: 'p',
      effect: 'EFFECT_DENY',
      consensus: '',
      condition: ' true ',
      notes: '',
    }
    expect(policyFromWire(policy).fields).toEqual({
      name: 'p',
      effect: 'deny',
      consensus: null,
      condition: null,
      time: null,
      notes: '',
    })
    expect(policyFromWire({ ...policy, condition: 'true && x' }).fields['condition']).toBe('true && x')
  })

  test('records: a word that a later API adds is kept as it is', () => {
    const account = { walletAccountId: 'A', path: 'm/0h', curve: 'CURVE_NEW', addressFormat: 'ADDRESS_FORMAT_NEW' }
    expect(walletAccountFromWire(account, resource('wallet', 'hot', {}, { id: 'W' })).fields).toEqual({
      path: "m/0'",
      curve: 'CURVE_NEW',
      format: 'ADDRESS_FORMAT_NEW',
    })
    expect(featureFromWire({ name: 'FEATURE_NAME_NEW' })).toMatchObject({ name: 'NEW', fields: { value: '' } })
  })

  test('records: an invitation that was taken back is none', () => {
    const invitation = {
      invitationId: 'I',
      receiverUserName: 'dave',
      receiverUserEmail: 'd@b.c',
      receiverUserTags: [],
      accessType: 'ACCESS_TYPE_ALL',
      senderUserId: 'U',
    }
    expect(invitationFromWire({ ...invitation, status: 'INVITATION_STATUS_REVOKED' })).toBeUndefined()
    expect(invitationFromWire({ ...invitation, status: 'INVITATION_STATUS_ACCEPTED' })).toMatchObject({
      fields: { access: 'all', sender: 'U' },
    })
  })

  test('records: an allow-list without rules is none, unless it is enforced and so lets nobody in', () => {
    const empty = { organizationId: 'O', rules: [] }
    expect(ipAllowlistFromWire(empty)).toBeUndefined()
    expect(ipAllowlistFromWire({ ...empty, rules: null, enabled: false })).toBeUndefined()
    expect(ipAllowlistFromWire({ ...empty, enabled: true })).toMatchObject({ fields: { enabled: true, rules: [] } })
    const key = { ...laptop, address: 'apiKey.alice["my laptop"]', id: 'K' }
    expect(ipAllowlistFromWire({ ...empty, publicKey: '02ab', enabled: true }, key)).toBeUndefined()
    const rules = [{ cidr: '198.51.100.7/24', label: '', createdAt: '1' }]
    expect(ipAllowlistFromWire({ ...empty, rules, onEvaluationError: 'ALLOW' }, key)).toEqual({
      address: 'apiKeyIpAllowlist.alice["my laptop"]',
      kind: 'apiKeyIpAllowlist',
      name: '02ab',
      parent: 'apiKey.alice["my laptop"]',
      parentId: 'K',
      id: '02ab',
      fields: { publicKey: '02ab', rules: [{ cidr: '198.51.100.0/24' }], onEvaluationError: 'allow' },
    })
  })

  test('records: an endpoint and its subscriptions are active unless they say otherwise', () => {
    const endpoint = { endpointId: 'E', name: 'ops', url: 'https://o.test', isActive: false }
    expect(webhookFromWire(endpoint).fields).toEqual({
      name: 'ops',
      url: 'https://o.test',
      subscriptions: [],
      isActive: false,
    })
    const subscriptions = [
      { eventType: 'A' },
      { eventType: 'B', isActive: false, filtersJson: '{"a":1}' },
      { eventType: 'C', filtersJson: 'no JSON' },
    ]
    expect(webhookFromWire({ ...endpoint, subscriptions }).fields['subscriptions']).toEqual([
      { event: 'A', isActive: true },
      { event: 'B', isActive: false, filters: { a: 1 } },
      { event: 'C', isActive: true, filters: 'no JSON' },
    ])
    expect(() => webhookFromWire({ ...endpoint, isActive: 'yes' })).toThrow(
      expect.objectContaining({
        message: 'expected `isActive` of a webhook endpoint to be `true` or `false`, got a string',
      }),
    )
  })

  test('records: layout, the order of members and the case of an Ethereum address are no difference', () => {
    const one = {
      smartContractInterfaceId: 'S',
      label: 'usdc',
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      smartContractAddress: '0xAB',
      smartContractInterface: '[ {"type": "function", "name": "pay"} ]',
      notes: '',
    }
    const other = {
      ...one,
      smartContractAddress: '0xab',
      smartContractInterface: '[{"name":"pay","type":"function"}]',
    }
    expect(smartContractInterfaceFromWire(one).fields).toEqual(smartContractInterfaceFromWire(other).fields)
    const solana = { ...one, type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', smartContractAddress: 'ToKen' }
    expect(smartContractInterfaceFromWire(solana).fields).toMatchObject({ type: 'solana', address: 'ToKen' })
  })

  test('records: a passkey is known by its id however base64 is written', () => {
    const user = resource('user', 'alice', {}, { id: 'U' })
    const passkey = { authenticatorId: 'A', authenticatorName: 'y', credentialId: 'a+b/cw==' }
    expect(authenticatorFromWire(passkey, user)).toMatchObject({ parentId: 'U', fields: { credentialId: 'a-b_cw' } })
  })

  const malformed: { name: string; read: () => unknown; message: string }[] = [
    {
      name: 'a user without tags',
      read: () => userFromWire({ ...record, userId: 'U', userName: 'a' }),
      message: 'expected `userTags` of a user to be a list, got nothing',
    },
    {
      name: 'a user without an id',
      read: () => userFromWire({ userName: 'a', userTags: [] }),
      message: 'expected `userId` of a user to be a text, got nothing',
    },
    {
      name: 'a tag with an empty name',
      read: () => tagFromWire({ tagId: 'T', tagName: '' }),
      message: 'expected `tagName` of a tag to be a text, got an empty text',
    },
    {
      name: 'a wallet whose name is a number',
      read: () => walletFromWire({ walletId: 'W', walletName: 5 }),
      message: 'expected `walletName` of a wallet to be a text, got a number',
    },
    {
      name: 'a policy of a third effect',
      read: () => policyFromWire({ policyId: 'P', policyName: 'p', effect: 'EFFECT_MAYBE' }),
      message: 'expected `effect` of a policy to be EFFECT_ALLOW or EFFECT_DENY, got a string',
    },
    {
      name: 'a member that objects inherit',
      read: () => tagFromWire(Object.create({ tagId: 'T', tagName: 't' })),
      message: 'expected `tagName` of a tag to be a text, got nothing',
    },
  ]
  for (const { name, read, message } of malformed) {
    test(`records: ${name} is refused`, () => {
      expect(read).toThrow(expect.objectContaining({ code: 'resources/malformed-record', message }))
    })
  }
})
