import type { Type } from '../types.ts'

/** A field of a struct. */
export interface StructField {
  readonly name: string
  readonly type: Type
  readonly doc: string
  /** The value of an absent field. Without it, reading an absent field is `MissingField`. */
  readonly absent?: unknown
  /** The name in the context, where it differs: another spelling of one field. */
  readonly reads?: string
}

export interface StructRow {
  readonly doc: string
  readonly fields: readonly StructField[]
  /** Fields that no row declares are a fault of evaluation, not of the text (U-static: `activity.params`). */
  readonly open?: true
}

export type StructTable = Readonly<Record<string, StructRow>>

/** A field whose absence is `MissingField`. */
export function field(name: string, type: Type, doc: string): StructField {
  return { name, type, doc }
}

/** A field that reads as a default when it is absent. */
export function defaulted(name: string, type: Type, absent: unknown, doc: string): StructField {
  return { name, type, doc, absent }
}
