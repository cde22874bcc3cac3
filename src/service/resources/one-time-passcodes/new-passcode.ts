/** Making a code and sending it (docs/protocol/one-time-passcodes.md#codes, #limits). */
import { sha256, uncompressP256 } from '../../../crypto/index.ts'
import { concatBytes, decodeHex, encodeHex } from '../../../encoding/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { signBundle } from '../../bundles/index.ts'
import type { ExecutionContext, HandlerContext } from '../../engine/index.ts'
import { createKeyPair } from '../../keys/index.ts'
import { type Message, recordMessage, writeCodeEmail, writeCodeSms } from '../../messages/index.ts'
import { AUTH_PROXY_CODES, OTP_DEFAULTS, OTP_LIMITS, OTP_SANDBOX } from '../../readings.ts'
import { isOtpType, normalizeContact, type OtpType } from '../../verification/index.ts'
import { isAuthProxyUser } from '../auth-proxy/store.ts'
import { drawCode, hashCode } from './code.ts'
import { deleteOldPasscodes, endPasscodes, insertPasscode, listPasscodes, type PasscodeOwner } from './store.ts'

/** How a code will be given back: in clear, encrypted to a key of the service, or for a credential bundle. */
export type PasscodeFlow = 'PLAIN' | 'ENCRYPTED' | 'AUTH'

/** The fields that all activities that ask for a code share. */
export type PasscodeIntent = Omit<Wire.InitOtpIntentV3, 'appName' | 'emailCustomization'> & {
  readonly appName?: string
  readonly emailCustomization?: Wire.EmailCustomizationParams
}

interface Wanted {
  readonly otpType: OtpType
  readonly contact: string
  readonly length: number
  readonly alphanumeric: boolean
  readonly seconds: number
  readonly isSandbox: boolean
  readonly userIdentifier: string | null
}

/** Checks what a code is asked for, and whether now: for `validate`. Throws `ApiError`. */
export async function checkNewPasscode(context: HandlerContext, intent: PasscodeIntent): Promise<void> {
  const wanted = readWanted(context, intent)
  writeMessage(context, intent, wanted, '0'.repeat(wanted.length))
  await checkInitiations(context, wanted)
}

/** Throws the published refusal where messages were asked for too often, for one contact. */
export async function checkContact(context: HandlerContext, contact: string): Promise<void> {
  await refuseMany(context, { contact }, OTP_LIMITS.contact)
}

/** As `checkContact`, and for one end user. */
async function checkInitiations(context: HandlerContext, { contact, userIdentifier }: Wanted): Promise<void> {
  const ofProxy = await readProxyLimits(context)
  if (userIdentifier !== null)
    await refuseMany(context, { user_identifier: userIdentifier }, ofProxy?.identifier ?? OTP_LIMITS.identifier)
  if (ofProxy) await refuseMany(context, { contact }, ofProxy.contact)
  await checkContact(context, contact)
}

/** The limits of an authentication proxy where it asks: what it calls an end user is a source address. */
async function readProxyLimits({ tx, organizationId, submitterId, codesPerAddress }: HandlerContext) {
  if (!(await isAuthProxyUser(tx, organizationId, submitterId))) return undefined
  const { most, inMs: ms } = AUTH_PROXY_CODES
  return { identifier: { count: codesPerAddress, ms }, contact: { count: most, ms } }
}

async function refuseMany(
  { tx, organizationId, now }: HandlerContext,
  owner: PasscodeOwner,
  { count, ms }: { readonly count: number; readonly ms: number },
): Promise<void> {
  if ((await listPasscodes(tx, organizationId, owner, now - ms)).length >= count) throw apiError('maxOtpInitiated')
}

