/**
 * A chain of declared fields such as `eth.tx.value` or `user.tags`, read in one step: most of what policies do is to
 * compare such a chain with a literal, and the values in between are of no use to anybody. The faults are those that
 * reading it field by field gives.
 */
import type { Expression } from './ast.ts'
import { fieldRow, isRootName, roots } from './environment.ts'
import { type Frame, rootPositions } from './frame.ts'
import { isPlainObject, typeMismatch } from './load.ts'
import type { Type } from './types.ts'
import type { Scope, Unit } from './unit.ts'
import { Fault, quoted, type ReadPlace, StructValue } from './values.ts'

/** Reads what the context holds, before it is loaded as a value; a fault where it or something above it is missing. */
export type ReadRaw = (frame: Frame) => unknown

/** A chain of fields. */
export interface RawPath {
  readonly read: ReadRaw
  /** The declared type of its end. */
  readonly type: Type
  readonly place: ReadPlace
  /** Where it starts, and the fields from there on: for those who read them themselves where nothing is amiss. */
  readonly start: { readonly from: 'roots' | 'slots'; readonly position: number }
  readonly names: readonly string[]
}

interface Step {
  readonly name: string
  readonly absent: unknown
  readonly missing: Fault
  /** Said when what it is read from is no struct. */
  readonly notStruct: Fault
}

/** The reader of a chain of fields below a root or a variable; undefined for any other expression. */
export function readerOf(unit: Unit, node: Expression, scope: Scope | undefined): RawPath | undefined {
  const place = { text: unit.text, start: node.start, end: node.end }
  const steps: Step[] = []
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
      return type === undefined
        ? undefined
        : {
            read: fromVariable(variable.slot, steps),
            type,
            place,
            start: { from: 'slots', position: variable.slot },
            names: steps.map(({ name }) => name),
          }
  if (!isRootName(at.name)) return undefined
  const rootPlace = { text: unit.text, start: at.start, end: at.end }
  const undefinedRoot = new Fault('MissingField', `${quoted(rootPlace)} is not defined for this activity`, rootPlace)
  const position = rootPositions[at.name]
  return {
    read: fromRoot(position, undefinedRoot, steps),
    type: type ?? roots[at.name].type,
    place,
    start: { from: 'roots', position },
    names: steps.map(({ name }) => name),
  }
}

function fromRoot(position: number, undefinedRoot: Fault, steps: readonly Step[]): ReadRaw {
  const [first, second, third] = steps
  if (first === undefined) return (frame) => frame.roots[position] ?? undefinedRoot
  // Written out for the usual lengths: a loop costs as much as the reading.
  if (second === undefined)
    return (frame) => {
      const root = frame.roots[position] ?? undefinedRoot
      return root === undefinedRoot ? root : take(root, first)
    }
  if (third === undefined)
    return (frame) => {
      const root = frame.roots[position] ?? undefinedRoot
      if (root === undefinedRoot) return root
      const inner = take(root, first)
      return inner instanceof Fault ? inner : take(inner, second)
    }
  return (frame) => {
    const root = frame.roots[position] ?? undefinedRoot
    return root === undefinedRoot ? root : follow(root, steps)
  }
}

function fromVariable(slot: number, steps: readonly Step[]): ReadRaw {
  const [first, second] = steps as [Step, ...Step[]]
  if (second === undefined)
    return (frame) => {
      const value = frame.slots[slot]
      return value instanceof StructValue ? take(value.fields, first) : first.notStruct
    }
  return (frame) => {
    const value = frame.slots[slot]
    return value instanceof StructValue ? follow(value.fields, steps) : first.notStruct
  }
}

function follow(start: unknown, steps: readonly Step[]): unknown {
  let raw = start
  for (const step of steps) {
    raw = take(raw, step)
    if (raw instanceof Fault) return raw
  }
  return raw
}

// INVARIANT: no field of the environment has the name of a member of `Object.prototype`, so that no more than the
// struct's own fields are ever found; a test holds the tables to it.
function take(raw: unknown, { name, absent, missing, notStruct }: Step): unknown {
  if (!isPlainObject(raw)) return notStruct
  return raw[name] ?? absent ?? missing
}
