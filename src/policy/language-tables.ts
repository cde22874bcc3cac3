import { exposedParams } from './activity-params.ts'
import { type RootRow, roots, type StructRow, structs } from './environment.ts'
import { limits } from './limits.ts'
import {
  compareOperators,
  functions,
  logicOperators,
  type MethodRow,
  methods,
  notOperator,
  quantifiers,
} from './operators.ts'

/** What a symbol takes and gives, and what it means. */
export interface SymbolRow {
  readonly signature: string
  readonly doc: string
}

/** The tables that the language is made of, for the reference page and for completion. */
export interface LanguageTables {
  readonly roots: Readonly<Record<string, RootRow>>
  readonly structs: Readonly<Record<string, StructRow>>
  readonly operators: Readonly<Record<string, SymbolRow>>
  readonly methods: Readonly<Record<string, MethodRow>>
  readonly functions: Readonly<Record<string, MethodRow>>
  /** Names of parameters by activity type without its prefix. */
  readonly params: Readonly<Record<string, readonly string[]>>
  readonly limits: typeof limits
}

export const languageTables: LanguageTables = {
  roots,
  structs,
  operators: { ...logicOperators, ...compareOperators, '!': notOperator },
  methods: { ...quantifiers, ...methods },
  functions,
  params: Object.fromEntries(Object.entries(exposedParams).map(([type, rows]) => [type, rows.map(({ name }) => name)])),
  limits,
}
