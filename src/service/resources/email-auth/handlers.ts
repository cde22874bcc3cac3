/**
 * The older logins by e-mail, in which the key itself is mailed, encrypted to the one who asks for it
 * (docs/protocol/one-time-passcodes.md#logging-in-by-mail, #recovery).
 */
import { apiError, type Wire } from '../../../protocol/index.ts'
import type { ExecutionContext, HandlerContext } from '../../engine/index.ts'
import { checkCredentialBundle, issueCredentialBundle } from '../../login/index.ts'
import { recordMessage, writeBundleEmail } from '../../messages/index.ts'
import type { UserRow } from '../../store/index.ts'
import { normalizeContact } from '../../verification/index.ts'
import {
  addAuthenticators,
  checkAuthenticatorLimit,
  checkNewAuthenticators,
  toNewAuthenticator,
} from '../authenticators/new-authenticators.ts'
import { listAuthenticators } from '../authenticators/store.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { checkContact, forgetOldPasscodes } from '../one-time-passcodes/new-passcode.ts'
import { insertPasscode } from '../one-time-passcodes/store.ts'
import { requireUser } from '../require.ts'
import { requireFeature, requireUserWithContact } from '../users/contacts.ts'

/** How long a mailed key works that nobody asks to work longer. */
const DEFAULT_SECONDS = 900

interface MailedKey extends Omit<Wire.EmailAuthIntent, 'emailCustomization'> {
  readonly emailCustomization?: Wire.EmailCustomizationParams
}

const KINDS = {
  login: { feature: 'FEATURE_NAME_EMAIL_AUTH', kind: 'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256' },
  recovery: { feature: 'FEATURE_NAME_EMAIL_RECOVERY', kind: 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256' },
} as const

type Purpose = keyof typeof KINDS

async function findUser(context: HandlerContext, email: string): Promise<UserRow> {
  return requireUserWithContact(context, 'OTP_TYPE_EMAIL', normalizeContact('OTP_TYPE_EMAIL', email))
}

async function checkMailedKey(context: HandlerContext, intent: MailedKey, purpose: Purpose): Promise<void> {
  await requireFeature(context, KINDS[purpose].feature)
  const contact = normalizeContact('OTP_TYPE_EMAIL', intent.email)
  await findUser(context, intent.email)
  checkCredentialBundle(intent)
  writeMail(context, intent, purpose, 'x')
  await checkContact(context, contact)
}

function writeMail({ messages }: HandlerContext, intent: MailedKey, purpose: Purpose, bundle: string) {
  const to = normalizeContact('OTP_TYPE_EMAIL', intent.email)
  const seconds = Number(intent.expirationSeconds || DEFAULT_SECONDS)
  return writeBundleEmail(messages, to, { ...intent, ...intent.emailCustomization }, { bundle, seconds, purpose })
}

async function mailKey(
  context: ExecutionContext,
  intent: MailedKey,
  purpose: Purpose,
): Promise<{ readonly userId: string; readonly apiKeyId: string }> {
  const { tx, organizationId, now } = context
  const user = await findUser(context, intent.email)
  const { targetPublicKey, apiKeyName: name, expirationSeconds, invalidateExisting } = intent
  const { kind } = KINDS[purpose]
  const key = { kind, targetPublicKey, name, expirationSeconds, invalidateExisting }
  const { apiKeyId, expiresAt, credentialBundle } = await issueCredentialBundle(context, user, key)
  const mail = writeMail(context, intent, purpose, credentialBundle)
  await recordMessage(context, mail, expiresAt)
  context.afterCommit('wakeMessenger')
  await forgetOldPasscodes(context)
  // No code, and dead from the start: it counts against the limits of its contact.
  await insertPasscode(tx, {
    id: context.newId(),
    organization_id: organizationId,
    flow: 'AUTH',
    otp_type: 'OTP_TYPE_EMAIL',
    contact: mail.to,
    user_identifier: null,
    user_id: user.id,
    code_hash: null,
    sealed_keys: null,
    failed_attempts: 0,
    created_at: now,
    expires_at: now,
  })
  return { userId: user.id, apiKeyId }
}

const emailAuth: TypedHandler<MailedKey, Wire.EmailAuthResult> = {
  validate: (context, intent) => checkMailedKey(context, intent, 'login'),
  facts: async (context, { email }) => ({ targetUserId: (await findUser(context, email)).id }),
  execute: (context, intent) => mailKey(context, intent, 'login'),
}

const initRecovery: TypedHandler<MailedKey, Wire.InitUserEmailRecoveryResult> = {
  validate: (context, intent) => checkMailedKey(context, intent, 'recovery'),
  facts: async (context, { email }) => ({ targetUserId: (await findUser(context, email)).id }),
  async execute(context, intent) {
    const { userId } = await mailKey(context, intent, 'recovery')
    return { userId }
  },
}

/** `recover_user`: a passkey for the user who is recovered. Unstated: nobody recovers another user. */
const recoverUser: TypedHandler<Wire.RecoverUserIntent, Wire.RecoverUserResult> = {
  async validate(context, { userId, authenticator }) {
    if (userId.toLowerCase() !== context.submitterId) throw apiError('notAuthorized')
    const user = await requireUser(context, userId)
    await checkNewAuthenticators(context, [toNewAuthenticator(authenticator)], { originsOf: context.organizationId })
    const { length: present } = await listAuthenticators(context.tx, context.organizationId, [user.id])
    checkAuthenticatorLimit({ present, added: 1 })
  },
  facts: async ({ submitterId }) => ({ targetUserId: submitterId }),
  async execute(context, { authenticator }) {
    return {
      authenticatorId: await addAuthenticators(context, context.submitterId, [toNewAuthenticator(authenticator)]),
    }
  },
}

export const emailAuthHandlers = {
  ACTIVITY_TYPE_EMAIL_AUTH: emailAuth,
  ACTIVITY_TYPE_EMAIL_AUTH_V2: emailAuth,
  ACTIVITY_TYPE_EMAIL_AUTH_V3: emailAuth,
  ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY: initRecovery,
  ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2: initRecovery,
  ACTIVITY_TYPE_RECOVER_USER: recoverUser,
} satisfies HandlerRows
