import type { Approver, CredentialFacts } from '../policy/index.ts'
import type { Resource, Value } from '../resources/index.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** Somebody who can approve: a user with a credential. */
export interface Person {
  readonly name: string
  readonly approver: Approver
  /** One of their credentials, the first by name: which one they will use is theirs to choose. */
  readonly credential: CredentialFacts
}

/** Everybody who could approve something in this state, by name. */
export function peopleOf(state: OrganizationState): readonly Person[] {
  const keys = new Map<string, Resource>()
  for (const key of thingsOf(state, 'apiKey')) {
    const first = keys.get(key.parentId!)
    if (!first || key.name < first.name) keys.set(key.parentId!, key)
  }
  const users = thingsOf(state, 'user')
  const bearers = Map.groupBy(users, ({ name }) => name)
  const people = users.flatMap((user): readonly Person[] => {
    const key = keys.get(user.id!)
    if (!key) return []
    const shared = bearers.get(user.name)!.length > 1
    return [
      { name: shared ? `${user.name} (${user.id})` : user.name, approver: approverOf(user), credential: factsOf(key) },
    ]
  })
  return people.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
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

/** `alias` is the user's name: the API has no other short name of a user (policy-language §5.1 leaves it open). */
function approverOf({ id, name, fields }: Resource): Approver {
  const email = fields['email']
  return { id: id!, tags: texts(fields['tags']), alias: name, ...(typeof email === 'string' ? { email } : {}) }
}

function factsOf({ id, parentId, fields }: Resource): CredentialFacts {
  return {
    id: id!,
    user_id: parentId!,
    type: `CREDENTIAL_TYPE_API_KEY_${String(fields['curve'])}`,
    public_key: String(fields['publicKey']),
  }
}

function texts(value: Value | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter((one) => typeof one === 'string') : []
}
