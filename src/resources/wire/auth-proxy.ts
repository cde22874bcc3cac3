import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { isPlainRecord } from '../value.ts'
import { takeRecord, takeText, type WireRecord } from './record.ts'

/** What is offered where nothing was said (docs/protocol/auth-proxy.md#settings). */
export const DEFAULT_METHODS = ['email', 'sms', 'passkey', 'wallet'] as const

/** The settings by their names in definitions: the API's name, and the value where nothing was said. */
const SETTINGS: readonly (readonly [field: string, member: string, standard: Value])[] = [
  ['origins', 'allowedOrigins', ['*']],
  ['methods', 'allowedAuthMethods', DEFAULT_METHODS],
  ['walletKit', 'walletKitSettings', {}],
  ['sessionSeconds', 'sessionExpirationSeconds', 900],
  ['codeSeconds', 'otpExpirationSeconds', 300],
  ['verificationTokenSeconds', 'verificationTokenExpirationSeconds', 3_600],
  ['codeLength', 'otpLength', 9],
  ['codeAlphanumeric', 'otpAlphanumeric', true],
  ['email', 'emailCustomizationParams', {}],
  ['emailTemplateId', 'emailAuthTemplateId', ''],
  ['codeTemplateId', 'otpTemplateId', ''],
  ['smsTemplate', 'smsCustomizationParams', ''],
  ['sendFrom', 'sendFromEmailAddress', ''],
  ['senderName', 'sendFromEmailSenderName', ''],
  ['replyTo', 'replyToEmailAddress', ''],
  ['contactsNeedProof', 'verificationTokenRequiredForGetAccountPii', false],
  ['socialLinkingClientIds', 'socialLinkingClientIds', []],
  ['captcha', 'captchaEnabled', false],
]

/**
 * The authentication proxy out of its completed activities, newest first: no query tells of it. Nothing where it is off. Each
 * setting is what the newest activity that names it has set; an empty one went back to its default.
 */
export function fromWire(activities: readonly WireRecord[]): Resource | undefined {
  let id: string | undefined
  let userId: string | undefined
  let isSwitched = false
  const members: Record<string, unknown> = {}
  for (const activity of activities) {
    const type = takeText(activity, 'type', 'activity')
    if (type === 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG') {
      const intent = takeRecord(activity['intent'], '`intent` of an activity')['updateAuthProxyConfigIntent']
      for (const [member, value] of Object.entries(takeRecord(intent, 'the intent of an activity'))) {
        if (value !== null && !Object.hasOwn(members, member)) members[member] = value
      }
    } else if (!isSwitched) {
      isSwitched = true
      const result = takeRecord(activity['result'], '`result` of an activity')['enableAuthProxyResult']
      // Its own, not that of its user, who may stand in definitions too: no two addresses share an id.
      if (result === undefined || result === null) continue
      id = takeText(activity, 'id', 'activity')
      userId = takeText(takeRecord(result, 'the result of an activity'), 'userId', 'result')
    }
  }
  if (id === undefined) return undefined
  const kind = 'authProxy'
  const read = SETTINGS.map(([field, member, standard]) => [field, fromMember(field, members[member]) ?? standard])
  const known = userId === undefined ? {} : { known: { userId } }
  return { address: formatAddress(kind), kind, name: kind, id, ...known, fields: Object.fromEntries(read) }
}

/** The parameters of `update_auth_proxy_config`: every setting that is known, so that the newest activity tells of all. */
export function toIntent({ fields }: Resource): Value {
  const members = SETTINGS.flatMap(([field, member]) => {
    const value = fields[field]
    if (value === undefined) return []
    return [[member, field === 'smsTemplate' ? { template: value } : value] as const]
  })
  return Object.fromEntries(members)
}

function fromMember(field: string, value: unknown): Value | undefined {
  const one =
    field === 'smsTemplate' && isPlainRecord(value as Value) ? (value as { template?: Value }).template : value
  return one === undefined || isEmpty(one) ? undefined : withoutEmpty(one as Value)
}

/** Lists that the API writes where there was none say nothing. */
function withoutEmpty(value: Value): Value {
  if (!isPlainRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => !isEmpty(member)))
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isEmpty)
  return value === '' || value === 0
}
