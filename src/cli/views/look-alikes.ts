import {
  addressDifference,
  addressesIn,
  difference,
  indexAddressLookAlikes,
  indexLookAlikes,
} from '../../look-alikes/index.ts'
import type { Wire } from '../../protocol/index.ts'
import {
  type Actual,
  type Address,
  formatAddress,
  idsOf,
  type KindName,
  kinds,
  parseAddress,
  type Resource,
  scopedNames,
  textsOf,
} from '../../resources/index.ts'

/** A name that an activity gives, or somebody's or something's that it is about, beside another that looks like it. */
export interface LookAlikeView {
  readonly kind: KindName | 'address'
  /** Of an address: itself. */
  readonly name: string
  /** Of an address: who has the other, or which policy names it. */
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
  [/_WALLET_ACCOUNT|_CREATE_WALLET$/, 'name', 'walletAccount'],
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
  const index = indexLookAlikes<Subject>(scopedNames(resources))
  const byId = new Map(resources.map((resource) => [resource.id, resource]))
  const mentioned = [...new Set(idsOf(activity.intent))].flatMap((id) => byId.get(id) ?? [])
  const given = namesIn(activity.intent, activity.type)
  // The wallet of accounts is named by its id, made with them, or that of the account.
  const wallet =
    mentioned.find(({ kind }) => kind === 'wallet')?.address ??
    mentioned.find(({ kind }) => kind === 'walletAccount')?.parent ??
    formatAddress('wallet', given.find(({ kind }) => kind === 'wallet')?.name ?? '')
  const named = (kind: KindName, name: string): Subject => {
    const holders = kinds[kind].parent === 'wallet' ? parseAddress(wallet)!.names : []
    const { labelledBy } = kinds[kind].form
    const fields = labelledBy === undefined ? {} : { [labelledBy]: name }
    return { kind, name, address: formatAddress(kind, ...holders, name), fields }
  }
  const subjects = [
    ...given.map(({ kind, name }) => named(kind, name)),
    ...mentioned,
    ...activity.votes.map(({ user }) => named('user', user.userName)),
  ]
  const found = scopedNames(subjects).flatMap((one) => {
    const { scope, name, of } = one
    const like = index.find({ scope, name })
    // Names of one request are compared with each other, too.
    index.add(one)
    return like ? [{ kind: of.kind, name, like: like.of.address, difference: difference(name, like.name) }] : []
  })
  const distinct = found.filter(
    (one, at) => found.findIndex(({ kind, name }) => kind === one.kind && name === one.name) === at,
  )
  return [...distinct, ...addressesAlike(activity.intent, resources)]
}

type Subject = Pick<Resource, 'kind' | 'name' | 'address' | 'fields'>

/** Addresses of an intent beside those of wallets, of contract interfaces and of live policies that begin and end alike. */
function addressesAlike(intent: unknown, resources: Actual['resources']): readonly LookAlikeView[] {
  const index = indexAddressLookAlikes(
    resources.flatMap(({ address: of, known, fields, kind }) => {
      const held = known?.address === undefined ? [] : [known.address]
      const written = kind === 'policy' || kind === 'smartContractInterface' ? addressesOf(fields) : []
      return [...held, ...written].map((address) => ({ address, of }))
    }),
  )
  return addressesOf(intent).flatMap((address): readonly LookAlikeView[] => {
    const like = index.find(address)
    index.add({ address, of: 'another address in it' })
    return like ? [{ kind: 'address', name: address, like: like.of, difference: addressDifference(address, like) }] : []
  })
}

/** The addresses in the texts of a value, each once. */
function addressesOf(value: unknown): readonly string[] {
  return [...new Set(textsOf(value).flatMap(addressesIn))]
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
