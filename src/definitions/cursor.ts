import { isMap, isScalar, isSeq, type Scalar, visit } from 'yaml'
import type { PolicyField } from '../policy/index.ts'
import { type Address, formatAddress, KINDS, kinds } from '../resources/index.ts'
import { expressionKinds } from './expression-kinds.ts'
import { parsePolicyFile, policyScalars } from './policy-scalars.ts'
import { scalarOffsets } from './scalar-offsets.ts'
import { parseTemplate } from './template.ts'

/** An expression that the cursor is in. */
export interface ExpressionAtCursor {
  readonly field: PolicyField
  /** As it is written, with references. */
  readonly value: string
  /** Where the cursor is in it. */
  readonly offset: number
  /** The offset in the file of an offset in it. */
  readonly toFile: (offset: number) => number
}

/** Finds the expression that an offset of a file is in; the file need not be complete. */
export function expressionAt(text: string, cursor: number): ExpressionAtCursor | undefined {
  for (const { field, value, token } of policyScalars(parsePolicyFile(text), text)) {
    const offsets = scalarOffsets(token, value)
    if (offsets === undefined || cursor < offsets[0]! || cursor > endOf(text, offsets.at(-1)!)) continue
    const found = offsets.findIndex((at) => at >= cursor)
    const offset = found < 0 ? value.trimEnd().length : Math.min(found, value.length)
    return { field, value, offset, toFile: (at) => offsets[Math.min(at, value.length)] ?? offsets.at(-1)! }
  }
  return undefined
}

/** Blanks behind a value belong to it while it is being written. */
function endOf(text: string, offset: number): number {
  return offset + /^[ \t]*/.exec(text.slice(offset))![0].length
}

/** A name that stands for a resource: `${tag.treasury}`, or an element of a list of names. */
export interface NameAtCursor {
  /** What it may stand for: a bare name in a list may be of several kinds. */
  readonly addresses: readonly Address[]
  readonly start: number
  readonly end: number
}

/** Finds the name that an offset of a file is in. */
export function nameAt(text: string, cursor: number): NameAtCursor | undefined {
  const lineStart = text.lastIndexOf('\n', cursor - 1) + 1
  const lineEnd = text.indexOf('\n', cursor)
  const line = text.slice(lineStart, lineEnd < 0 ? text.length : lineEnd)
  for (const piece of parseTemplate(line)) {
    const [start, end] = [lineStart + piece.start, lineStart + piece.end]
    if (piece.kind === 'reference' && start <= cursor && cursor <= end)
      return { addresses: [piece.address], start, end }
  }
  return listedName(text, cursor)
}

/** Names stand bare in the lists of fields that say of which kind they are. */
function listedName(text: string, cursor: number): NameAtCursor | undefined {
  let found: NameAtCursor | undefined
  visit(parsePolicyFile(text), {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !isSeq(value)) return
      const of = listKinds.filter(({ name }) => name === String(key.value))
      const item = value.items.find((one) => isScalar(one) && holds(one, cursor)) as Scalar | undefined
      if (of.length === 0 || typeof item?.value !== 'string' || item.value.includes('${')) return
      const [start, end] = item.range!
      const { value: listed } = item
      found = { addresses: of.map(({ kind }) => formatAddress(kind, listed)), start, end }
    },
  })
  return found
}

const listKinds = KINDS.flatMap((kind) => Object.entries(kinds[kind].fields)).flatMap(([name, { names }]) =>
  names === undefined ? [] : [{ name, kind: names }],
)

function holds({ range }: Scalar, cursor: number): boolean {
  return range != null && range[0] <= cursor && cursor <= range[1]
}

/** Whether a field of a policy has been begun and is empty yet: which, and where its value goes. */
export function emptyFieldAt(text: string, cursor: number): PolicyField | undefined {
  const line = text.slice(text.lastIndexOf('\n', cursor - 1) + 1, cursor)
  const key = /^\s*(\w+):\s*$/.exec(line)?.[1]
  if (key === undefined || !expressionKinds.some(({ fields }) => fields.has(key))) return undefined
  const { contents } = parsePolicyFile(text)
  const of = expressionKinds.find(({ path, fields }) => fields.has(key) && isMap(contents) && contents.has(path[0]!))
  return of?.fields.get(key)
}
