import { apiKey } from './api-key.ts'
import { feature } from './feature.ts'
import type { ResourceKind } from './kind.ts'
import type { KindName } from './model.ts'
import { organization } from './organization.ts'
import { policy } from './policy.ts'
import { rootQuorum } from './root-quorum.ts'
import { tag } from './tag.ts'
import { user } from './user.ts'
import { wallet } from './wallet.ts'
import { walletAccount } from './wallet-account.ts'

/** The catalogue: one row a kind, in the order of `KINDS`. */
export const kinds: Readonly<Record<KindName, ResourceKind>> = {
  organization,
  rootQuorum,
  feature,
  tag,
  user,
  apiKey,
  policy,
  wallet,
  walletAccount,
}
