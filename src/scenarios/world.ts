import { type RootQuorum, type User, usersByName, votersOf as votersAt } from '../authority/index.ts'
import type { SmartContractInterface } from '../chain/index.ts'
import type { LoadedDefinitions } from '../definitions/index.ts'
import type { PolicyText, Voter } from '../policy/index.ts'
import {
  type Actual,
  type Address,
  formatAddress,
  type KindName,
  organizationOf,
  type Resource,
  resolveValue,
} from '../resources/index.ts'
import { INTERFACE_TYPES, isInterfaceType } from './read-interfaces.ts'

/**
 * What scenarios are played in: policies and the people and things that they speak of, by name. Plain data, so that it
 * can be given to other threads.
 */
export interface World {
  readonly policies: readonly PolicyText[]
  /** By what they are called; namesakes with their id. */
  readonly users: Readonly<Record<string, User>>
  readonly wallets: Readonly<Record<string, { readonly id: string; readonly label: string }>>
  /** Of contracts; of several for one address the last counts. */
  readonly interfaces: readonly SmartContractInterface[]
  readonly quorum: RootQuorum
  /** Ids by address. */
  readonly ids: Readonly<Record<Address, string>>
  /** The shown name of an id. */
  readonly names: Readonly<Record<string, string>>
  /** When it was read, in nanoseconds since the epoch; of one that was not read from life, nothing. */
  readonly now?: bigint
}

/**
 * The world as definitions propose it; undefined when they have errors. What has no id yet goes by its own reference, so
 * that an expression reads as it was written and a value in a trace says what it is: `wallet.id` is `${wallet.treasury}`.
 */
export function worldOfDefinitions({ desired, expressions }: LoadedDefinitions): World | undefined {
  if (!desired) return undefined
  const resources = desired.resources.filter(({ tombstone }) => !tombstone)
  const ids = Object.fromEntries(resources.map(({ address }) => [address, referenceText(address)]))
  const lookup = (address: Address) => ids[address] ?? referenceText(address)
  const texts = new Map<Address, Record<string, string>>()
  for (const { address, field, fill } of expressions)
    texts.set(address, { ...texts.get(address), [field]: fill(lookup).text })
  const policies = resources
    .filter(({ kind }) => kind === 'policy')
    .map(({ address, name, fields }) => ({ id: name, name, effect: effectOf(fields), ...texts.get(address) }))
  return makeWorld(
    resources.map((resource) => ({
      ...resource,
      id: ids[resource.address]!,
      fields: resolveValue(resource.fields, ids) as Resource['fields'],
      ...(resource.parent === undefined ? {} : { parentId: lookup(resource.parent) }),
    })),
    policies,
    {},
  )
}

/** The world of a live organization at a time; policies go by their names, and ids are shown with theirs. */
export function worldOfActual({ resources }: Actual, nowMs: number): World {
  const policies = resources
    .filter(({ kind }) => kind === 'policy')
    .map(({ name, fields }) => {
      const expressions = ['consensus', 'condition', 'time'].flatMap((field) =>
        typeof fields[field] === 'string' ? [[field, fields[field]]] : [],
      )
      return { id: name, name, effect: effectOf(fields), ...Object.fromEntries(expressions) }
    })
  const names = resources.flatMap(({ id, address }) => (id === undefined || id === address ? [] : [[id, address]]))
  return { ...makeWorld(resources, policies, Object.fromEntries(names)), now: BigInt(nowMs) * 1_000_000n }
}

/** The text of a reference. A quote in a name would end the text around it, so it is written as JSON may write it. */
export function referenceText(address: Address): string {
  return `\${${address.replaceAll("'", '\\u0027')}}`
}

/** Everybody who could approve at this time, in nanoseconds since the epoch. */
export function votersOf({ users }: World, now: bigint): readonly Voter[] {
  return votersAt({ users: Object.values(users) }, Number(now / 1_000_000n))
}

function makeWorld(
  resources: readonly Resource[],
  policies: readonly PolicyText[],
  names: Readonly<Record<string, string>>,
): World {
  const wallets = resources.filter(({ kind }) => kind === 'wallet').toSorted(byName)
  const { users, rootQuorum } = organizationOf(resources)
  return {
    policies,
    users: usersByName(users),
    wallets: Object.fromEntries(wallets.map(({ name, id }) => [name, { id: id!, label: name }])),
    interfaces: interfacesOf(resources),
    quorum: rootQuorum,
    ids: Object.fromEntries(resources.flatMap(({ address, id }) => (id === undefined ? [] : [[address, id]]))),
    names,
  }
}

/** The interfaces of contracts among resources. */
export function interfacesOf(resources: readonly Resource[]): World['interfaces'] {
  return resources
    .filter(({ kind }) => kind === 'smartContractInterface')
    .toSorted(byName)
    .flatMap(interfaceOf)
}

function interfaceOf({ fields: { address, type, interface: json } }: Resource): readonly SmartContractInterface[] {
  const word = String(type)
  if (!isInterfaceType(word) || typeof address !== 'string' || typeof json !== 'string') return []
  return [{ address, type: INTERFACE_TYPES[word], json }]
}

function byName(a: Resource, b: Resource): number {
  return a.name < b.name ? -1 : 1
}

/** The id that a name of a kind has in this world. */
export function idOf({ ids }: World, kind: KindName, name: string): string | undefined {
  return ids[formatAddress(kind, name)]
}

function effectOf(fields: Resource['fields']): PolicyText['effect'] {
  return fields['effect'] === 'deny' ? 'EFFECT_DENY' : 'EFFECT_ALLOW'
}
