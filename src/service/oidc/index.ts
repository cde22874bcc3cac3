/**
 * OIDC: verifies identity tokens against the keys that their issuers publish.
 */
export { createDocumentFetch, type DocumentRequest, type FetchDocument, NotAnswered } from './fetch-document.ts'
export { type OidcIdentity, readIdentity, type Voucher } from './identity.ts'
export { createOidcVerifier, type OidcVerifier, type OwnIssuer, readVerifiedIdentity } from './verifier.ts'
