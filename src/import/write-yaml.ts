/** Values → YAML the way people write it: fields in blocks, short lists and what has few short fields on a line. */
import { Scalar, stringify } from 'yaml'
import type { Value } from '../resources/index.ts'

const WIDTH = 100

/** A pair as it stands in a block, `indent` columns in; without a line break at its end. `depth` counts the maps around it. */
export function blockPair(key: string, value: Value, { indent, depth }: Place): string {
  const pad = ' '.repeat(indent)
  const head = `${pad}${flowText(key)}:`
  const line = onOneLine(value, depth)
  if (line !== undefined && head.length + 1 + line.length <= (isCollection(value) ? WIDTH : Number.POSITIVE_INFINITY))
    return `${head} ${line}`
  if (isList(value))
    return [head, ...value.map((item) => blockItem(item, { indent: indent + 2, depth: depth + 1 }))].join('\n')
  if (isMap(value)) {
    const pairs = Object.entries(value).map(([name, one]) =>
      blockPair(name, one, { indent: indent + 2, depth: depth + 1 }),
    )
    return [head, ...pairs].join('\n')
  }
  return block(head, String(value), pad)
}

interface Place {
  readonly indent: number
  readonly depth: number
}

/** An element of a list as it stands in a block. */
export function blockItem(value: Value, { indent, depth }: Place): string {
  const pad = ' '.repeat(indent)
  const line = flowText(value)
  if (!isMap(value) || pad.length + 2 + line.length <= WIDTH || Object.keys(value).length === 0)
    return `${pad}- ${line}`
  const pairs = Object.entries(value).map(([name, one]) =>
    blockPair(name, one, { indent: indent + 2, depth: depth + 1 }),
  )
  return `${pad}- ${pairs.join('\n').trimStart()}`
}

/** A value on one line, in any place where YAML may stand. */
export function flowText(value: Value): string {
  if (isList(value)) return `[${value.map(flowText).join(', ')}]`
  if (isMap(value)) {
    const pairs = Object.entries(value).map(([name, one]) => `${flowText(name)}: ${flowText(one)}`)
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
  }
  if (typeof value !== 'string') return String(value)
  // What is plain and has nothing in it that means something between brackets stays plain.
  const plain = scalarText(value)
  return /^[^"'|>]/.test(plain) && !/[,[\]{}]|: |\n/.test(plain) ? plain : JSON.stringify(value)
}

/** A value that fits on the line of its key; fields of a resource stand in a block of their own. */
function onOneLine(value: Value, depth: number): string | undefined {
  if (isList(value)) return value.every((item) => !isCollection(item)) ? flowText(value) : undefined
  if (isMap(value)) {
    const isFlat = Object.values(value).every((one) => !isMap(one) && !(isList(one) && one.some(isCollection)))
    return Object.keys(value).length === 0 || (depth >= 3 && isFlat) ? flowText(value) : undefined
  }
  if (typeof value !== 'string') return String(value)
  if (value.includes('\n') || value.length > WIDTH - 20) return undefined
  return scalarText(value)
}

/** A text too long or too tall for its line, exactly: folded at blanks, or line by line. */
function block(head: string, value: string, pad: string): string {
  const scalar = new Scalar(value)
  if (!/[^\S\n]$|[^\S\n]\n|\n\s|[^\S ]\S|^\s/.test(value))
    scalar.type = value.includes('\n') ? Scalar.BLOCK_LITERAL : Scalar.BLOCK_FOLDED
  const text = stringify(new Map([['k', scalar]]), { lineWidth: WIDTH - pad.length })
  const [first = '', ...lines] = text.trimEnd().slice('k: '.length).split('\n')
  return [`${head} ${first}`, ...lines.map((line) => (line === '' ? line : pad + line))].join('\n')
}

/** One line. A text in double quotes is JSON's, which YAML reads the same. */
function scalarText(value: string): string {
  const text = stringify(value, { lineWidth: 0 }).trimEnd()
  return text.startsWith('"') || text.includes('\n') ? JSON.stringify(value) : text
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

function isMap(value: Value): value is Readonly<Record<string, Value>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCollection(value: Value): boolean {
  return typeof value === 'object' && value !== null
}
