import { apiError, type Wire } from '../../../protocol/index.ts'
import { CountedRefusal, type HandlerContext } from '../../engine/index.ts'
import { checkCredentialBundle, issueCredentialBundle } from '../../login/index.ts'
import type { UserRow } from '../../store/index.ts'
import { isOtpType, isSameContact, normalizeContact, OTP_TYPES, type OtpType } from '../../verification/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireFeature, requireUserWithContact } from '../users/contacts.ts'
import { listUsers } from '../users/store.ts'
import { usePasscode } from './attempt.ts'
import { checkNewPasscode, createPasscode, type PasscodeIntent } from './new-passcode.ts'

async function findUser(context: HandlerContext, { otpType, contact }: PasscodeIntent): Promise<UserRow> {
  if (!isOtpType(otpType)) throw apiError('invalidField', 'otpType', 'must be OTP_TYPE_EMAIL or OTP_TYPE_SMS')
  await requireFeature(context, OTP_TYPES[otpType].feature)
  return requireUserWithContact(context, otpType, normalizeContact(otpType, contact))
}

/** The oldest of the three protocols: it writes to users alone, so its submitter learns who is one. */
const initOtpAuth: TypedHandler<PasscodeIntent, Wire.InitOtpAuthResultV2> = {
  async validate(context, intent) {
    await findUser(context, intent)
    await checkNewPasscode(context, intent)
  },
  facts: async (context, intent) => ({ targetUserId: (await findUser(context, intent)).id }),
  async execute(context, intent) {
    const { id: userId } = await findUser(context, intent)
    const { otpId } = await createPasscode(context, intent, { flow: 'AUTH', userId })
    return { otpId }
  },
}

const otpAuth: TypedHandler<Wire.OtpAuthIntent, Wire.OtpAuthResult> = {
  async validate(_, intent) {
    checkCredentialBundle(intent)
  },
  async execute(context, intent) {
    const { otpId, otpCode: code, targetPublicKey, apiKeyName: name, expirationSeconds, invalidateExisting } = intent
    const { passcode } = await usePasscode(context, otpId, { flow: 'AUTH', given: { code } })
    const type = passcode.otp_type as OtpType
    const { column, feature } = OTP_TYPES[type]
    await requireFeature(context, feature)
    const [user] = await listUsers(context.tx, context.organizationId, [passcode.user_id!])
    // The user may have been deleted since, or have another contact.
    if (!user || !isSameContact(type, user[column], passcode.contact))
      throw new CountedRefusal(apiError('invalidOtpCode'), async () => {})
    const { apiKeyId, credentialBundle } = await issueCredentialBundle(context, user, {
      kind: 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
      targetPublicKey,
      name,
      expirationSeconds,
      invalidateExisting,
    })
    return { userId: user.id, apiKeyId, credentialBundle }
  },
}

export const otpAuthHandlers = {
  ACTIVITY_TYPE_INIT_OTP_AUTH: initOtpAuth,
  ACTIVITY_TYPE_INIT_OTP_AUTH_V2: initOtpAuth,
  ACTIVITY_TYPE_INIT_OTP_AUTH_V3: initOtpAuth,
  ACTIVITY_TYPE_OTP_AUTH: otpAuth,
} satisfies HandlerRows
