import type { CredentialFacts, PolicyField } from '../policy/index.ts'
import type { ActivityFamily, QueryName } from '../protocol/index.ts'
import type { Actual, Address, KindName, Resource, Value } from './model.ts'
import type { WireRecord } from './wire/record.ts'

/** A JSON Schema (2020-12), or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/**
 * How two values of a field are compared. `exact`: equal values; `set`: a list whose order and repetitions mean nothing;
 * `case-insensitive`: e-mail addresses, hex; `never`: used at creation or deletion only, or a mere label, and always
 * the same to a comparison.
 */
export type Comparison = 'exact' | 'set' | 'case-insensitive' | 'never'

/** How one field of a kind is written, compared, and what changing it means. */
export interface FieldRow {
  readonly compare: Comparison
  readonly meaning: string
  /** Why the field cannot be changed on what exists; a change of it is a diagnostic that says this. */
  readonly immutable?: string
  /** How a definition writes it; `title` says for people what is expected where there is a pattern. Absent for `name`, which is the key under which a definition stands. */
  readonly schema?: JsonSchema
  readonly required?: boolean
  /** The one form of a value that may be written in several. */
  readonly normal?: (value: Value) => Value
  /** The value of one that a definition leaves out. Without it, a field that was never written is not managed. */
  readonly absent?: Value
  /**
   * What a field that was managed is set back to when its definition leaves it out. Without it, or where it cannot be
   * changed, leaving it out needs a decision.
   */
  readonly cleared?: Value
  /** Its text, or each text in its list, names a resource of this kind: `alice` or `${user.alice}`. */
  readonly names?: KindName
  /** It is one of a policy's three expressions. */
  readonly expression?: PolicyField
  /** Taken from the field of this name of what holds it; a definition does not write it again. */
  readonly inherited?: true
  /** Its text is the path of a file beside the definition; the file's text is the value of the field named here. */
  readonly fileOf?: string
  /** How a value is shown and remembered where it is too long for either; different values stay different. */
  readonly brief?: (value: Value) => Value
}

/** Something wrong with a desired resource that its schema cannot say; about its name when no field is given. */
export interface FieldProblem {
  readonly field?: string
  /** Where inside the field: keys and indices, as far as the definition has them. */
  readonly at?: readonly (string | number)[]
  /** It is that none of these fields is there; nothing to say where one is written, however badly. */
  readonly missing?: readonly string[]
  readonly code: `resources/${string}`
  readonly message: string
  readonly help?: string
  /** A warning where the API may take it after all. @default 'error' */
  readonly severity?: 'error' | 'warning'
  /** What is written there may be a secret: no excerpt shows it. */
  readonly isHidden?: true
}

/** How definitions write the resources of a kind. */
export interface DefinitionForm {
  /** The key: of the top level, or of the parent's definition for a kind that has a parent. */
  readonly key: string
  /**
   * `map`: fields by name; `values`: the one field `value` by name, or
   * `true` for none, or `false` for a tombstone; `list`: entries that are named by their content; `one`: the fields
   * themselves, without a name; `value`: a single field, without a name; `folder`: no section, but a nested folder each.
   */
  readonly shape: 'map' | 'values' | 'list' | 'one' | 'value' | 'folder'
  /** Entries may say `renamedFrom: <old name>`. @default false */
  readonly renamable?: boolean
  /** The field by which people tell entries of a list apart; without it they tell them by what they say. */
  readonly labelledBy?: string
  /** The one form of a name that may be written in several. */
  readonly nameOf?: (written: string) => string
}

/**
 * An activity that carries changes of one kind and action. `parameters` are the activity's `parameters` with
 * references still in them; the planner fills in nothing itself.
 */
export interface ActivityTemplate {
  /** The activity type to submit, latest version. */
  readonly type: string
  /**
   * How many changes one activity carries: `all` of the plan's, all of those with the same `parent`, all of those about
   * the same other thing (`about`), or `one`. Changes that share an activity are given together, in address order.
   */
  readonly carries: 'all' | 'parent' | 'one' | { readonly about: string }
  /** Most changes in one activity. @default 100 */
  readonly most?: number
  readonly parameters: (changes: readonly ChangeInput[]) => Value
  /**
   * Where each new id stands in `activity.result`, e.g. `['createUsersResult', 'userIds', 0]`; none when the result
   * names no new id (wallet accounts, and API keys that ride in their user's creation: a later read finds those).
   */
  readonly produces?: (
    changes: readonly ChangeInput[],
  ) => readonly { readonly address: Address; readonly at: readonly (string | number)[] }[]
}

