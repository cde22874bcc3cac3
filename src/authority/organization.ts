import type { Approver, CredentialFacts, PolicyContext, Voter } from '../policy/index.ts'
import { apiKeyFacts, type Credential, isExpired } from './credentials.ts'
import { type Factor, factorOf, type MfaPolicy } from './mfa.ts'

/** A user as authority sees them. */
export interface User {
  readonly id: string
  readonly name: string
  readonly email?: string | undefined
  /** Ids of tags. */
  readonly tags: readonly string[]
  /** In the order in which one is taken where nobody says which. */
  readonly credentials: readonly Credential[]
  /** What the votes of this user need besides. */
  readonly mfaPolicies: readonly MfaPolicy[]
}

export type RootQuorum = NonNullable<PolicyContext['rootQuorum']>

/** Everybody there is. */
export interface Organization {
  readonly users: readonly User[]
  readonly rootQuorum: RootQuorum
}

/**
 * What policies read of a user. Unstated: what `alias` of an approver is (docs/protocol/policies.md#fields). The API has no other short name of a user than the
 * user's name, so it is that. Tags are in the order of their ids.
 */
export function approverOf({ id, name, email, tags }: Omit<User, 'credentials' | 'mfaPolicies'>): Approver {
  return { id, tags: tags.toSorted(), alias: name, ...(email === undefined ? {} : { email }) }
}

/** Everybody who could approve at this moment: users with a credential that is not expired, by name; namesakes with their id. */
export function votersOf({ users }: Pick<Organization, 'users'>, nowMs: number): readonly Voter[] {
  return Object.entries(usersByName(users)).flatMap(([name, user]): readonly Voter[] => {
    const credentials = standingCredentials(user, nowMs)
    return credentials.length === 0 ? [] : [{ name, approver: approverOf(user), credentials }]
  })
}

/** What a user can vote with at this moment, the one first that is taken where nobody says which. */
export function standingCredentials({ credentials }: User, nowMs: number): readonly CredentialFacts[] {
  return credentials.filter((one) => !isExpired(one, nowMs)).map(({ facts }) => facts)
}

/** Users by what they are called, sorted: their name, for namesakes with the id. */
export function usersByName(users: readonly User[]): Readonly<Record<string, User>> {
  const namesakes = Map.groupBy(users, ({ name }) => name)
  const named = users.map((user): [string, User] => [
    namesakes.get(user.name)!.length > 1 ? `${user.name} (${user.id})` : user.name,
    user,
  ])
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
}

/** Somebody who acts, by one credential. */
export interface ActingVoter {
  readonly name: string
  readonly approver: Approver
  readonly credential: CredentialFacts
  /** What a stamp by the credential proves. */
  readonly factor: Factor
  readonly mfaPolicies: readonly MfaPolicy[]
}

/** The acting user, with the credential in use: also one that is not known, such as the key of a session. */
export function actingVoter(
  { users }: Pick<Organization, 'users'>,
  actor: { readonly userId: string; readonly publicKey: string },
): ActingVoter | undefined {
  const user = users.find(({ id }) => id === actor.userId)
  if (!user) return undefined
  const publicKey = actor.publicKey.toLowerCase()
  const mine = user.credentials.find(({ facts }) => facts.public_key?.toLowerCase() === publicKey)
  const unknown = () => apiKeyFacts({ id: publicKey, userId: user.id, type: 'P256', publicKey })
  return {
    name: user.name,
    approver: approverOf(user),
    credential: mine?.facts ?? unknown(),
    // A key that is not listed is that of a session; of which profile is not known.
    factor: mine
      ? factorOf(mine.facts, 'SIGNATURE_SCHEME_TK_API_P256')
      : { type: 'AUTHENTICATION_TYPE_SESSION', ids: [] },
    mfaPolicies: user.mfaPolicies,
  }
}
