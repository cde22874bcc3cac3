import { apiError, type Json, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { plainToken } from '../../readings.ts'
import {
  checkClientSignature,
  isSameContact,
  OTP_TYPES,
  type VerificationClaims,
  verifyVerificationToken,
} from '../../verification/index.ts'

/** The proof that a sign-up comes with: that one of its root users has a contact, and signs what is signed up. */
export interface SignUp {
  readonly token: string
  readonly clientSignature: Wire.ClientSignature | undefined
  readonly rootUsers: readonly SignedUpUser[]
  /** Whether a token of the older protocol is taken. */
  readonly takesPlain: boolean
}

type SignedUpUser = Wire.RootUserParamsV4 | Wire.RootUserParamsV5

/**
 * Checks the proof of a sign-up. Unstated: of several root users the contact must be one's alone, and the signature is over the
 * credentials of all of them. Throws `ApiError`.
 * @returns the words of the token, and which of the root users has its contact
 */
export async function readSignUp(
  context: HandlerContext,
  { token, clientSignature, rootUsers, takesPlain }: SignUp,
): Promise<{ readonly claims: VerificationClaims; readonly userIndex: number }> {
  const claims = await verifyVerificationToken(context, token)
  if (claims.isPlain && !takesPlain) throw plainToken()
  const { verificationType: type, contact } = claims
  const contactOf = (user: SignedUpUser) => (OTP_TYPES[type].column === 'email' ? user.userEmail : user.userPhoneNumber)
  const holders = rootUsers.filter((user) => isSameContact(type, contactOf(user), contact))
  const [holder] = holders
  if (!holder || holders.length > 1)
    throw apiError('requestInvalid', 'invalid verification token: its contact is not that of exactly one root user')
  if (claims.publicKey !== undefined || clientSignature !== undefined || !takesPlain) {
    const all = (member: 'apiKeys' | 'authenticators' | 'oauthProviders') =>
      rootUsers.flatMap((user) => user[member] as readonly Json[])
    checkClientSignature(clientSignature, {
      claims,
      token,
      usage: {
        type: 'signup',
        email: holder.userEmail,
        phoneNumber: holder.userPhoneNumber,
        apiKeys: all('apiKeys'),
        authenticators: all('authenticators'),
        oauthProviders: all('oauthProviders'),
      },
    })
  }
  return { claims, userIndex: rootUsers.indexOf(holder) }
}
