/**
 * A chain of declared fields such as `eth.tx.value` or `user.tags`, read in one step: most of what policies do is to
 * compare such a chain with a literal, and the values in between are of no use to anybody. The faults are those that
 * reading it field by field gives.
 */
import type { Expression } from '../ast.ts'
import { fieldRow, isRootName, roots } from '../environment.ts'
import { type Frame, rootReaders } from '../frame.ts'
import { chainReaders, fieldReaders } from '../generated/readers.gen.ts'
import { isPlainObject, typeMismatch } from '../load.ts'
import type { Type } from '../types.ts'
import type { Scope, Unit, Variable } from '../unit.ts'
import { Fault, quoted, type ReadPlace, StructValue } from '../values.ts'

/** Reads what the context holds, before it is loaded as a value; a fault where it or something above it is missing. */
export type ReadRaw = (frame: Frame) => unknown

/** A chain of fields. */
export interface RawPath {
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
  readonly struct: string
  readonly name: string
  readonly absent: unknown
  readonly missing: Fault
  /** The fault for reading this field of a value that is no struct. */
  readonly notStruct: Fault
}

/** The reader of a chain of fields below a root or a variable; undefined for any other expression. */
export function readerOf(unit: Unit, node: Expression, scope: Scope | undefined): RawPath | undefined {
  const place = { text: unit.text, start: node.start, end: node.end }
  const steps: FieldStep[] = []
  let at = node
  let type: Type | undefined
  while (at.kind === 'member') {
    const struct = unit.types.get(at.target)
    const row = struct?.kind === 'struct' ? fieldRow(struct.name, at.name.text) : undefined
    if (struct === undefined || row === undefined) return undefined
    type ??= row.type
    const here = { text: unit.text, start: at.start, end: at.end }
    const above = { text: unit.text, start: at.target.start, end: at.target.end }
    steps.unshift({
      struct: struct.kind === 'struct' ? struct.name : '',
      name: row.reads ?? row.name,
      absent: row.absent,
      missing: new Fault('MissingField', `${quoted(here)} is missing`, here),
      notStruct: typeMismatch(struct, above),
    })
    at = at.target
  }
  if (at.kind !== 'name') return undefined
  for (let variable = scope; variable !== undefined; variable = variable.outer)
    if (variable.name === at.name)
      return type === undefined ? undefined : { ...fromVariable(variable.variable, steps), type, place }
  if (!isRootName(at.name)) return undefined
  const rootPlace = { text: unit.text, start: at.start, end: at.end }
  const undefinedRoot = new Fault('MissingField', `${quoted(rootPlace)} is not defined for this activity`, rootPlace)
  const read = fromRoot(rootReaders[at.name], undefinedRoot, steps)
  const quick = chainReaders[[at.name, ...steps.map(({ name }) => name)].join('.')] ?? read
  return { read, quick, type: type ?? roots[at.name].type, place }
}

function fromRoot(rootOf: ReadRaw, undefinedRoot: Fault, steps: readonly FieldStep[]): ReadRaw {
  return (frame) => follow(rootOf(frame) ?? undefinedRoot, steps)
}

function fromVariable(variable: Variable, steps: readonly FieldStep[]): Pick<RawPath, 'read' | 'quick' | 'field'> {
  const [{ name, struct, notStruct }, second] = steps as [FieldStep, ...FieldStep[]]
  const read = () => (variable.value instanceof StructValue ? follow(variable.value.fields, steps) : notStruct)
  const field = second === undefined ? fieldReaders[`${struct}.${name}`] : undefined
  if (field === undefined) return { read, quick: read }
  return { read, quick: () => field((variable.value as StructValue).fields as never), field }
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
