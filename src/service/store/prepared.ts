import type { Compilable, CompiledQuery } from 'kysely'
import { run } from './run.ts'
import type { Transaction } from './transaction.ts'

/** As `prepare`, of a read that nearly every request repeats: its rows are remembered, and not to be changed. */
export function remember<Values extends { readonly [Name in keyof Values]: Value }, Row>(
  build: (tx: Transaction, values: Values) => Compilable<Row>,
): (tx: Transaction, values: Values) => Promise<readonly Row[]> {
  return prepare(build, { isRemembered: true })
}

/** Stands for a value while a query is compiled. */
class Placeholder {
  readonly name: string
  readonly index: number | undefined

  constructor(name: string, index?: number) {
    this.name = name
    this.index = index
  }
}

/** What the values of a query may be: a list is compiled for its length. */
type Value = string | number | null | Uint8Array | readonly string[]

/**
 * Prepares a query that every request runs: it is built and compiled once for each shape of its values (which members
 * there are, and how long the lists), and later only run. Building one with Kysely takes ten times as long as SQLite takes to run
 * it. INVARIANT: `build` does the same whatever the values are, since it sees placeholders in their stead.
 */
export function prepare<Values extends { readonly [Name in keyof Values]: Value }, Row = never>(
  build: (tx: Transaction, values: Values) => Compilable<Row>,
  options: {
    /** For a read that nearly every request repeats (`memory.ts`). @default false */
    readonly isRemembered?: boolean
  } = {},
): (tx: Transaction, values: Values) => Promise<Row[]> {
  // By database: what is compiled for one dialect is no text of another.
  const databases = new WeakMap<object, Map<string, CompiledQuery<Row>>>()
  return async (tx, values) => {
    const { adapter } = tx.getExecutor()
    let shapes = databases.get(adapter)
    if (!shapes) {
      shapes = new Map()
      databases.set(adapter, shapes)
    }
    const shape = shapeOf(values)
    let compiled = shapes.get(shape)
    if (!compiled) {
      compiled = build(tx, placeholdersFor(values)).compile()
      shapes.set(shape, compiled)
    }
    const parameters: unknown[] = []
    for (const parameter of compiled.parameters) parameters.push(valueFor(parameter, values))
    return run(tx, compiled, parameters, options.isRemembered)
  }
}

function shapeOf(values: { readonly [name: string]: Value }): string {
  let shape = ''
  for (const name in values) {
    const value = values[name]
    shape += Array.isArray(value) ? `${name}${value.length} ` : `${name} `
  }
  return shape
}

function placeholdersFor<Values extends object>(values: Values): Values {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((_, index) => new Placeholder(name, index)) : new Placeholder(name),
  ])
  return Object.fromEntries(entries) as Values // what stands for each member
}

function valueFor(parameter: unknown, values: object): unknown {
  if (!(parameter instanceof Placeholder)) return parameter
  const value = (values as Readonly<Record<string, unknown>>)[parameter.name]
  return parameter.index === undefined ? value : (value as readonly unknown[])[parameter.index]
}
