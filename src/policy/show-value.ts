/** Values as people read them in a trace: in the language's own notation, cut where they are long. */
import {
  type Fault,
  FoldedText,
  Instant,
  ListValue,
  MapValue,
  NumberText,
  Opaque,
  type Result,
  StructValue,
  showKind,
} from './values.ts'

/** A value that an operand had. */
export interface ShownValue {
  /** `bool`, `int`, `string`, `number`, `timestamp`, `list`, `map`, `struct`. */
  readonly type: string
  /** As it would be written: `5`, `'0xab'`, `['a', 'b']`; long ones end in `…`. */
  readonly text: string
}

/** What an id is called, where it has a name. */
export type NameOf = (id: string) => string | undefined

const MOST_TEXT = 140
const MOST_MEMBERS = 8
const MOST_DEPTH = 3

/** Shows a value; an id is followed by its name. */
export function showValue(value: Exclude<Result, Fault>, nameOf: NameOf): ShownValue {
  return { type: showKind(value), text: show(value, nameOf, 0) }
}

function show(value: unknown, nameOf: NameOf, depth: number): string {
  if (value instanceof FoldedText) return show(value.text, nameOf, depth)
  if (value instanceof NumberText) return value.value.toString()
  if (value instanceof Instant) return `Timestamp('${new Date(Number(value.nanoseconds / 1_000_000n)).toISOString()}')`
  if (value instanceof ListValue) return showList(value.items, nameOf, depth)
  if (value instanceof MapValue) return showMembers(value.entries, nameOf, depth, (key) => `'${key}'`)
  if (value instanceof StructValue) return showMembers(value.fields, nameOf, depth, (key) => key)
  if (value instanceof Opaque) return `(${value.what})`
  if (typeof value === 'string') return showText(value, nameOf)
  if (Array.isArray(value)) return showList(value, nameOf, depth)
  if (typeof value === 'object' && value !== null)
    return showMembers(value as Readonly<Record<string, unknown>>, nameOf, depth, (key) => key)
  return String(value)
}

function showText(text: string, nameOf: NameOf): string {
  const name = nameOf(text)
  const cut = text.length > MOST_TEXT ? `'${text.slice(0, MOST_TEXT)}…'` : `'${text}'`
  return name === undefined ? cut : `${cut} (${name})`
}

function showList(items: readonly unknown[], nameOf: NameOf, depth: number): string {
  if (items.length > 0 && depth >= MOST_DEPTH) return '[…]'
  const shown = items.slice(0, MOST_MEMBERS).map((item) => show(item, nameOf, depth + 1))
  if (items.length > MOST_MEMBERS) shown.push(`… ${items.length - MOST_MEMBERS} more`)
  return `[${shown.join(', ')}]`
}

function showMembers(
  members: Readonly<Record<string, unknown>>,
  nameOf: NameOf,
  depth: number,
  keyText: (key: string) => string,
): string {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined && value !== null)
  if (entries.length === 0) return '{}'
  if (depth >= MOST_DEPTH) return '{…}'
  const shown = entries
    .slice(0, MOST_MEMBERS)
    .map(([key, value]) => `${keyText(key)}: ${show(value, nameOf, depth + 1)}`)
  if (entries.length > MOST_MEMBERS) shown.push(`… ${entries.length - MOST_MEMBERS} more`)
  return `{ ${shown.join(', ')} }`
}
