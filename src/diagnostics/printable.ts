/**
 * Text from outside, made printable. What a person cannot see, or what moves the cursor, turns the direction or breaks the
 * line, is shown as its code point: `\u{9b}`. What is printable already stays as it is, so that doing it twice changes nothing.
 */

/**
 * Control, format, surrogate, private and unassigned characters (general category C), separators of lines and paragraphs,
 * everything that is drawn as nothing (Default_Ignorable_Code_Point; the blank of Braille), and marks that have no letter of
 * their own in this text or are piled up. An emoji keeps the selector that follows it.
 */
const UNSEEN =
  /(?<!\p{Extended_Pictographic})(?:\ufe0e|\ufe0f)|(?!\ufe0e|\ufe0f)\p{DI}|[\p{C}\p{Zl}\p{Zp}\u2800]|^\p{M}|(?<=\p{M}{4})\p{M}/gu

/** The first character of a text that is not printable, and where it stands in UTF-16 units. */
export function findUnseen(text: string): { readonly index: number; readonly character: string } | undefined {
  const { value } = text.matchAll(UNSEEN).next()
  return value && { index: value.index, character: value[0] }
}

/** A text without its characters that are not printable. */
export function withoutUnseen(text: string): string {
  // A mark that followed what was taken out may have lost its letter.
  const left = text.replace(UNSEEN, '')
  return left === text ? left : withoutUnseen(left)
}

/** A character for people: itself and its number where it is seen, the number alone where it is not. */
export function codePoint(c: string): string {
  const number = `U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
  return findUnseen(c) || /^\s$/.test(c) ? number : `\`${c}\` (${number})`
}

/** A text in one line: also its line breaks and tabs are shown as escapes. */
export function printable(text: string): string {
  return text.replace(UNSEEN, escaped)
}

/** A text whose line breaks stay: only for callers that indent each line. */
export function printableLines(text: string): string {
  return text.replace(UNSEEN, (c) => (c === '\n' ? c : escaped(c)))
}

/** A text of JSON without a character that is not printable: each is written as JSON's own escape, so its value is the same. */
export function printableJson(json: string): string {
  return json.replace(UNSEEN, (c) =>
    /[\n\r\t]/.test(c)
      ? c
      : [...c.split('')].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  )
}

/**
 * A value of data with every text in it printable, keys too. Line breaks stay in the values of the keys `lines`.
 * Functions and instances of classes are returned unchanged.
 */
export function printableDeep<T>(value: T, { lines = [] }: { readonly lines?: readonly string[] } = {}): T {
  return walk(value, printable, new Set(lines)) as T
}

function walk(value: unknown, show: (text: string) => string, lines: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return show(value)
  if (Array.isArray(value)) return value.map((one) => walk(one, show, lines))
  if (value instanceof Map)
    return new Map([...value].map(([key, one]) => [walk(key, show, lines), walk(one, show, lines)]))
  if (value instanceof Set) return new Set([...value].map((one) => walk(one, show, lines)))
  if (typeof value !== 'object' || value === null || !isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      printable(key),
      walk(one, lines.has(key) ? printableLines : show, lines),
    ]),
  )
}

function isRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function escaped(c: string): string {
  return `\\u{${c.codePointAt(0)!.toString(16)}}`
}
