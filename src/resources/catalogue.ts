import { apiKey } from './api-key.ts'
import { authProxy } from './auth-proxy.ts'
import { authenticator } from './authenticator.ts'
import { feature } from './feature.ts'
import { invitation } from './invitation.ts'
import { apiKeyIpAllowlist, ipAllowlist } from './ip-allowlist.ts'
import type { ResourceKind } from './kind.ts'
import { mfaPolicy } from './mfa-policy.ts'
import type { KindName } from './model.ts'
import { oauthProvider } from './oauth-provider.ts'
import { oauth2Credential } from './oauth2-credential.ts'
import { organization } from './organization.ts'
import { policy } from './policy.ts'
import { privateKey } from './private-key.ts'
import { privateKeyTag } from './private-key-tag.ts'
import { rootQuorum } from './root-quorum.ts'
import { smartContractInterface } from './smart-contract-interface.ts'
import { subOrganization } from './sub-organization.ts'
import { tag } from './tag.ts'
import { user } from './user.ts'
import { wallet } from './wallet.ts'
import { walletAccount } from './wallet-account.ts'
import { webhook } from './webhook.ts'

/** The catalogue: one row a kind, in the order of `KINDS`. */
export const kinds: Readonly<Record<KindName, ResourceKind>> = {
  organization,
  rootQuorum,
  feature,
  ipAllowlist,
  tag,
  user,
  apiKey,
  apiKeyIpAllowlist,
  authenticator,
  oauthProvider,
  mfaPolicy,
  invitation,
  oauth2Credential,
  authProxy,
  policy,
  privateKeyTag,
  privateKey,
  wallet,
  walletAccount,
  smartContractInterface,
  webhook,
  subOrganization,
}
