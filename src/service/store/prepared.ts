import type { Compilable, CompiledQuery } from 'kysely'
import { DirectAdapter } from './dialect.ts'
import { lockedMemoryOf } from './locked-memory.ts'
import { run } from './run.ts'
import type { Transaction } from './transaction.ts'

/** As `prepare`, of a read that nearly every request repeats: its rows are remembered, and not to be changed. */
export function remember<Values extends { readonly [Name in keyof Values]: Value }, Row>(
  build: (tx: Transaction, values: Values) => Compilable<Row>,
): (tx: Transaction, values: Values) => Rows<readonly Row[]> {
  return prepare(build, { isRemembered: true })
}

/**
 * The rows, at once from a database in this process: a promise of what is there already makes every caller wait three turns. So
 * does `await` of what is no promise, which is why each submit asks before: `rows instanceof Promise ? await rows : rows`.
 */
export type Rows<Of> = Of | Promise<Of>

/** What is made of rows, at once where they are there. */
export function whenRead<Of, Made>(rows: Rows<Of>, make: (rows: Of) => Rows<Made>): Rows<Made> {
  return rows instanceof Promise ? rows.then(make) : make(rows)
}

/** The first of some rows, for `whenRead`. */
export function first<Row>(rows: readonly Row[]): Row | undefined {
  return rows[0]
}

/** Stands for a value while a query is compiled. */
class Placeholder {
  /** The place of the member among the values. */
  readonly at: number
  readonly index: number | undefined

  constructor(at: number, index?: number) {
    this.at = at
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
): (tx: Transaction, values: Values) => Rows<Row[]> {
  // By database: what is compiled for one dialect is no text of another.
  const databases = new WeakMap<object, Shapes<Row>>()
  return (tx, values) => {
    const { adapter } = tx.getExecutor()
    let shapes = databases.get(adapter)
    if (!shapes) {
      shapes = { last: undefined, all: new Map() }
      databases.set(adapter, shapes)
    }
    let given: Value[] = []
    let shape = shapes.last
    if (shape === undefined || !fits(shape, values, given)) {
      shape = findShape(shapes, values)
      shapes.last = shape
      given = Object.values<Value>(values)
    }
    shape.query ??= compile(build(tx, placeholdersFor(values)))
    const { compiled, sources } = shape.query
    const parameters = new Array<unknown>(sources.length)
    for (let at = 0; at < sources.length; at++) parameters[at] = valueFor(sources[at]!, given)
    const isRemembered = options.isRemembered === true
    if (adapter instanceof DirectAdapter) return adapter.connection.run(compiled, parameters, isRemembered) as Row[]
    const memory = isRemembered ? lockedMemoryOf(tx) : undefined
    if (!memory?.covers(values)) return run(tx, compiled, parameters)
    return memory.recallLater(compiled, parameters, () => run(tx, compiled, parameters)) as Rows<Row[]>
  }
}

/** The members of some values, and what was compiled for them. */
interface Shape<Row> {
  readonly names: readonly string[]
  /** By member: how long the list is, or -1 for what is none. */
  readonly lengths: readonly number[]
  query: { readonly compiled: CompiledQuery<Row>; readonly sources: readonly Source[] } | undefined
}

/** Most calls have the shape of the call before: naming a shape costs more than comparing with it. */
interface Shapes<Row> {
  last: Shape<Row> | undefined
  readonly all: Map<string, Shape<Row>>
}

/** Where a parameter comes from: a member of the values, an entry of a list, or the query itself. */
type Source = Placeholder | { readonly constant: unknown }

/** Whether values have a shape; `given` gets them in their order, since reading a member by its name costs most of it. */
function fits({ names, lengths }: Shape<unknown>, values: { readonly [name: string]: Value }, given: Value[]): boolean {
  let at = 0
  for (const name in values) {
    const value = values[name]!
    if (name !== names[at] || (Array.isArray(value) ? value.length : -1) !== lengths[at]) return false
    given[at] = value
    at++
  }
  return at === names.length
}

function findShape<Row>({ all }: Shapes<Row>, values: { readonly [name: string]: Value }): Shape<Row> {
  const names = Object.keys(values)
  const lengths = names.map((name) => {
    const value = values[name]
    return Array.isArray(value) ? value.length : -1
  })
  const key = names.map((name, at) => `${name} ${lengths[at]}`).join(' ')
  const known = all.get(key)
  if (known) return known
  const shape = { names, lengths, query: undefined }
  all.set(key, shape)
  return shape
}

function compile<Row>(query: Compilable<Row>) {
  const compiled = query.compile()
  const sources = compiled.parameters.map((one) => (one instanceof Placeholder ? one : { constant: one }))
  return { compiled, sources }
}

function placeholdersFor<Values extends object>(values: Values): Values {
  const entries = Object.entries(values).map(([name, value], at) => [
    name,
    Array.isArray(value) ? value.map((_, index) => new Placeholder(at, index)) : new Placeholder(at),
  ])
  return Object.fromEntries(entries) as Values // a placeholder in the place of each value
}

function valueFor(source: Source, given: readonly Value[]): unknown {
  if (!(source instanceof Placeholder)) return source.constant
  const value = given[source.at]
  return source.index === undefined ? value : (value as readonly unknown[])[source.index]
}
