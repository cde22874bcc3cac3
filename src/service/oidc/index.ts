/**
 * OIDC: verifies identity tokens against the keys that their issuers publish.
 */
export { createDocumentFetch } from './fetch-document.ts'
export type { OidcIdentity } from './identity.ts'
export { createOidcVerifier, type OidcVerifier, readVerifiedIdentity } from './verifier.ts'