/** Makes a code, ends those that are too many beside it, and has it sent. */
export async function createPasscode(
  context: ExecutionContext,
  intent: PasscodeIntent,
  { flow, userId }: { readonly flow: PasscodeFlow; readonly userId?: string },
): Promise<{ readonly otpId: string; readonly otpEncryptionTargetBundle: string }> {
  const { tx, organizationId, now, randomBytes } = context
  const wanted = readWanted(context, intent)
  const { otpType, contact, userIdentifier, isSandbox, seconds } = wanted
  await forgetOldPasscodes(context)
  await endSurplus(context, { contact })
  const mostOfIdentifier = (await readProxyLimits(context))?.identifier.count ?? 0
  if (userIdentifier !== null) await endSurplus(context, { user_identifier: userIdentifier }, mostOfIdentifier)
  const id = context.newId()
  const code = isSandbox ? OTP_SANDBOX.code : drawCode(randomBytes, wanted)
  const hashKey = randomBytes(32)
  const target = flow === 'ENCRYPTED' ? createKeyPair(randomBytes) : undefined
  const keys = concatBytes(hashKey, target ? decodeHex(target.privateKey) : new Uint8Array())
  const expiresAt = now + seconds * 1_000
  await insertPasscode(tx, {
    id,
    organization_id: organizationId,
    flow,
    otp_type: otpType,
    contact,
    user_identifier: userIdentifier,
    user_id: userId ?? null,
    code_hash: hashCode(hashKey, code),
    sealed_keys: context.seal(keys, passcodePlace(id)),
    failed_attempts: 0,
    created_at: now,
    expires_at: expiresAt,
  })
  hashKey.fill(0)
  if (!isSandbox) {
    await recordMessage(context, writeMessage(context, intent, wanted, code), expiresAt)
    context.afterCommit('wakeMessenger')
  }
  if (!target) return { otpId: id, otpEncryptionTargetBundle: '' }
  const targetPublic = uncompressP256(target.publicKey)!
  const bundle = await signBundle(context, { targetPublic, organizationId, otpId: id }, 'tls-fetcher')
  return { otpId: id, otpEncryptionTargetBundle: bundle }
}

/** Deletes what is neither a code that works nor counts against a limit. */
export async function forgetOldPasscodes({ tx, organizationId, now }: HandlerContext): Promise<void> {
  const longest = Math.max(OTP_LIMITS.identifier.ms, OTP_LIMITS.contact.ms)
  await deleteOldPasscodes(tx, organizationId, { expiredAt: now, createdAt: now - longest })
}

async function endSurplus(
  { tx, organizationId, now }: HandlerContext,
  owner: PasscodeOwner,
  allowed = 0,
): Promise<void> {
  const since = now - OTP_DEFAULTS.mostSeconds * 1_000
  const rows = await listPasscodes(tx, organizationId, owner, since)
  const live = rows.filter((row) => row.code_hash !== null && row.expires_at > now)
  const surplus = live.slice(0, Math.max(0, live.length + 1 - Math.max(OTP_LIMITS.live, allowed)))
  await endPasscodes(
    tx,
    organizationId,
    surplus.map(({ id }) => id),
  )
}

function readWanted({ messages }: HandlerContext, intent: PasscodeIntent): Wanted {
  const { otpType, alphanumeric = OTP_DEFAULTS.alphanumeric } = intent
  if (!isOtpType(otpType)) throw apiError('invalidField', 'otpType', 'must be OTP_TYPE_EMAIL or OTP_TYPE_SMS')
  const contact = normalizeContact(otpType, intent.contact)
  const length = intent.otpLength || OTP_DEFAULTS.length
  const isSandbox = messages.sandbox && !alphanumeric && length === OTP_SANDBOX.code.length && isSandboxContact(contact)
  const { userIdentifier = '' } = intent
  return {
    otpType,
    contact,
    length,
    alphanumeric,
    seconds: readSeconds(intent.expirationSeconds, OTP_DEFAULTS.seconds, OTP_DEFAULTS.mostSeconds),
    isSandbox,
    // Opaque, and perhaps an address: nobody needs to read it again.
    userIdentifier: userIdentifier === '' ? null : encodeHex(sha256(userIdentifier)),
  }
}

function isSandboxContact(contact: string): boolean {
  return OTP_SANDBOX.contacts.some((one) => one === contact)
}

/** Reads a number of seconds as requests have it; an empty text is none. Throws the refusal of one beyond the bounds. */
export function readSeconds(text: string | undefined, byDefault: number, most: number): number {
  if (text === undefined || text === '') return byDefault
  const seconds = /^[0-9]{1,10}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= most) return seconds
  throw apiError('invalidField', 'expirationSeconds', `must be from 1 to ${most}`)
}

/** Older versions name the app among the wishes for the e-mail. */
function writeMessage(
  { messages }: HandlerContext,
  intent: PasscodeIntent,
  { otpType, contact, seconds }: Wanted,
  code: string,
): Message {
  const { emailCustomization, smsCustomization } = intent
  const appName = intent.appName ?? emailCustomization?.appName
  if (otpType === 'OTP_TYPE_SMS') return writeCodeSms(contact, { appName, ...smsCustomization }, { code, seconds })
  return writeCodeEmail(messages, contact, { ...intent, ...emailCustomization, appName }, { code, seconds })
}

/** Where the keys of a code stand sealed. */
export function passcodePlace(id: string) {
  return { table: 'one_time_passcodes', id, column: 'sealed_keys' }
}
