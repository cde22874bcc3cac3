/**
 * OAuth: the providers that are known by name, the exchange of their codes, and the issuer that this service is for their
 * users. Knows no activity. Tokens of other issuers are verified by `oidc`.
 */
export { createOauth2Exchange } from './authenticate.ts'
export { createTokenIssuer, type TokenIssuer } from './issuer.ts'
export {
  createVouching,
  type IssuerSettings,
  issuerOf,
  PROVIDER_NAMES,
  type ProviderName,
  type ProviderUrls,
} from './providers.ts'