/** One change as an activity template sees it. */
export interface ChangeInput {
  readonly desired: Resource | undefined
  readonly actual: Resource | undefined
  /** Fields that differ, for an update. */
  readonly fields: readonly string[]
  /** Desired children that ride in their parent's creation (`rides`), e.g. the API keys of a new user. */
  readonly children: readonly Resource[]
  /** Which part of an update this is, in the kind's own terms, where several activities share one field (`split`). */
  readonly part?: Value
}

/**
 * What one change does to the power to act: `tightens` comes as soon as what it needs exists, `loosens` comes last,
 * so that no moment between is wider than both ends.
 */
export type Power = 'tightens' | 'neutral' | 'loosens'

/** One row of the resource catalogue: everything that loading, reading, comparing, ordering and batching need. */
export interface ResourceKind {
  readonly kind: KindName
  /** For people: `policy`, `policies`. */
  readonly one: string
  readonly many: string
  /** The kind whose resources hold this one (`user` for `apiKey`). */
  readonly parent?: KindName
  readonly form: DefinitionForm
  /** Fields by name. A desired or actual field without a row does not exist. */
  readonly fields: Readonly<Record<string, FieldRow>>
  /** Whether `${kind.name}` may stand for its id: it has one, and the activity that makes it answers with it. */
  readonly referable: boolean
  /** Deleting one needs `delete: true` in its definition even under `manage: all` (wallets, users). */
  readonly deleteNeedsTombstone: boolean
  /** Created together with its parent when both are new; then no activity of its own is needed. */
  readonly rides: boolean
  /**
   * The activities that change one, of any version, also those that no plan submits: a drift report finds its author among them. More than
   * those below that a plan submits: a wallet is imported too, and a key goes with its user.
   */
  readonly changedBy: readonly ActivityFamily[]
  /** What two resources of the same parent must share to be the same thing, besides an id: by default the name. */
  readonly identity: (resource: Resource) => string
  /**
   * By what two with different names are likely to be one thing that was renamed: an equal value of any of `fields`, one of `anyOf`
   * that both hold, or all of `allOf` and no others. @default all fields but the name
   */
  readonly alike?: {
    readonly fields?: readonly string[]
    readonly anyOf?: readonly KindName[]
    readonly allOf?: readonly KindName[]
  }
  /** Checks what its schema cannot say; fields of the right shape are given, others are absent. */
  readonly check?: (resource: Resource) => readonly FieldProblem[]
  /**
   * How those that live are read, where one query tells of all of them. Without it: every service tells of them together with
   * others (`readActual`), or it takes more requests than one (`src/live/optional-kinds.ts`).
   */
  readonly read?: {
    readonly query: QueryName
    /** Few services tell, or tell of them besides much else: asked only when it is wanted. @default false */
    readonly onDemand?: true
    readonly from: (answer: WireRecord) => readonly Resource[]
  }
  readonly create?: ActivityTemplate
  readonly update?: (change: ChangeInput) => ActivityTemplate
  /**
   * What of an update no single activity can carry together, one an activity; ids that are known stand in the desired
   * fields. @default all in one
   */
  readonly split?: (change: ChangeInput) => readonly Pick<ChangeInput, 'fields' | 'part'>[]
  /** What must be there before this one can be made or changed so, besides what it refers to. */
  readonly needs?: (change: ChangeInput) => readonly Address[]
  /** Fields that a creation cannot set: an update sets them as soon as it is made. */
  readonly afterCreation?: (desired: Resource) => readonly string[]
  /** Why this one, which does not live yet, cannot be made by an apply; undefined when it can. */
  readonly uncreatable?: (desired: Resource) => string | undefined
  readonly remove?: ActivityTemplate
  /** Why another one like it is not the same thing: what its deletion destroys. Without it, what is deleted can be made again. */
  readonly irreplaceable?: string
  readonly power: (change: ChangeInput, action: 'create' | 'update' | 'delete', actual: Actual) => Power
  /**
   * It lets its user in: the field that a plan remembers it by, and what its identity is called. No two users share one,
   * and those of root quorum members are exclusive.
   */
  readonly credential?: {
    readonly field: string
    readonly words: string
    /** What policies read of the credential that a vote is cast with. */
    readonly facts: (resource: Resource) => CredentialFacts
  }
}
