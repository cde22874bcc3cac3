/**
 * Stamp: makes the proof of authorship that every request carries, and reads and verifies it at the other end. Loads
 * private keys from where people keep them, and runs the commands that do. Does not know whose key it is: that is the service's to look up.
 * Relies on crypto for the curves; never re-serialises a body.
 */

export { type AttestedStamp, nonceOfKey } from './attested-stamp.ts'
export { type AuthenticatorData, parseAuthenticatorData } from './authenticator-data.ts'
export { stampCodes } from './codes.ts'
export { StampError, type StampFault } from './error.ts'
export { writePrivateKey } from './key-file.ts'
export { type LoadedKey, parseKeyText } from './key-text.ts'
export { type KeyReference, type LoadKeyOptions, loadKeyText, loadPrivateKey } from './load-key.ts'
export {
  type Headers,
  readStamp,
  type SessionStamp,
  STAMP_HEADER_NAMES,
  type Stamp,
  type StampKind,
  type Stamps,
} from './read.ts'
export { runCommand, withoutSecrets } from './run-command.ts'
export { isScheme, SCHEMES, type SchemeRow, type SignatureScheme, schemesOf } from './schemes.ts'
export type { CommandKey } from './sign-command.ts'
export type { KeeperKey } from './sign-key.ts'
export { createApiKeyStamper, type Stamper, type StampHeader, type StampingKey, stampAndWipe } from './stamper.ts'
export { verifyStamp, verifyStampInPool } from './verify.ts'
export { verifyWebAuthnStamp, type WebAuthnExpectation } from './verify-webauthn.ts'
export {
  type AssertionExpectation,
  verifyAssertion,
  type WebAuthnFault,
  type WebAuthnVerdict,
} from './webauthn-assertion.ts'
export type { WebAuthnStamp } from './webauthn-stamp.ts'
