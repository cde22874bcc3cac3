import { describe, expect, test } from 'vitest'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import {
  type Actual,
  apiKeyFromWire,
  type ChangeInput,
  featureFromWire,
  KINDS,
  type KindName,
  kinds,
  type Power,
  policyFromWire,
  type Resource,
  tagFromWire,
  userFromWire,
  type Value,
  walletAccountFromWire,
  walletFromWire,
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
]

describe('activities', () => {
  for (const { name, kind, action, change, type, parameters } of intents) {
    test(`activities: ${name}`, () => {
      const row = kinds[kind]
      const template = action === 'update' ? row.update!(change) : row[action]!
      expect(template.type).toBe(type)
      expect(template.parameters([change])).toEqual(parameters)
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
        if (template) expect(Object.keys(activities)).toContain(template.type)
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
  { name: 'a new tag', kind: 'tag', action: 'create', change: change(resource('tag', 't', {})), expected: 'neutral' },
  {
    name: 'a new wallet',
    kind: 'wallet',
    action: 'create',
    change: change(resource('wallet', 'w', {})),
    expected: 'neutral',
  },
]

describe('power', () => {
  for (const { name, kind, action, change, expected } of powers) {
    test(`power: ${name} ${expected === 'neutral' ? 'is neutral' : expected}`, () => {
      expect(kinds[kind].power(change, action, NOBODY)).toBe(expected)
    })
  }
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
