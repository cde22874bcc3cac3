import type { PolicySet } from '../analysis/index.ts'
import { apiKeyFacts, type User } from '../authority/index.ts'
import type { World } from '../scenarios/index.ts'

/** The policies of definitions with their people, to be compared. */
export function policySetOf({ policies, users, quorum, wallets }: World): PolicySet {
  const people = Object.values(users).map(withCredential)
  return { policies, organization: { users: people, rootQuorum: quorum }, wallets: Object.values(wallets) }
}

/** A user without a credential gets one later: the definitions of policies need not name any. */
function withCredential(user: User): User {
  if (user.credentials.length > 0) return user
  const facts = apiKeyFacts({ id: `${user.id} credential`, userId: user.id, type: 'P256', publicKey: '' })
  return { ...user, credentials: [{ name: 'api key', facts }] }
}
