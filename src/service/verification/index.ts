/**
 * Verification: what the service says to those who have proved a contact, and how they show that it was said to them. It knows
 * neither activities nor sessions.
 */
export { checkClientSignature, type TokenUsage } from './client-signature.ts'
export { isOtpType, isSameContact, normalizeContact, OTP_TYPES, type OtpType } from './contacts.ts'
export { writeJwt } from './jwt.ts'
export { insertUsedToken as useUpToken, isTokenUsed } from './store.ts'
export {
  consumeVerificationToken,
  issueVerificationToken,
  readVerificationToken,
  requireUnused,
  TOKEN_SECONDS,
  type TokenPlace,
  type VerificationClaims,
  verifyVerificationToken,
} from './verification-tokens.ts'
