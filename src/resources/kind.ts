import type { Actual, Address, KindName, Resource, Value } from './model.ts'

/** How one field of a kind is compared and what changing it means. */
export interface FieldRow {
  /** `exact`: equal values; `set`: a list whose order means nothing; `case-insensitive`: e-mail addresses, hex. */
  readonly compare: 'exact' | 'set' | 'case-insensitive'
  readonly meaning: string
  /** Why the field cannot be changed on what exists; a change of it is a diagnostic that says this. */
  readonly immutable?: string
}

/**
 * An activity that carries changes of one kind and action. `parameters` are the activity's `parameters` with
 * references still in them; the planner fills in nothing itself.
 */
export interface ActivityTemplate {
  /** The activity type to submit, latest version. */
  readonly type: string
  /**
   * How many changes one activity carries: `all` of the plan's, all of those with the same `parent`, or `one`.
   * Changes that share an activity are given together, in address order.
   */
  readonly carries: 'all' | 'parent' | 'one'
  /** Most changes in one activity. @default 100 */
  readonly most?: number
  readonly parameters: (changes: readonly ChangeInput[]) => Value
  /** Where the id of the i-th change's resource stands in the result; none when nothing new gets an id. */
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
}

/**
 * What one change does to the power to act: `tightens` comes as soon as what it needs exists, `loosens` comes last,
 * so that no moment between is wider than both ends (design §3).
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
  readonly fields: Readonly<Record<string, FieldRow>>
  /** Deleting one needs `delete: true` in its definition even under `manage: all` (wallets, users). */
  readonly deleteNeedsTombstone: boolean
  /** Created together with its parent when both are new; then no activity of its own is needed. */
  readonly rides: boolean
  /** What two resources of the same parent must share to be the same thing, besides an id: by default the name. */
  readonly identity: (resource: Resource) => string
  readonly create?: ActivityTemplate
  readonly update?: (change: ChangeInput) => ActivityTemplate
  readonly remove?: ActivityTemplate
  readonly power: (change: ChangeInput, action: 'create' | 'update' | 'delete', actual: Actual) => Power
}
