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
  const form = privateFormOf(publicKey)
  const isPublic = /^(0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i.test(publicKey)
  const other = publicKey.length === 130 ? 'write the compressed form, which starts with 02 or 03' : undefined
  const help = form === undefined ? other : DISCLOSED
  return [
    {
      field: 'publicKey',
      code: 'resources/bad-public-key',
      message: form === undefined ? message : `${message}: it looks like a private key, ${form}; not shown`,
      ...(help === undefined ? {} : { help }),
      ...(isPublic ? {} : { isHidden: true as const }),
    },
  ]
}

const DISCLOSED =
  'if it is one, treat it as disclosed: remove it, also from the history of this file, make a new key pair, and write its public key here; where the old one is registered, `quorate incident key` with its public key cuts it off'

/** The form of what may be a private key where a public one is expected; undefined for what cannot be one. */
function privateFormOf(text: string): string | undefined {
  const bare = text.replace(/\s/g, '').replace(/^0x/i, '')
  if (/^[0-9a-f]{64}$/i.test(bare)) return '64 hex characters'
  // An Ed25519 key with its public key behind it.
  if (/^[0-9a-f]{128}$/i.test(bare)) return '128 hex characters'
  // SEC 1 and PKCS #8: a sequence that begins with its version, a number; in a public key another sequence stands there.
  if (/^30(81)?[0-9a-f]{2}0201[0-9a-f]+$/i.test(bare)) return 'DER in hex'
  const bytes = /^[A-Za-z0-9+/_-]+={0,2}$/.test(bare) ? Buffer.from(bare, 'base64') : undefined
  if (bytes?.length === 32 || bytes?.length === 64) return `${bytes.length} bytes in base64`
  // The same in base64, in whatever case: a key is compared in lower case.
  return bytes && /^(m..caq|mi..age)/i.test(bare) ? 'DER in base64' : undefined
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
  changedBy: ['CREATE_API_KEYS', 'DELETE_API_KEYS', 'DELETE_USERS'],
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
