import { type Credential, loginFacts, type Organization, type User } from '../authority/index.ts'
import { kinds } from './catalogue.ts'
import { loginFeaturesOf } from './feature.ts'
import { KINDS, type KindName, type Resource } from './model.ts'
import { listOf } from './value.ts'
import { toMfaPolicy } from './wire/mfa-policy.ts'

/** Kinds of credentials, in the order in which one is taken for a user's where nobody says which. */
const CREDENTIAL_KINDS = KINDS.filter((kind) => kinds[kind].credential)

const KINDS_READ: ReadonlySet<KindName> = new Set([...CREDENTIAL_KINDS, 'user', 'mfaPolicy', 'feature', 'rootQuorum'])

/** Whether `organizationOf` reads it; it reads nothing else. */
export function saysWhoThereIs({ kind }: Pick<Resource, 'kind'>): boolean {
  return KINDS_READ.has(kind)
}

/** Who there is among resources whose references are resolved: users with all that lets them in, and the root quorum. */
export function organizationOf(resources: readonly Resource[]): Organization {
  const byKind = Map.groupBy(resources, ({ kind }) => kind)
  const heldBy = new Map<string, Credential[]>()
  for (const kind of CREDENTIAL_KINDS) {
    for (const one of (byKind.get(kind) ?? []).toSorted(byName)) {
      const credential = { name: one.name, facts: kinds[kind].credential!.facts(one), expiresAt: one.known?.expiresAt }
      const held = heldBy.get(one.parentId!)
      if (held) held.push(credential)
      else heldBy.set(one.parentId!, [credential])
    }
  }
  const mfaPolicies = Map.groupBy(byKind.get('mfaPolicy') ?? [], ({ parentId }) => parentId!)
  const features = new Set(byKind.get('feature')?.map(({ name }) => name))
  const [quorum] = byKind.get('rootQuorum') ?? []
  return {
    users: (byKind.get('user') ?? []).map((user) => ({
      ...userOf(user, heldBy.get(user.id!) ?? [], features),
      mfaPolicies: (mfaPolicies.get(user.id!) ?? []).map(toMfaPolicy),
    })),
    rootQuorum: {
      userIds: textsOf(quorum?.fields['users']),
      threshold: Number(quorum?.fields['threshold'] ?? 0),
    },
  }
}

function userOf(
  { id, name, fields }: Resource,
  held: readonly Credential[],
  features: ReadonlySet<string>,
): Omit<User, 'mfaPolicies'> {
  const email = fields['email']
  const byCode = loginFeaturesOf(fields).some((feature) => features.has(feature))
  return {
    id: id!,
    name,
    ...(typeof email === 'string' ? { email } : {}),
    tags: textsOf(fields['tags']),
    credentials: byCode ? [...held, { name: 'login by code', facts: loginFacts(id!, 'code') }] : held,
  }
}

function textsOf(value: Resource['fields'][string] | undefined): readonly string[] {
  return listOf(value).filter((one) => typeof one === 'string')
}

function byName(a: Resource, b: Resource): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
