/** One step of the schema's history. A published row is never edited: a change is a new row. */
export interface Migration {
  readonly name: string
  /** It drops a table to make it anew: references are checked at its end, not at each statement. @default false */
  readonly rebuilds?: boolean
  readonly statements: readonly string[]
}
