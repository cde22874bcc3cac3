import { difference, indexLookAlikes } from '../../diagnostics/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { type Actual, type Address, formatAddress, idsIn, type KindName, scopedNames } from '../../resources/index.ts'

/** A name that an activity gives, or somebody's or something's that it is about, beside another that looks like it. */
export interface LookAlikeView {
  readonly kind: KindName
  readonly name: string
  readonly like: Address
  /** In words: `only blanks differ`. */
  readonly difference: string
}

/** The members of intents that name something, and what they name. */
const NAMES: Readonly<Record<string, KindName>> = {
  userName: 'user',
  receiverUserName: 'user',
  userTagName: 'tag',
  newUserTagName: 'tag',
  policyName: 'policy',
  walletName: 'wallet',
  privateKeyName: 'privateKey',
  privateKeyTagName: 'privateKeyTag',
  newPrivateKeyTagName: 'privateKeyTag',
  subOrganizationName: 'subOrganization',
}

/** What `name` and `label` mean, by the type of the activity. */
const OF_TYPE: readonly (readonly [type: RegExp, member: string, kind: KindName])[] = [
  [/_WEBHOOK_ENDPOINT/, 'name', 'webhook'],
  [/_SMART_CONTRACT_INTERFACE/, 'label', 'smartContractInterface'],
  [/_INVITATIONS?/, 'receiverUserName', 'invitation'],
]

/**
 * What a voter may take for something else: names that an activity gives, the names of what it refers to by an id, and those of
 * who asked for it and who voted, each beside what lives under a name that looks like it.
 */
export function lookAlikesOf(
  activity: Pick<Wire.Activity, 'type' | 'intent' | 'votes'>,
  { resources }: Pick<Actual, 'resources'>,
): readonly LookAlikeView[] {
  const index = indexLookAlikes(scopedNames(resources))
  const byId = new Map(resources.map((resource) => [resource.id, resource]))
  const mentioned = [...new Set(idsIn(JSON.stringify(activity.intent)))].flatMap((id) => byId.get(id) ?? [])
  const named = (kind: KindName, name: string) => ({ kind, name, address: formatAddress(kind, name) })
  const subjects = [
    ...namesIn(activity.intent, activity.type).map(({ kind, name }) => named(kind, name)),
    ...mentioned.map(({ kind, name, address }) => ({ kind, name, address })),
    ...activity.votes.map(({ user }) => named('user', user.userName)),
  ]
  const found = scopedNames(subjects).flatMap(({ scope, name, of: { kind } }) => {
    const like = index.find({ scope, name })
    return like ? [{ kind, name, like: like.of.address, difference: difference(name, like.name) }] : []
  })
  return found.filter((one, at) => found.findIndex(({ kind, name }) => kind === one.kind && name === one.name) === at)
}

/** Every name that an intent gives, at any depth. */
export function namesIn(intent: unknown, type: string): readonly { readonly kind: KindName; readonly name: string }[] {
  const own = Object.fromEntries(OF_TYPE.flatMap(([of, member, kind]) => (of.test(type) ? [[member, kind]] : [])))
  const kindOf = (member: string) => own[member] ?? (Object.hasOwn(NAMES, member) ? NAMES[member] : undefined)
  const walk = (value: unknown): readonly { readonly kind: KindName; readonly name: string }[] => {
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([member, one]) => {
      const kind = kindOf(member)
      return kind !== undefined && typeof one === 'string' ? [{ kind, name: one }] : walk(one)
    })
  }
  return walk(intent)
}
