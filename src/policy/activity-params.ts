/**
 * `activity.params`: the parameters of a request that policies may read, one row each
 * (docs/protocol/policies.md#activity-parameters). Only these exist; the rest of a request is not exposed.
 * `SIGN_TRANSACTION` v1 exposes nothing.
 */
import { activityRow } from '../protocol/catalogue.ts'

interface ParamRow {
  /** The name in policies. */
  readonly name: string
  /** The member of the intent. */
  readonly from: string
  /** Its value when the request leaves it out. */
  readonly absent?: unknown
  readonly convert?: (value: unknown) => unknown
}

/** The API's own default (U-otp-default). */
export const DEFAULT_OTP_LENGTH = 9

const rawPayload: readonly ParamRow[] = [
  { name: 'hash_function', from: 'hashFunction' },
  { name: 'encoding', from: 'encoding' },
]
const userId: readonly ParamRow[] = [{ name: 'user_id', from: 'userId' }]
const targetPublicKey: readonly ParamRow[] = [{ name: 'target_public_key', from: 'targetPublicKey' }]
const otpLength: readonly ParamRow[] = [{ name: 'otp_length', from: 'otpLength', absent: DEFAULT_OTP_LENGTH }]
const session: readonly ParamRow[] = [{ name: 'session_profile_id', from: 'sessionProfileId', absent: '' }]
const endpointId: readonly ParamRow[] = [{ name: 'endpoint_id', from: 'endpointId' }]
const spark = (name: string, from: string): readonly ParamRow[] => [
  { name: 'sign_with', from: 'signWith' },
  { name, from, convert: sparkValue },
]

/** By activity type without its prefix. */
export const exposedParams: Readonly<Record<string, readonly ParamRow[]>> = {
  SIGN_RAW_PAYLOAD: rawPayload,
  SIGN_RAW_PAYLOAD_V2: rawPayload,
  SIGN_RAW_PAYLOADS: rawPayload,
  SIGN_TRANSACTION_V2: [{ name: 'type', from: 'type' }],
  DELETE_USERS: [{ name: 'user_ids', from: 'userIds' }],
  CREATE_API_KEYS: userId,
  CREATE_API_KEYS_V2: userId,
  DELETE_API_KEYS: [...userId, { name: 'api_key_ids', from: 'apiKeyIds' }],
  EXPORT_WALLET: targetPublicKey,
  EXPORT_WALLET_ACCOUNT: targetPublicKey,
  EXPORT_PRIVATE_KEY: targetPublicKey,
  UPDATE_WALLET: [{ name: 'wallet_id', from: 'walletId' }],
  INIT_OTP_AUTH_V2: otpLength,
  INIT_OTP_AUTH_V3: otpLength,
  OTP_LOGIN: session,
  OTP_LOGIN_V2: session,
  STAMP_LOGIN: session,
  OAUTH_LOGIN: session,
  UPDATE_WEBHOOK_ENDPOINT: endpointId,
  DELETE_WEBHOOK_ENDPOINT: endpointId,
  SPARK_SIGN_FROST: spark('signatures', 'signatures'),
  SPARK_PREPARE_TRANSFER: spark('transfer', 'transfer'),
  SPARK_CLAIM_TRANSFER: spark('claim', 'claim'),
  SPARK_PREPARE_LIGHTNING_RECEIVE: spark('lightning_receive', 'lightningReceive'),
}

/** The names of the parameters that policies may read of an activity type. */
export function paramNames(type: string): readonly string[] {
  return rowsOf(type).map(({ name }) => name)
}

/** By type, with what each type's name begins with and without. */
const rowsByType = new Map(
  Object.entries(exposedParams).flatMap(([name, rows]) => [
    [name, rows],
    [`ACTIVITY_TYPE_${name}`, rows],
  ]),
)
const NO_ROWS: readonly ParamRow[] = []

function rowsOf(type: string): readonly ParamRow[] {
  return rowsByType.get(activityRow(type)?.type ?? type) ?? NO_ROWS
}

/** Projects the intent of a request into what policies read as `activity.params`; a parameter left out is missing. */
export function activityParams(type: string, intent: object): Record<string, unknown> {
  const params: Record<string, unknown> = {}
  const members = intent as Readonly<Record<string, unknown>>
  for (const { name: param, from, absent, convert } of rowsOf(type)) {
    const given = Object.hasOwn(members, from) ? members[from] : undefined
    const value = given === undefined || given === null ? absent : convert === undefined ? given : convert(given)
    if (value !== undefined) params[param] = value
  }
  return params
}

/**
 * What policies read of parameters that are given by their names in policies, as in a file of cases: those that the type
 * exposes, and the defaults of those that are left out.
 */
export function exposedOnly(
  type: string,
  params: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    rowsOf(type).flatMap(({ name, absent }) => {
      const value = (Object.hasOwn(params, name) ? params[name] : undefined) ?? absent
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Member names in snake case; of a key derivation, the variant that is set (docs/protocol/policies.md#fields). */
function sparkValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sparkValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      snakeCase(name),
      /derivation$/i.test(name) ? derivation(member) : sparkValue(member),
    ]),
  )
}

function derivation(value: unknown): unknown {
  const variants = sparkValue(value)
  if (typeof variants !== 'object' || variants === null || Array.isArray(variants)) return variants
  const [type = ''] = Object.entries(variants).flatMap(([name, member]) => (member == null ? [] : [name]))
  return { type, ...variants }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
