import { describe, expect, test } from 'vitest'
import { type ActivityType, ApiError, activities, createDecoder } from '../../src/protocol/index.ts'

const decoder = createDecoder()
const id = 'ABCDEF01-2345-4789-abcd-ef0123456789'
const key = `02${'ab'.repeat(32)}`

/** What a reading gives: the value, or the refusal as `code: message`. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.httpStatus).toBe(400)
    return `${error.turnkeyErrorCode}: ${error.message}`
  }
}

const missing = (field: string) => `REQUEST_INVALID: invalid request body: missing field \`${field}\``
const wrong = (field: string, rule: string) => `REQUEST_INVALID: invalid request body: field \`${field}\` ${rule}`

interface Case {
  readonly name: string
  readonly type: string
  readonly given: unknown
  readonly expected: unknown
}

const user = { userName: 'alice', apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] }
const account = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0" }
const ethereum = { ...account, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }
const policy = { policyName: 'ops', effect: 'EFFECT_ALLOW', notes: '' }
const apiKey = { apiKeyName: 'laptop', publicKey: key, curveType: 'API_KEY_CURVE_P256' }

const lenient: readonly Case[] = [
  {
    name: 'camelCase names stay',
    type: 'CREATE_USERS_V4',
    given: { users: [{ ...user, userEmail: 'alice@acme.test' }] },
    expected: { users: [{ ...user, userEmail: 'alice@acme.test' }] },
  },
  {
    name: 'snake_case names become camelCase, at any depth',
    type: 'CREATE_USERS_V4',
    given: {
      users: [
        {
          user_name: 'alice',
          api_keys: [{ api_key_name: 'laptop', public_key: key, curve_type: 'API_KEY_CURVE_P256' }],
        },
      ],
    },
    expected: { users: [{ ...user, apiKeys: [apiKey] }] },
  },
  {
    name: 'null means absent, for members and for lists',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'alice', userEmail: null, userPhoneNumber: null, apiKeys: null, userTags: null }] },
    expected: { users: [user] },
  },
  {
    name: 'null under one name leaves the other',
    type: 'UPDATE_USER_NAME',
    given: { userId: null, user_id: id, userName: 'bob' },
    expected: { userId: id, userName: 'bob' },
  },
  {
    name: 'unknown members are ignored',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'alice', nickname: 'al' }], dryRun: true },
    expected: { users: [user] },
  },
  {
    name: 'a list that is left out is empty',
    type: 'CREATE_USER_TAG',
    given: { userTagName: 'ops' },
    expected: { userTagName: 'ops', userIds: [] },
  },
  {
    name: 'an optional list that is left out stays absent',
    type: 'UPDATE_USER',
    given: { userId: id },
    expected: { userId: id },
  },
  {
    name: 'an optional list that is empty stays empty',
    type: 'UPDATE_USER',
    given: { userId: id, userTagIds: [] },
    expected: { userId: id, userTagIds: [] },
  },
  {
    name: 'a number may come as text',
    type: 'UPDATE_ROOT_QUORUM',
    given: { threshold: '2', userIds: [id] },
    expected: { threshold: 2, userIds: [id] },
  },
  {
    name: 'a policy without notes has empty ones',
    type: 'CREATE_POLICY_V3',
    given: { policyName: 'ops', effect: 'EFFECT_ALLOW', condition: 'true' },
    expected: { ...policy, condition: 'true' },
  },
  {
    name: 'a feature without a value has an empty one',
    type: 'SET_ORGANIZATION_FEATURE',
    given: { name: 'FEATURE_NAME_EMAIL_AUTH' },
    expected: { name: 'FEATURE_NAME_EMAIL_AUTH', value: '' },
  },
  {
    name: 'empty text passes where a check says omitempty',
    type: 'UPDATE_USER',
    given: { userId: id, userEmail: '', userPhoneNumber: '', userName: '' },
    expected: { userId: id, userEmail: '', userPhoneNumber: '', userName: '' },
  },
  {
    name: 'the other spelling of an address format is read',
    type: 'CREATE_WALLET',
    given: { walletName: 'w', accounts: [{ ...account, addressFormat: 'ADDRESS_FORMAT_LAYER2_MAINNET' }] },
    expected: { walletName: 'w', accounts: [{ ...account, addressFormat: 'ADDRESS_FORMAT_SPARK_MAINNET' }] },
  },
  {
    name: 'an Ed25519 key has 64 characters',
    type: 'CREATE_API_KEYS_V2',
    given: { userId: id, apiKeys: [{ ...apiKey, publicKey: 'ab'.repeat(32), curveType: 'API_KEY_CURVE_ED25519' }] },
    expected: { userId: id, apiKeys: [{ ...apiKey, publicKey: 'ab'.repeat(32), curveType: 'API_KEY_CURVE_ED25519' }] },
  },
  {
    name: 'a boolean that must be there may be false',
    type: 'EARN_SET_WRAPPER_STATE',
    given: { wrapperAddress: '0x0', depositsDisabled: false },
    expected: { wrapperAddress: '0x0', depositsDisabled: false },
  },
  {
    name: 'WhatsApp is a way to send a code',
    type: 'INIT_OTP_V3',
    given: { otpType: 'OTP_TYPE_WHATSAPP', contact: '+4915112345678', appName: 'acme', expirationSeconds: '600' },
    expected: { otpType: 'OTP_TYPE_WHATSAPP', contact: '+4915112345678', appName: 'acme', expirationSeconds: '600' },
  },
  {
    name: 'empty parameters are enough where nothing is required',
    type: 'DELETE_ORGANIZATION',
    given: { organizationId: id },
    expected: { organizationId: id },
  },
  { name: 'a message without members takes anything', type: 'ENABLE_AUTH_PROXY', given: {}, expected: {} },
  {
    name: 'expiring keys carry seconds as text',
    type: 'CREATE_API_KEYS_V2',
    given: { userId: id, apiKeys: [{ ...apiKey, expirationSeconds: '3600' }] },
    expected: { userId: id, apiKeys: [{ ...apiKey, expirationSeconds: '3600' }] },
  },
  {
    name: 'an empty expiration is kept, and means none',
    type: 'CREATE_API_KEYS_V2',
    given: { userId: id, apiKeys: [{ ...apiKey, expirationSeconds: '' }] },
    expected: { userId: id, apiKeys: [{ ...apiKey, expirationSeconds: '' }] },
  },
  {
    name: 'names may have any letters, and emoji',
    type: 'UPDATE_ORGANIZATION_NAME',
    given: { organizationName: 'Ämter & Söhne 👩‍🚀' },
    expected: { organizationName: 'Ämter & Söhne 👩‍🚀' },
  },
]

const refused: readonly Case[] = [
  {
    name: 'a list in place of parameters',
    type: 'CREATE_USERS_V4',
    given: [],
    expected: wrong('parameters', 'must be an object'),
  },
  {
    name: 'null in place of parameters',
    type: 'CREATE_USERS_V4',
    given: null,
    expected: wrong('parameters', 'must be an object'),
  },
  { name: 'a missing required list', type: 'CREATE_USERS_V4', given: {}, expected: missing('users') },
  { name: 'a required list that is null', type: 'CREATE_USERS_V4', given: { users: null }, expected: missing('users') },
  {
    name: 'an empty required list',
    type: 'CREATE_USERS_V4',
    given: { users: [] },
    expected: wrong('users', 'must not be empty'),
  },
  {
    name: 'an object in place of a list',
    type: 'CREATE_USERS_V4',
    given: { users: {} },
    expected: wrong('users', 'must be a list'),
  },
  {
    name: 'null in a list',
    type: 'CREATE_USERS_V4',
    given: { users: [null] },
    expected: wrong('users[0]', 'must be an object'),
  },
  {
    name: 'a missing name, deep',
    type: 'CREATE_USERS_V4',
    given: { users: [user, {}] },
    expected: missing('users[1].userName'),
  },
  {
    name: 'a name of the wrong type',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 7 }] },
    expected: wrong('users[0].userName', 'must be a string'),
  },
  {
    name: 'an empty name',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: '' }] },
    expected: wrong('users[0].userName', 'must not be empty'),
  },
  {
    name: 'a name with a line break',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'a\nb' }] },
    expected: wrong('users[0].userName', 'must be printable, without blanks at its ends'),
  },
  {
    name: 'a name with a blank at its end',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'a ' }] },
    expected: wrong('users[0].userName', 'must be printable, without blanks at its ends'),
  },
  {
    name: 'a name that turns the line',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'a\u202eb' }] },
    expected: wrong('users[0].userName', 'must be printable, without blanks at its ends'),
  },
  {
    name: 'a name of 256 characters',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'a'.repeat(256) }] },
    expected: wrong('users[0].userName', 'must have 1 to 255 characters'),
  },
  {
    name: 'no e-mail address',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'a', userEmail: 'a@b' }] },
    expected: 'INVALID_EMAIL: invalid email address',
  },
  {
    name: 'no phone number',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'a', userPhoneNumber: '0151' }] },
    expected: wrong('users[0].userPhoneNumber', 'must be a phone number in E.164 form'),
  },
  {
    name: 'a tag that is no id',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'a', userTags: ['ops'] }] },
    expected: wrong('users[0].userTags[0]', 'must be a UUID'),
  },
  {
    name: 'a member under both names',
    type: 'CREATE_USERS_V4',
    given: { users: [{ userName: 'a', user_name: 'b' }] },
    expected: wrong('users[0].userName', 'appears twice, also as `user_name`'),
  },
  {
    name: 'an unknown word',
    type: 'CREATE_POLICY_V3',
    given: { ...policy, effect: 'EFFECT_MAYBE' },
    expected: wrong('effect', 'must be one of EFFECT_ALLOW, EFFECT_DENY'),
  },
  {
    name: 'a number in place of a word',
    type: 'CREATE_POLICY_V3',
    given: { ...policy, effect: 1 },
    expected: wrong('effect', 'must be a string'),
  },
  { name: 'a missing word', type: 'CREATE_POLICY_V3', given: { policyName: 'a' }, expected: missing('effect') },
  {
    name: 'a list with one bad policy',
    type: 'CREATE_POLICIES',
    given: { policies: [policy, { ...policy, policyName: '' }] },
    expected: wrong('policies[1].policyName', 'must not be empty'),
  },
  {
    name: 'a key of the wrong length for its curve',
    type: 'CREATE_API_KEYS_V2',
    given: { userId: id, apiKeys: [{ ...apiKey, publicKey: 'ab'.repeat(32) }] },
    expected: wrong('apiKeys[0].publicKey', 'must be a public key of its curve: 66 hex characters, or 64 for Ed25519'),
  },
  {
    name: 'a key that is not hex',
    type: 'CREATE_API_KEYS_V2',
    given: { userId: id, apiKeys: [{ ...apiKey, publicKey: 'x' }] },
    expected: wrong('apiKeys[0].publicKey', 'must be hexadecimal'),
  },
  {
    name: 'an old key of 64 characters',
    type: 'CREATE_API_KEYS',
    given: { userId: id, apiKeys: [{ apiKeyName: 'a', publicKey: 'ab'.repeat(32) }] },
    expected: wrong('apiKeys[0].publicKey', 'must be 66 long'),
  },
  {
    name: 'a key without a curve',
    type: 'CREATE_API_KEYS_V2',
    given: { userId: id, apiKeys: [{ apiKeyName: 'a', publicKey: key }] },
    expected: missing('apiKeys[0].curveType'),
  },
  {
    name: 'an expiration of zero',
    type: 'CREATE_API_KEYS_V2',
    given: { userId: id, apiKeys: [{ ...apiKey, expirationSeconds: '0' }] },
    expected: 'REQUEST_INVALID: invalid api key expiration',
  },
  {
    name: 'an expiration that is no number',
    type: 'CREATE_API_KEYS_V2',
    given: { userId: id, apiKeys: [{ ...apiKey, expirationSeconds: '-5' }] },
    expected: 'REQUEST_INVALID: invalid api key expiration',
  },
  {
    name: 'an expiration as a number',
    type: 'CREATE_API_KEYS_V2',
    given: { userId: id, apiKeys: [{ ...apiKey, expirationSeconds: 5 }] },
    expected: 'REQUEST_INVALID: invalid api key expiration',
  },
  {
    name: 'a quorum of zero',
    type: 'UPDATE_ROOT_QUORUM',
    given: { threshold: 0, userIds: [id] },
    expected: 'REQUEST_INVALID: quorum threshold must be non-zero integer',
  },
  {
    name: 'a quorum below zero',
    type: 'UPDATE_ROOT_QUORUM',
    given: { threshold: -1, userIds: [id] },
    expected: 'REQUEST_INVALID: quorum threshold must be non-zero integer',
  },
  {
    name: 'half a quorum',
    type: 'UPDATE_ROOT_QUORUM',
    given: { threshold: 1.5, userIds: [id] },
    expected: 'REQUEST_INVALID: quorum threshold must be non-zero integer',
  },
  { name: 'no quorum', type: 'UPDATE_ROOT_QUORUM', given: { userIds: [id] }, expected: missing('threshold') },
  {
    name: 'an account without a curve',
    type: 'CREATE_WALLET',
    given: { walletName: 'w', accounts: [{}] },
    expected: 'REQUEST_INVALID: curve required',
  },
  {
    name: 'an unknown curve',
    type: 'CREATE_WALLET',
    given: { walletName: 'w', accounts: [{ ...ethereum, curve: 'CURVE_X' }] },
    expected: 'REQUEST_INVALID: invalid curve',
  },
  {
    name: 'an unknown path format',
    type: 'CREATE_WALLET',
    given: { walletName: 'w', accounts: [{ ...ethereum, pathFormat: 'X' }] },
    expected: 'REQUEST_INVALID: invalid path format',
  },
  {
    name: 'an unknown address format',
    type: 'CREATE_WALLET',
    given: { walletName: 'w', accounts: [{ ...ethereum, addressFormat: 'X' }] },
    expected: 'REQUEST_INVALID: invalid address format',
  },
  {
    name: 'an account without a path',
    type: 'CREATE_WALLET',
    given: { walletName: 'w', accounts: [{ ...ethereum, path: null }] },
    expected: missing('accounts[0].path'),
  },
  {
    name: 'an unknown address format in a list',
    type: 'CREATE_PRIVATE_KEYS_V2',
    given: { privateKeys: [{ privateKeyName: 'k', curve: 'CURVE_P256', addressFormats: ['X'] }] },
    expected: 'REQUEST_INVALID: invalid address format',
  },
  {
    name: 'an unknown encoding',
    type: 'SIGN_RAW_PAYLOAD_V2',
    given: { signWith: 'x', payload: 'y', encoding: 'X', hashFunction: 'HASH_FUNCTION_NO_OP' },
    expected: 'REQUEST_INVALID: invalid payload encoding',
  },
  {
    name: 'an unknown hash function',
    type: 'SIGN_RAW_PAYLOAD_V2',
    given: { signWith: 'x', payload: 'y', encoding: 'PAYLOAD_ENCODING_TEXT_UTF8', hashFunction: 'X' },
    expected: 'REQUEST_INVALID: invalid hash function',
  },
  {
    name: 'an id of a user to delete that is no id',
    type: 'DELETE_USERS',
    given: { userIds: [id, ''] },
    expected: wrong('userIds[1]', 'must not be empty'),
  },
  {
    name: 'too many signers',
    type: 'SOL_SEND_TRANSACTION_V2',
    given: { unsignedTransaction: 'x', caip2: 'solana:devnet', signWiths: Array(17).fill('x') },
    expected: wrong('signWiths', 'must be at most 16, in length or value'),
  },
  {
    name: 'a code of ten digits',
    type: 'INIT_OTP_V3',
    given: { otpType: 'OTP_TYPE_SMS', contact: 'x', appName: 'a', otpLength: 10 },
    expected: wrong('otpLength', 'must be at most 9, in length or value'),
  },
  {
    name: 'a code that lives too long',
    type: 'INIT_OTP_V3',
    given: { otpType: 'OTP_TYPE_SMS', contact: 'x', appName: 'a', expirationSeconds: '601' },
    expected: wrong('expirationSeconds', 'must be at most 600'),
  },
  {
    name: 'an unknown way to send a code',
    type: 'INIT_OTP_V3',
    given: { otpType: 'OTP_TYPE_FAX', contact: 'x', appName: 'a' },
    expected: wrong('otpType', 'must be one of OTP_TYPE_SMS, OTP_TYPE_EMAIL, OTP_TYPE_WHATSAPP'),
  },
  {
    name: 'an empty address block',
    type: 'SET_IP_ALLOWLIST',
    given: { rules: [{ cidr: '' }] },
    expected: wrong('rules[0].cidr', 'must not be empty'),
  },
  {
    name: 'an interface of more than 400 000 bytes',
    type: 'CREATE_SMART_CONTRACT_INTERFACE',
    given: {
      smartContractAddress: 'x',
      smartContractInterface: 'é'.repeat(200_001),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'l',
    },
    expected: wrong('smartContractInterface', 'must have at most 400000 bytes'),
  },
  {
    name: 'an approval of nothing',
    type: 'APPROVE_ACTIVITY',
    given: { fingerprint: '' },
    expected: wrong('fingerprint', 'must not be empty'),
  },
  {
    name: 'a member that is only inherited',
    type: 'UPDATE_ORGANIZATION_NAME',
    given: Object.create({ organizationName: 'x' }),
    expected: missing('organizationName'),
  },
]

describe('decoder: intents', () => {
  test.each(lenient)('decoder: $name', ({ type, given, expected }) => {
    expect(outcomeOf(() => decoder.intent(`ACTIVITY_TYPE_${type}` as ActivityType, given))).toEqual(expected)
  })

  test.each(refused)('decoder: refuses $name', ({ type, given, expected }) => {
    expect(outcomeOf(() => decoder.intent(`ACTIVITY_TYPE_${type}` as ActivityType, given))).toBe(expected)
  })

  test('decoder: every activity and every query compiles, and reads or refuses an empty body in the API\u2019s words', () => {
    const { intent } = createDecoder()
    for (const type of Object.keys(activities) as ActivityType[]) {
      const outcome = outcomeOf(() => intent(type, {}))
      if (typeof outcome === 'string')
        expect(outcome, type).toMatch(
          /^REQUEST_INVALID: (invalid request body: missing field|curve|oauth2_credential_id must be set)/,
        )
    }
  })
})
