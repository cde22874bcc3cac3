import type { ResourceKind } from './kind.ts'
import * as wire from './wire/api-key.ts'

/** The curves of API keys by the words that definitions use, with the length of a public key in hex digits. */
export const API_KEY_CURVES = {
  P256: { publicKeyDigits: 66 },
  SECP256K1: { publicKeyDigits: 66 },
  ED25519: { publicKeyDigits: 64 },
} as const
export type ApiKeyCurve = keyof typeof API_KEY_CURVES

const FIXED = 'a key keeps it for life; register a new key beside it, then delete this one'

/** A long-lived key with which a user stamps requests. Its public key tells it from others; its name is a label. */
export const apiKey: ResourceKind = {
  kind: 'apiKey',
  one: 'API key',
  many: 'API keys',
  parent: 'user',
  form: { key: 'apiKeys', shape: 'map' },
  fields: {
    curve: {
      compare: 'exact',
      meaning: 'The curve of the key.',
      immutable: FIXED,
      required: true,
      schema: { enum: Object.keys(API_KEY_CURVES) },
    },
    publicKey: {
      compare: 'case-insensitive',
      meaning:
        'The public key in hex: 33 bytes compressed, or 32 bytes for ED25519. The private key stays with its user.',
      immutable: FIXED,
      required: true,
      schema: { type: 'string' },
    },
    expiresIn: {
      compare: 'exact',
      meaning: 'How long it is valid from its creation, in seconds.',
      immutable: FIXED,
      schema: { type: 'integer', minimum: 1 },
    },
  },
  referable: false,
  deleteNeedsTombstone: false,
  rides: true,
  identity: ({ fields }) => String(fields['publicKey']).toLowerCase(),
  create: {
    type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
    carries: 'parent',
    parameters: (changes) => ({
      userId: { $ref: changes[0]!.desired!.parent! },
      apiKeys: changes.map(({ desired }) => wire.toIntent(desired!)),
    }),
    produces: (changes) =>
      changes.map(({ desired }, index) => ({
        address: desired!.address,
        at: ['createApiKeysResult', 'apiKeyIds', index],
      })),
  },
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
    carries: 'parent',
    parameters: (changes) => ({
      userId: changes[0]!.actual!.parentId!,
      apiKeyIds: changes.map(({ actual }) => actual!.id!),
    }),
  },
  power: (_change, action) => (action === 'delete' ? 'tightens' : 'loosens'),
}
