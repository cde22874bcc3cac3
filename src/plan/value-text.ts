/** Values of fields for people: bare names, plain lists, and long policy texts in lines that can be compared. */
import { printable } from '../diagnostics/index.ts'
import { canonicalJson } from '../encoding/index.ts'
import { type Address, kinds, parseAddress, type Value } from '../resources/index.ts'
import type { Change } from './document.ts'

/** A line of two texts laid beside each other. */
export interface LineDiff {
  readonly sign: '+' | '-' | ' '
  readonly text: string
}

/** A value in one line: `(none)`, `alice, bob`, `treasury`, a text as it is; anything else as JSON. */
export function valueText(value: Value | undefined): string {
  if (value === undefined || value === null || value === '') return NONE
  if (typeof value === 'string') return printable(bareName(value) ?? value)
  if (Array.isArray(value)) return value.length === 0 ? NONE : (value as readonly Value[]).map(valueText).join(', ')
  return printable(canonicalJson(value))
}

const NONE = '(none)'

/** Whether a value says nothing about something new. */
export function saysNothing(value: Value | undefined): boolean {
  return valueText(value) === NONE
}

/** The fields worth showing: of something new, neither what is empty nor what its address says already. */
export function shownFields({ action, address, kind, fields }: Change): Change['fields'] {
  if (action === 'update') return fields
  const name = parseAddress(address)?.names.at(-1)
  // An entry of a list is named by what it says.
  const repeated = kinds[kind]?.form.shape === 'list' ? (name ?? '').split(' ') : [name]
  return fields.filter(({ before, after }) => {
    const value = after ?? before
    return !saysNothing(value) && !(typeof value === 'string' && repeated.includes(value))
  })
}

/** A text in lines of at most so many characters, broken where it was written so, else before `&&` and `||`, else at spaces. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines = text.includes('\n') ? text.split('\n').map((line) => line.trim()) : [text]
  return lines
    .filter((line) => line !== '')
    .flatMap((line) => (line.length <= width ? [line] : line.split(/\s+(?=&&|\|\|)/)))
    .flatMap((line) => wrapWords(printable(line), width))
}

/** The lines that two texts share, and those that only one has, in order. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly LineDiff[] {
  const common = longestCommon(before, after)
  const lines: LineDiff[] = []
  let [i, j] = [0, 0]
  for (const text of [...common, undefined]) {
    while (i < before.length && before[i] !== text) lines.push({ sign: '-', text: before[i++]! })
    while (j < after.length && after[j] !== text) lines.push({ sign: '+', text: after[j++]! })
    if (text !== undefined) lines.push({ sign: ' ', text })
    i++
    j++
  }
  return lines
}

/** The name in a text that is one reference and nothing else: `alice` of `${user.alice}`. */
function bareName(text: string): string | undefined {
  const address = loneReference(text)
  return address === undefined ? undefined : parseAddress(address)?.names.at(-1)
}

/** The address in a text that is one reference and nothing else: `user.alice` of `${user.alice}`. */
export function loneReference(text: string): Address | undefined {
  const address = /^\$\{(.*)\}$/s.exec(text)?.[1]
  return address !== undefined && parseAddress(address) ? (address as Address) : undefined
}

function wrapWords(line: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of line.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Texts of policies are short, so the plain table will do. */
function longestCommon(a: readonly string[], b: readonly string[]): readonly string[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
    }
  }
  const common: string[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      common.push(a[i]!)
      i++
      j++
    } else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++
    else j++
  }
  return common
}
