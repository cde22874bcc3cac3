/**
 * Resources: one file a kind. What a user, a policy or a wallet is, how it is told from another, compared, referred to
 * and turned into activities. Generic code elsewhere reads these rows and knows no kind by name.
 */
export { formatAddress, parentOf, parseAddress, parseNames, walletAccountName } from './address.ts'
export { API_KEY_CURVES, type ApiKeyCurve } from './api-key.ts'
export { kinds } from './catalogue.ts'
export { codes } from './codes.ts'
export { FEATURES, isFeature, loginFeaturesOf, POLICY_TIME, shortFeatureName, wireFeatureName } from './feature.ts'
export { bringsOf, foundedBy, foundingFields } from './founding.ts'
export type {
  ActivityTemplate,
  ChangeInput,
  Comparison,
  DefinitionForm,
  FieldRow,
  JsonSchema,
  Power,
  ResourceKind,
} from './kind.ts'
export { idsOf, mentionsOf, textsOf } from './mentions.ts'
export {
  type Actual,
  type Address,
  type Desired,
  KINDS,
  type KindName,
  type Reference,
  type Resource,
  type SubOrganization,
  type TemplateText,
  type Value,
} from './model.ts'
export { scopedNames } from './named.ts'
export { organizationOf, saysWhoThereIs } from './people.ts'
export { claimsOf, type TokenClaims } from './token-claims.ts'
export {
  isPlainRecord,
  isReference,
  isTemplateText,
  type Lookup,
  listOf,
  nameValue,
  referencesOf,
  referTo,
  resolveValue,
  sameValue,
} from './value.ts'
export { fromWire as apiKeyFromWire } from './wire/api-key.ts'
export { fromWire as authProxyFromWire } from './wire/auth-proxy.ts'
export { fromWire as authenticatorFromWire } from './wire/authenticator.ts'
export { fromWire as featureFromWire } from './wire/feature.ts'
export { fromWire as invitationFromWire } from './wire/invitation.ts'
export { fromWire as ipAllowlistFromWire } from './wire/ip-allowlist.ts'
export { fromWire as mfaPolicyFromWire } from './wire/mfa-policy.ts'
export { fromWire as oauthProviderFromWire } from './wire/oauth-provider.ts'
export { fromWire as organizationFromWire } from './wire/organization.ts'
export { fromWire as policyFromWire, normalExpression } from './wire/policy.ts'
export {
  recordsOf,
  takeList,
  takeOptionalList,
  takeOptionalText,
  takeRecord,
  takeText,
  takeTexts,
  type WireRecord,
} from './wire/record.ts'
export { fromWire as rootQuorumFromWire } from './wire/root-quorum.ts'
export { fromWire as smartContractInterfaceFromWire } from './wire/smart-contract-interface.ts'
export { fromWire as tagFromWire } from './wire/tag.ts'
export { fromWire as userFromWire } from './wire/user.ts'
export { fromWire as walletFromWire } from './wire/wallet.ts'
export { fromWire as walletAccountFromWire } from './wire/wallet-account.ts'
export { fromWire as webhookFromWire } from './wire/webhook.ts'
