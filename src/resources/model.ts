import type { Span } from '../diagnostics/index.ts'

/**
 * The kinds of resources, in the order in which they are shown: how many names follow the kind in an address, and the kind
 * that the names but the last lead to. What else a new kind takes: CONTRIBUTING.md, "Add a kind of resource".
 */
export const ADDRESSES = {
  organization: { names: 0 },
  rootQuorum: { names: 0 },
  feature: { names: 1 },
  ipAllowlist: { names: 0 },
  tag: { names: 1 },
  user: { names: 1 },
  apiKey: { names: 2, parent: 'user' },
  apiKeyIpAllowlist: { names: 2, parent: 'apiKey' },
  authenticator: { names: 2, parent: 'user' },
  oauthProvider: { names: 2, parent: 'user' },
  mfaPolicy: { names: 2, parent: 'user' },
  invitation: { names: 1 },
  oauth2Credential: { names: 1 },
  authProxy: { names: 0 },
  policy: { names: 1 },
  privateKeyTag: { names: 1 },
  privateKey: { names: 1 },
  wallet: { names: 1 },
  walletAccount: { names: 2, parent: 'wallet' },
  smartContractInterface: { names: 1 },
  webhook: { names: 1 },
  subOrganization: { names: 1 },
} as const satisfies Readonly<Record<string, { readonly names: 0 | 1 | 2; readonly parent?: string }>>
export type KindName = keyof typeof ADDRESSES
export const KINDS = Object.keys(ADDRESSES) as readonly KindName[]

/**
 * The stable name of a resource: `policy.treasury`, `apiKey.alice.laptop`, `rootQuorum` (a kind of which there is one
 * has no name part). A part that is not made of letters, digits, `_` and `-` is written as `["…"]` with JSON escapes:
 * `walletAccount.treasury["m/44'/60'/0'/0/0 ethereum"]`. Made and read by `formatAddress` and `parseAddress` alone.
 */
export type Address = string & { readonly __brand?: 'Address' }

/** Stands for the live id of another resource: `${tag.treasury}`. */
export interface Reference {
  readonly $ref: Address
}

/** A text with references in it, such as a policy's condition: `wallet.id == '${wallet.treasury}'`. */
export interface TemplateText {
  readonly $text: readonly (string | Reference)[]
}

/** The value of a field: JSON in which a reference or a text with references may stand wherever a value may. */
export type Value =
  | null
  | boolean
  | number
  | string
  | Reference
  | TemplateText
  | readonly Value[]
  | { readonly [member: string]: Value }

/**
 * One managed thing, desired or actual. Desired fields hold references; actual fields hold the raw live ids. A field
 * that a definition leaves out is absent from a desired resource: it is not managed and never compared.
 */
export interface Resource {
  readonly address: Address
  readonly kind: KindName
  /** The name within its kind and parent: the last part of the address; for a kind of which there is one, its kind. */
  readonly name: string
  /** `user.alice` of `apiKey.alice.laptop`. */
  readonly parent?: Address
  readonly fields: Readonly<Record<string, Value>>
  /** Actual only: the live id. Kinds without an id of their own (quorum, feature, organization) use their name. */
  readonly id?: string
  /** Actual only: the live id of its parent. */
  readonly parentId?: string
  /** Actual only, of a credential, a wallet account or the authentication proxy: what the API tells of it that no definition holds. */
  readonly known?: {
    /** Milliseconds since the epoch. */
    readonly expiresAt?: number
    readonly publicKey?: string
    /** Of a wallet account. */
    readonly address?: string
    /** The user that the proxy acts as. */
    readonly userId?: string
  }
  /** Desired only: `delete: true` was written; the live thing is to be deleted. */
  readonly tombstone?: boolean
  /** Desired only: the former name, when the definition says `renamedFrom`. */
  readonly renamedFrom?: string
  /** Desired only: where its name is written, and each field's value. */
  readonly span?: Span
  readonly fieldSpans?: Readonly<Record<string, Span>>
}

/** The desired state: the content of definitions. */
export interface Desired {
  /** The name under `organization:`; the folder's own name for the organization, used in addresses and output. */
  readonly organization: string
  /** From `id:`; which live organization this is. */
  readonly organizationId: string
  readonly resources: readonly Resource[]
  /** Kinds whose undeclared live things are deleted (`manage: all`); all others leave them alone. */
  readonly manageAll: ReadonlySet<KindName>
  /** The largest share of a kind that one plan may delete, in percent; for others the guard's own. */
  readonly deleteLimits?: Readonly<Partial<Record<KindName, number>>>
  /** Addresses that are handed back: they stay live, are managed no longer, and nothing of theirs is deleted. */
  readonly forget?: readonly Address[]
  /** The desired state of nested folders, by name. */
  readonly subOrganizations?: readonly SubOrganization[]
  /** SHA-256 of the canonical form of everything above but spans: equal for any order of files, folders and keys. */
  readonly digest: string
}

/**
 * What a nested folder asks for. Its `organization` is its name in the API as well, and which live one it is is found by
 * that. One that is to be deleted asks for a tombstone of itself and nothing else.
 */
export type SubOrganization = Omit<Desired, 'organizationId' | 'subOrganizations'>

/** The actual state, read all or nothing. */
export interface Actual {
  readonly organizationId: string
  readonly organizationName: string
  readonly resources: readonly Resource[]
  /** Kinds of which nothing was read: the service cannot tell of them, or nobody asked. They are not known to be empty. */
  readonly unread?: readonly KindName[]
  /** The acting user: the one who reads and would submit. */
  readonly actor: { readonly userId: string; readonly userName: string; readonly publicKey: string }
}
