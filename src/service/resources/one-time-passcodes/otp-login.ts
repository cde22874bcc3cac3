import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { checkLoginKey, issueSession } from '../../login/index.ts'
import { plainToken } from '../../readings.ts'
import type { UserRow } from '../../store/index.ts'
import {
  checkClientSignature,
  consumeVerificationToken,
  OTP_TYPES,
  readVerificationToken,
  requireUnused,
  type VerificationClaims,
} from '../../verification/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { keepVerifiedContact, requireFeature, requireUserWithContact } from '../users/contacts.ts'

/** `otp_login`: a person who has proved a contact is logged in as its user (docs/protocol/one-time-passcodes.md#logging-in). */
function otpLogin({
  takesPlain,
}: {
  readonly takesPlain: boolean
}): TypedHandler<Wire.OtpLoginIntent, Wire.OtpLoginResult> {
  async function read(context: HandlerContext, intent: Wire.OtpLoginIntent): Promise<[VerificationClaims, UserRow]> {
    const { verificationToken: token, clientSignature, publicKey } = intent
    const claims = await readVerificationToken(context, token)
    await requireUnused(context.tx, claims, context.organizationId)
    if (claims.isPlain && !takesPlain) throw plainToken()
    // Without a key the token is whose it is given to; a signature that nobody could have made is not passed over.
    if (claims.publicKey !== undefined || clientSignature !== undefined || !takesPlain)
      checkClientSignature(clientSignature, { claims, token, usage: { type: 'login', publicKey } })
    const { feature } = OTP_TYPES[claims.verificationType]
    await requireFeature(context, feature)
    return [claims, await requireUserWithContact(context, claims.verificationType, claims.contact)]
  }
  return {
    async validate(context, intent) {
      if (intent.publicKey === '') throw apiError('missingField', 'publicKey')
      const [, user] = await read(context, intent)
      await checkLoginKey(context, user, { kind: 'CREDENTIAL_TYPE_LOGIN', ...intent })
    },
    facts: async (context, intent) => ({ targetUserId: (await read(context, intent))[1].id }),
    async execute(context, intent) {
      const [claims, user] = await read(context, intent)
      await consumeVerificationToken(context, claims)
      await keepVerifiedContact(context, user.id, claims)
      return { session: await issueSession(context, user, intent) }
    },
  }
}

export const otpLoginHandlers = {
  ACTIVITY_TYPE_OTP_LOGIN: otpLogin({ takesPlain: true }),
  ACTIVITY_TYPE_OTP_LOGIN_V2: otpLogin({ takesPlain: false }),
} satisfies HandlerRows
