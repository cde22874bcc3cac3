import { ECDH } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { apiKeyFacts } from '../authority/index.ts'
import { decodeHex } from '../encoding/index.ts'
import type { FieldProblem, ResourceKind } from './kind.ts'
import type { Resource } from './model.ts'
import * as wire from './wire/api-key.ts'

/** The curves of API keys by the words that definitions use: hex digits of a public key, and whether one is valid. */
export const API_KEY_CURVES = {
  P256: { digits: 66, isValid: isPointOf('prime256v1') },
  SECP256K1: { digits: 66, isValid: isPointOf('secp256k1') },
  ED25519: { digits: 64, isValid: (publicKey: Uint8Array) => ed25519.utils.isValidPublicKey(publicKey) },
} as const
/** The platform's own look: an organization has hundreds of keys, and finding a point takes a square root. */
function isPointOf(curve: string): (publicKey: Uint8Array) => boolean {
  return (publicKey) => {
    try {
      return ECDH.convertKey(publicKey, curve).length > 0
    } catch {
      return false
    }
  }
}

export type ApiKeyCurve = keyof typeof API_KEY_CURVES

const FIXED = 'a key keeps it for life; register a new key beside it, then delete this one'

function checkKey({ fields: { curve, publicKey } }: Resource): readonly FieldProblem[] {
  if (typeof publicKey !== 'string' || typeof curve !== 'string' || !Object.hasOwn(API_KEY_CURVES, curve)) return []
  const { digits, isValid } = API_KEY_CURVES[curve as ApiKeyCurve]
  const seen = !/^[0-9a-fA-F]*$/.test(publicKey)
    ? 'characters that are no hex digits'
    : publicKey.length !== digits
      ? `${publicKey.length} digits`
      : isValid(decodeHex(publicKey))
        ? undefined
        : 'bytes that are no point of the curve'
  if (seen === undefined) return []
  const message = `expected ${digits} hex digits of a compressed ${curve} public key, got ${seen}`
  const isPrivate = digits === 66 && /^[0-9a-fA-F]{64}$/.test(publicKey)
  if (isPrivate) {
    const help = 'if it is one, it is no secret any more: make a new key pair, and write its public key here'
    return [
      {
        field: 'publicKey',
        code: 'resources/bad-public-key',
        message: `${message}: it looks like a private key, 64 hex characters; not shown`,
        help,
      },
    ]
  }
  const other = publicKey.length === 130 ? 'write the compressed form, which starts with 02 or 03' : undefined
  return [{ field: 'publicKey', code: 'resources/bad-public-key', message, ...(other ? { help: other } : {}) }]
}

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
      normal: (key) => (typeof key === 'string' ? key.toLowerCase() : key),
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
  check: checkKey,
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
  credential: {
    field: 'publicKey',
    words: 'public key',
    facts: ({ id, parentId, fields: { curve, publicKey } }) =>
      apiKeyFacts({ id: id!, userId: parentId!, type: String(curve), publicKey: String(publicKey) }),
  },
}
