import { uncompressP256 } from '../../../crypto/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { readEncryptedBundle } from '../../bundles/index.ts'
import type { ExecutionContext } from '../../engine/index.ts'
import { issueVerificationToken, type OtpType, TOKEN_SECONDS } from '../../verification/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { usePasscode } from './attempt.ts'
import { readSeconds } from './new-passcode.ts'
import type { OneTimePasscodeRow } from './store.ts'

const secondsOf = ({ expirationSeconds }: { readonly expirationSeconds?: string }) =>
  readSeconds(expirationSeconds, TOKEN_SECONDS.default, TOKEN_SECONDS.most)

/** The code in clear, and a key that the token is to be bound to, if the caller names one. */
const verifyOtp: TypedHandler<Wire.VerifyOtpIntent, Wire.VerifyOtpResult> = {
  async validate(_, intent) {
    secondsOf(intent)
    const { publicKey = '' } = intent
    if (publicKey !== '' && uncompressP256(publicKey) === undefined)
      throw apiError('invalidField', 'publicKey', 'must be a P-256 public key in hex')
  },
  async execute(context, intent) {
    const { otpId, otpCode: code, publicKey } = intent
    const { passcode } = await usePasscode(context, otpId, { flow: 'PLAIN', given: { code } })
    return tokenOf(context, passcode, { publicKey: publicKey || undefined, seconds: secondsOf(intent), isPlain: true })
  },
}

/** The code and the client's key, encrypted to the key that was made with the code. */
const verifyEncryptedOtp: TypedHandler<Wire.VerifyOtpIntentV2, Wire.VerifyOtpResult> = {
  async validate(_, intent) {
    secondsOf(intent)
    readEncryptedBundle(intent.encryptedOtpBundle, 'encryptedOtpBundle')
  },
  async execute(context, intent) {
    const { otpId, encryptedOtpBundle: encryptedBundle } = intent
    const { passcode, publicKey } = await usePasscode(context, otpId, { flow: 'ENCRYPTED', given: { encryptedBundle } })
    return tokenOf(context, passcode, { publicKey, seconds: secondsOf(intent), isPlain: false })
  },
}

async function tokenOf(
  context: ExecutionContext,
  { otp_type, contact }: OneTimePasscodeRow,
  { publicKey, seconds, isPlain }: { publicKey: string | undefined; seconds: number; isPlain: boolean },
): Promise<Wire.VerifyOtpResult> {
  const proved = { verificationType: otp_type as OtpType, contact, publicKey, expirationSeconds: seconds, isPlain }
  return { verificationToken: await issueVerificationToken(context, proved) }
}

export const verifyOtpHandlers = {
  ACTIVITY_TYPE_VERIFY_OTP: verifyOtp,
  ACTIVITY_TYPE_VERIFY_OTP_V2: verifyEncryptedOtp,
} satisfies HandlerRows
