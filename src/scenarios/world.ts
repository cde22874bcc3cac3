import type { SmartContractInterface } from '../chain/index.ts'
import type { LoadedDefinitions } from '../definitions/index.ts'
import type { Approver, CredentialFacts, PolicyText, Voter } from '../policy/index.ts'
import {
  type Actual,
  type Address,
  formatAddress,
  type KindName,
  type Resource,
  resolveValue,
  type Value,
} from '../resources/index.ts'
import { INTERFACE_TYPES, isInterfaceType } from './read-interfaces.ts'

/**
 * What scenarios are played in: policies and the people and things that they speak of, by name. Plain data, so that it
 * can be given to other threads.
 */
export interface World {
  readonly policies: readonly PolicyText[]
  readonly users: Readonly<Record<string, WorldUser>>
  readonly wallets: Readonly<Record<string, { readonly id: string; readonly label: string }>>
  /** Of contracts; of several for one address the last counts. */
  readonly interfaces: readonly SmartContractInterface[]
  readonly quorum: { readonly userIds: readonly string[]; readonly threshold: number }
  /** Ids by address. */
  readonly ids: Readonly<Record<Address, string>>
  /** What to call an id whose looks say nothing. */
  readonly names: Readonly<Record<string, string>>
}

export interface WorldUser {
  readonly approver: Approver
  /** API keys by name. */
  readonly credentials: Readonly<Record<string, CredentialFacts>>
}

/**
 * The world as definitions propose it; undefined when they have errors. What has no id yet goes by its own reference, so
 * that an expression reads as it was written and a value in a trace says what it is: `wallet.id` is `${wallet.treasury}`.
 */
export function worldOfDefinitions({ desired, expressions }: LoadedDefinitions): World | undefined {
  if (!desired) return undefined
  const resources = desired.resources.filter(({ tombstone }) => !tombstone)
  const ids = Object.fromEntries(resources.map(({ address }) => [address, standIn(address)]))
  const lookup = (address: Address) => ids[address] ?? standIn(address)
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

/** The world of a live organization; policies go by their names, and ids are shown with theirs. */
export function worldOfActual({ resources }: Actual): World {
  const policies = resources
    .filter(({ kind }) => kind === 'policy')
    .map(({ name, fields }) => {
      const expressions = ['consensus', 'condition', 'time'].flatMap((field) =>
        typeof fields[field] === 'string' ? [[field, fields[field]]] : [],
      )
      return { id: name, name, effect: effectOf(fields), ...Object.fromEntries(expressions) }
    })
  const names = resources.flatMap(({ id, address }) => (id === undefined || id === address ? [] : [[id, address]]))
  return makeWorld(resources, policies, Object.fromEntries(names))
}

/** The text of a reference. A quote in a name would end the text around it, so it is written as JSON may write it. */
export function standIn(address: Address): string {
  return `\${${address.replaceAll("'", '\\u0027')}}`
}

/** Everybody who could approve: users with a credential. */
export function votersOf({ users }: World): readonly Voter[] {
  return Object.entries(users).flatMap(([name, { approver, credentials }]) => {
    const [credential] = Object.values(credentials)
    return credential === undefined ? [] : [{ name, approver, credential }]
  })
}

function makeWorld(
  resources: readonly Resource[],
  policies: readonly PolicyText[],
  names: Readonly<Record<string, string>>,
): World {
  const ofKind = (kind: KindName) =>
    resources.filter((one) => one.kind === kind).sort((a, b) => (a.name < b.name ? -1 : 1))
  const keys = ofKind('apiKey')
  const [quorum] = ofKind('rootQuorum')
  return {
    policies,
    users: Object.fromEntries(
      ofKind('user').map((user) => [
        user.name,
        {
          approver: approverOf(user),
          credentials: Object.fromEntries(
            keys.filter(({ parentId }) => parentId === user.id).map((key) => [key.name, factsOf(key)]),
          ),
        },
      ]),
    ),
    wallets: Object.fromEntries(ofKind('wallet').map(({ name, id }) => [name, { id: id!, label: name }])),
    interfaces: ofKind('smartContractInterface').flatMap(interfaceOf),
    quorum: {
      userIds: texts(quorum?.fields['users']),
      threshold: Number(quorum?.fields['threshold'] ?? 0),
    },
    ids: Object.fromEntries(resources.flatMap(({ address, id }) => (id === undefined ? [] : [[address, id]]))),
    names,
  }
}

function interfaceOf({ fields: { address, type, interface: json } }: Resource): readonly SmartContractInterface[] {
  const word = String(type)
  if (!isInterfaceType(word) || typeof address !== 'string' || typeof json !== 'string') return []
  return [{ address, type: INTERFACE_TYPES[word], json }]
}

/** `alias` is the user's name: the API has no other short name of a user (docs/protocol/policies.md#fields: our reading). */
function approverOf({ id, name, fields }: Resource): Approver {
  const { email, tags } = fields
  return { id: id!, tags: texts(tags), alias: name, ...(typeof email === 'string' ? { email } : {}) }
}

function factsOf({ id, parentId, fields: { curve, publicKey } }: Resource): CredentialFacts {
  return {
    id: id!,
    user_id: parentId!,
    type: `CREDENTIAL_TYPE_API_KEY_${String(curve)}`,
    ...(typeof publicKey === 'string' ? { public_key: publicKey } : {}),
  }
}

/** The id that a name of a kind has in this world. */
export function idOf({ ids }: World, kind: KindName, name: string): string | undefined {
  return ids[formatAddress(kind, name)]
}

function effectOf(fields: Resource['fields']): PolicyText['effect'] {
  return fields['effect'] === 'deny' ? 'EFFECT_DENY' : 'EFFECT_ALLOW'
}

function texts(value: Value | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter((one) => typeof one === 'string') : []
}
