/**
 * What a parent gives a sub-organization when it makes it (docs/protocol/organizations.md#sub-organizations): the
 * members of its root quorum with their keys and passkeys, the quorum's threshold, one wallet with its accounts, and
 * its login features. All else is made from inside, afterwards.
 */
import { kinds } from './catalogue.ts'
import type { Address, Resource, Value } from './model.ts'
import { DISABLED_BY } from './sub-organization.ts'
import { isReference, listOf } from './value.ts'
import * as user from './wire/user.ts'
import * as wallet from './wire/wallet.ts'

/** The desired resources of a sub-organization that come with its creation; of several wallets the first by name. */
export function bringsOf(resources: readonly Resource[]): readonly Resource[] {
  const wanted = resources.filter(({ tombstone }) => !tombstone)
  const members = new Set(
    listOf(quorumIn(wanted)?.fields['users']).flatMap((one) => (isReference(one) ? one.$ref : [])),
  )
  const wallets = wanted.filter(({ kind }) => kind === 'wallet').toSorted(byAddress)
  const holders = new Set([...members, ...wallets.slice(0, 1).map(({ address }) => address)])
  return wanted
    .filter(
      (one) =>
        one.kind === 'rootQuorum' ||
        holders.has(one.address) ||
        (one.parent !== undefined &&
          holders.has(one.parent) &&
          kinds[one.kind].rides &&
          kinds[one.kind].uncreatable?.(one) === undefined),
    )
    .toSorted(byAddress)
}

/** The fields of a sub-organization, for its parent, out of what its own definitions say. */
export function foundingFields(resources: readonly Resource[]): Readonly<Record<string, Value>> {
  const brings = bringsOf(resources)
  const heldBy = (address: Address) => brings.filter(({ parent }) => parent === address)
  const first = brings.find(({ kind }) => kind === 'wallet')
  const rootUsers = brings
    .filter(({ kind }) => kind === 'user')
    .map((one): Value => {
      const { userTags: _, ...params } = user.toIntent(one, heldBy(one.address)) as Readonly<Record<string, Value>>
      return params
    })
  const off = resources.filter(({ kind, tombstone, name }) => kind === 'feature' && tombstone && DISABLED_BY[name])
  return {
    rootUsers,
    rootQuorumThreshold: quorumIn(brings)?.fields['threshold'] ?? 1,
    ...(first ? { wallet: wallet.toIntent(first, heldBy(first.address)) } : {}),
    ...(off.length > 0 ? { disabledLogins: off.map(({ name }) => name).toSorted() } : {}),
  }
}

/**
 * The resources of a sub-organization right after its creation by these definitions; `idOf` gives a placeholder for
 * each id.
 */
export function foundedBy(
  { organization, resources }: { readonly organization: string; readonly resources: readonly Resource[] },
  idOf: (address: Address) => string,
): readonly Resource[] {
  const off = new Set(listOf(foundingFields(resources)['disabledLogins']))
  const logins = Object.keys(DISABLED_BY).filter((name) => !off.has(name))
  return [
    live({ address: 'organization', kind: 'organization', name: 'organization', fields: { name: organization } }),
    ...logins.map((name) => live({ address: `feature.${name}`, kind: 'feature', name, fields: { value: '' } }, name)),
    ...bringsOf(resources).map((one) =>
      one.kind === 'rootQuorum' ? live({ ...one, fields: resolved(one) }, one.kind) : live(one),
    ),
  ]

  function live(desired: Resource, id: string = idOf(desired.address)): Resource {
    const { address, kind, name, parent, fields } = desired
    return {
      address,
      kind,
      name,
      ...(parent === undefined ? {} : { parent, parentId: idOf(parent) }),
      // Its creation gives nobody a tag.
      fields: kind === 'user' ? { ...fields, tags: [] } : fields,
      id,
    }
  }

  function resolved({ fields }: Resource): Resource['fields'] {
    const members = listOf(fields['users']).map((one) => (isReference(one) ? idOf(one.$ref) : one))
    return { ...fields, users: members }
  }
}

function quorumIn(resources: readonly Resource[]): Resource | undefined {
  return resources.find(({ kind }) => kind === 'rootQuorum')
}

function byAddress(a: Resource, b: Resource): number {
  return a.address < b.address ? -1 : 1
}
