/**
 * WebAuthn: attestations of passkeys, authenticator models, and the origins that an organization lets in.
 */
export { type Registration, type RegistrationParams, verifyRegistration } from './attestation.ts'
export { modelOf } from './models.ts'
export { readAllowedOrigins } from './origins.ts'
