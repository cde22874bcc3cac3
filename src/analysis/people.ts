import type { Approver, CredentialFacts } from '../policy/index.ts'
import type { KindName, Resource, Value } from '../resources/index.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** Somebody who can approve: a user with a credential. */
export interface Person {
  readonly name: string
  readonly approver: Approver
  /** One of their credentials, the first by name: which one they will use is theirs to choose. */
  readonly credential: CredentialFacts
}

/**
 * What lets a user in, in the order in which one is taken for theirs, and its type. Who comes from an OAuth provider votes
 * with a key of the session that they are given.
 */
const CREDENTIALS: Readonly<Partial<Record<KindName, (fields: Resource['fields']) => Partial<CredentialFacts>>>> = {
  apiKey: ({ curve, publicKey }) => ({ type: `API_KEY_${String(curve)}`, public_key: String(publicKey) }),
  authenticator: ({ credentialId }) => ({ type: 'WEBAUTHN_AUTHENTICATOR', credential_id: String(credentialId) }),
  oauthProvider: () => ({ type: 'OAUTH_KEY_P256' }),
}

const CREDENTIAL_KINDS = Object.keys(CREDENTIALS) as readonly KindName[]

/** Everybody who could approve something in this state, by name. */
export function peopleOf(state: OrganizationState): readonly Person[] {
  const firsts = new Map<string, Resource>()
  for (const kind of CREDENTIAL_KINDS) {
    for (const one of thingsOf(state, kind)) {
      const first = firsts.get(one.parentId!)
      if (!first || (first.kind === kind && one.name < first.name)) firsts.set(one.parentId!, one)
    }
  }
  const users = thingsOf(state, 'user')
  const namesakes = Map.groupBy(users, ({ name }) => name)
  const people = users.flatMap((user): readonly Person[] => {
    const first = firsts.get(user.id!)
    if (!first) return []
    const name = namesakes.get(user.name)!.length > 1 ? `${user.name} (${user.id})` : user.name
    return [{ name, approver: approverOf(user), credential: factsOf(first) }]
  })
  return people.sort(byName)
}

/** The acting user with the credential in use; a credential that is not in the state is still the one in use. */
export function actingPerson(
  state: OrganizationState,
  actor: { readonly userId: string; readonly userName: string; readonly publicKey: string },
): Person | undefined {
  const user = thingsOf(state, 'user').find(({ id }) => id === actor.userId)
  if (!user) return undefined
  const mine = thingsOf(state, 'apiKey').find(
    ({ fields, parentId }) => parentId === user.id && fields['publicKey'] === actor.publicKey.toLowerCase(),
  )
  const credential = mine
    ? factsOf(mine)
    : { id: actor.publicKey, user_id: user.id!, type: 'CREDENTIAL_TYPE_API_KEY_P256', public_key: actor.publicKey }
  return { name: user.name, approver: approverOf(user), credential }
}

export function quorumOf(state: OrganizationState): {
  readonly userIds: readonly string[]
  readonly threshold: number
} {
  const [quorum] = thingsOf(state, 'rootQuorum')
  return { userIds: texts(quorum?.fields['users']), threshold: Number(quorum?.fields['threshold'] ?? 0) }
}

/** `alias` is the user's name: the API has no other short name of a user (docs/protocol/policies.md#fields: our reading). */
function approverOf({ id, name, fields }: Resource): Approver {
  const email = fields['email']
  return { id: id!, tags: texts(fields['tags']), alias: name, ...(typeof email === 'string' ? { email } : {}) }
}

function factsOf({ id, kind, parentId, fields }: Resource): CredentialFacts {
  const { type, ...more } = CREDENTIALS[kind]!(fields)
  return { id: id!, user_id: parentId!, type: `CREDENTIAL_TYPE_${type}`, ...more }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

function texts(value: Value | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter((one) => typeof one === 'string') : []
}
