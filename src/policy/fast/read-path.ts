/**
 * A chain of declared fields such as `eth.tx.value` or `user.tags`, read in one step: most of what policies do is to
 * compare such a chain with a literal, and the values in between are of no use to anybody. The faults are those that
 * reading it field by field gives.
 */
import type { Expression } from '../ast.ts'
import { fieldRow, isRootName, type StructField } from '../environment.ts'
import { type Frame, rootReaders } from '../frame.ts'
import { chainReaders, fieldReaders } from '../generated/readers.gen.ts'
import { isPlainObject, typeMismatch } from '../load.ts'
import type { Type } from '../types.ts'
import { at, missingAt, type Scope, type Unit, undefinedAt, type Variable } from '../unit.ts'
import { Fault, type ReadPlace, StructValue } from '../values.ts'

type Member = Expression & { kind: 'member' }

/** Reads what the context holds, before it is loaded as a value; a fault where it or something above it is missing. */
export type ReadRaw = (frame: Frame) => unknown

/** A chain of fields. */
export interface RawPath {
  /** The names from its root or variable on, as they are read: `eth.tx.value`. */
  readonly chain: string
  readonly read: ReadRaw
  /** The declared type of its end. */
  readonly type: Type
  readonly place: ReadPlace
  /**
   * Reads it without looking at what is in between: what it gives is right when it is a text, a number, a bool or a
   * list, and says nothing when it is anything else.
   */
  readonly quick: ReadRaw
  /** Reads it of an element, where it is one field of a variable. */
  readonly field?: ((element: never) => unknown) | undefined
}

interface FieldStep {
  readonly name: string
  readonly absent: unknown
  readonly missing: Fault
  /** The fault for reading this field of a value that is no struct. */
  readonly notStruct: Fault
}

/** The reader of a chain of fields below a root or a variable; undefined for any other expression. */
export function readerOf(unit: Unit, node: Expression, scope: Scope | undefined): RawPath | undefined {
  const names: string[] = []
  let root = node
  for (; root.kind === 'member'; root = root.target) {
    const row = rowOf(unit, root)
    if (row === undefined) return undefined
    names.unshift(row.reads ?? row.name)
  }
  const type = unit.types.get(node)
  if (root.kind !== 'name' || type === undefined) return undefined
  const { name } = root
  const chain = [name, ...names].join('.')
  const place = at(unit, node)
  for (let variable = scope; variable !== undefined; variable = variable.outer)
    if (variable.name === name)
      return node.kind === 'member'
        ? { ...fromVariable(unit, node, variable.variable, names), chain, type, place }
        : undefined
  if (!isRootName(name)) return undefined
  const rootOf = rootReaders[name]
  let missing: Fault | undefined
  const read = readFrom(unit, node, (frame) => {
    missing ??= undefinedAt(at(unit, root))
    return rootOf(frame) ?? missing
  })
  return { chain, read, quick: chainReaders[chain] ?? read, type, place }
}

function rowOf(unit: Unit, { target, name }: Member): StructField | undefined {
  const struct = unit.types.get(target)
  return struct?.kind === 'struct' ? fieldRow(struct.name, name.text) : undefined
}

/**
 * Reads from where a chain starts, field by field. The steps are made when something is first read below the start: most
 * chains are read by their `quick` form alone, or start at what an activity has not, and there are many.
 */
function readFrom(unit: Unit, node: Expression, startOf: ReadRaw): ReadRaw {
  let steps: readonly FieldStep[] | undefined
  return (frame) => {
    const start = startOf(frame)
    if (start instanceof Fault) return start
    steps ??= stepsOf(unit, node)
    return follow(start, steps)
  }
}

function stepsOf(unit: Unit, node: Expression): readonly FieldStep[] {
  const steps: FieldStep[] = []
  for (let step = node; step.kind === 'member'; step = step.target) {
    const { name, reads, absent } = rowOf(unit, step)!
    const here = at(unit, step)
    steps.unshift({
      name: reads ?? name,
      absent,
      missing: missingAt(here),
      notStruct: typeMismatch(unit.types.get(step.target)!, at(unit, step.target)),
    })
  }
  return steps
}

function fromVariable(
  unit: Unit,
  node: Member,
  variable: Variable,
  names: readonly string[],
): Pick<RawPath, 'read' | 'quick' | 'field'> {
  const read = readFrom(unit, node, () => (variable.value instanceof StructValue ? variable.value.fields : undefined))
  const struct = unit.types.get(node.target)
  const field = names.length === 1 && struct?.kind === 'struct' ? fieldReaders[`${struct.name}.${names[0]}`] : undefined
  return field
    ? { read, quick: () => field((variable.value as StructValue).fields as never), field }
    : { read, quick: read }
}

function follow(start: unknown, steps: readonly FieldStep[]): unknown {
  let raw = start
  for (const step of steps) {
    if (raw instanceof Fault) return raw
    raw = take(raw, step)
  }
  return raw
}

// INVARIANT: no field of the environment has the name of a member of `Object.prototype`, so that no more than the
// struct's own fields are ever found; a test holds the tables to it.
function take(raw: unknown, { name, absent, missing, notStruct }: FieldStep): unknown {
  if (!isPlainObject(raw)) return notStruct
  return raw[name] ?? absent ?? missing
}
