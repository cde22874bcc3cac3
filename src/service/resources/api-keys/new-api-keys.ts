import { apiError, resourceLimits, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { evictExpiringKeys } from '../../login/index.ts'
import { publicKeyTaken } from '../../readings.ts'
import type { ApiKeyRow } from '../../store/index.ts'
import { requireDistinct } from '../require.ts'
import { insertApiKey, listTakenPublicKeys } from './store.ts'

/** The curves that an API key may be on (docs/protocol/stamps.md#api-key-stamps). */
const CREDENTIAL_TYPES = {
  API_KEY_CURVE_P256: 'CREDENTIAL_TYPE_API_KEY_P256',
  API_KEY_CURVE_SECP256K1: 'CREDENTIAL_TYPE_API_KEY_SECP256K1',
  API_KEY_CURVE_ED25519: 'CREDENTIAL_TYPE_API_KEY_ED25519',
} as const satisfies Record<Wire.ApiKeyCurve, Wire.CredentialType>

/** An API key to be registered. */
export interface NewApiKey {
  readonly name: string
  /** Lower-case hex. */
  readonly publicKey: string
  readonly curve: Wire.ApiKeyCurve
  /** Null for a long-lived key. */
  readonly expirationSeconds: number | null
}

/** An entry of `apiKeys`; the older form has no curve and means P-256. */
export function toNewApiKey(params: Wire.ApiKeyParams | Wire.ApiKeyParamsV2): NewApiKey {
  const { apiKeyName, publicKey, expirationSeconds = '' } = params
  return {
    name: apiKeyName,
    publicKey: publicKey.toLowerCase(),
    curve: 'curveType' in params ? params.curveType : 'API_KEY_CURVE_P256',
    expirationSeconds: expirationSeconds === '' ? null : Number(expirationSeconds),
  }
}

/** Keys that are checked, each a square root, in the time of one signature. */
const KEYS_A_WEIGHT = 4

/** Throws the refusal of the first key that is none of its curve, or that the organization or the request has already. */
export async function checkNewApiKeys(context: HandlerContext, keys: readonly NewApiKey[]): Promise<void> {
  const input = keys.map(({ publicKey, curve }) => ({ publicKey, curve }))
  const { areKeys } = context.work.run('checkPublicKeys', { input, weight: Math.ceil(keys.length / KEYS_A_WEIGHT) })
  if (!areKeys) throw apiError('invalidField', 'publicKey', 'must be a public key of its curve')
  const publicKeys = keys.map(({ publicKey }) => publicKey)
  requireDistinct('publicKey', publicKeys)
  const taken = await listTakenPublicKeys(context.tx, context.organizationId, publicKeys)
  const first = publicKeys.find((publicKey) => taken.has(publicKey))
  if (first !== undefined) throw publicKeyTaken(first)
}

/** Throws code 8 when a user would have too many long-lived keys, or asks for more expiring ones than can stay. */
export function checkApiKeyLimits(present: readonly ApiKeyRow[], added: readonly NewApiKey[]): void {
  const limits = resourceLimits.parent
  const longLived = added.filter((key) => key.expirationSeconds === null).length
  const held = present.filter((key) => key.expiration_seconds === null).length
  if (longLived > 0 && held + longLived > limits.longLivedApiKeysPerUser) throw apiError('maxLongLivedApiKeys')
  if (added.length - longLived > limits.expiringApiKeysPerUser) throw apiError('maxShortLivedApiKeys')
}

/**
 * Registers keys of a user and returns their ids. Expiring keys beyond the limit evict others: expired ones first,
 * otherwise the oldest (docs/protocol/limits.md#resources).
 */
export async function addApiKeys(
  context: HandlerContext,
  userId: string,
  added: readonly NewApiKey[],
  present: readonly ApiKeyRow[],
): Promise<string[]> {
  const { tx, organizationId, now } = context
  const incoming = added.filter((key) => key.expirationSeconds !== null).length
  await evictExpiringKeys(context, organizationId, { present, incoming })
  const ids: string[] = []
  for (const key of added) {
    const id = context.newId()
    await insertApiKey(tx, {
      id,
      organization_id: organizationId,
      user_id: userId,
      name: key.name,
      public_key: key.publicKey,
      credential_type: CREDENTIAL_TYPES[key.curve],
      expiration_seconds: key.expirationSeconds,
      created_at: now,
      updated_at: now,
    })
    ids.push(id)
  }
  return ids
}
