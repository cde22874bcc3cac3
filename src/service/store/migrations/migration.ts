/** One step of the schema's history. A published row is never edited: a change is a new row. */
export interface Migration {
  readonly name: string
  readonly statements: readonly string[]
}
