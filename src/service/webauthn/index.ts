/**
 * WebAuthn: authenticator models, and the origins that an organization lets in.
 */
export { modelOf } from './models.ts'
export { readAllowedOrigins } from './origins.ts'
