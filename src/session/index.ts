/**
 * Session: a person's own session with an organization: how they prove who they are (a passkey in their browser, a code by mail
 * or SMS, an OpenID provider), how that logs them in, and where the key of the session is kept until it expires. Knows no command: what to ask and how to
 * show it is its caller's.
 * Relies on client and stamp; the private key of a session leaves this room only as a `Secret`.
 */

export { type CodeProof, proveByCode } from './by-code.ts'
export { type OidcProof, proveByOidc } from './by-oidc.ts'
export { type NewPasskey, type PasskeyPurpose, proveByPasskey, registerPasskey } from './by-passkey.ts'
export { checkProxy, type ProxyFinding } from './check-proxy.ts'
export { sessionCodes } from './codes.ts'
export { openSessions, type Session, type Sessions } from './kept.ts'
export { createLoginProxy, type LoginProxy } from './login-proxy.ts'
export type { PinnedKeys } from './proof.ts'
export { type LoginPlace, type Proof, stampLogin } from './stamped-login.ts'
