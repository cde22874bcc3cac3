import { decodeUtf8 } from '../encoding/index.ts'
import { apiError } from './api-error.ts'
import type { Json } from './json.ts'
import { REQUEST_LIMITS } from './limits.ts'

/** Objects and lists may stand in one another this deep; no message of the API comes near it. */
const MOST_DEPTH = 64

/**
 * Parses a request body. Two readers of one body must see one thing, so beyond what JSON itself forbids it refuses a
 * member that appears twice at any depth, the member `__proto__`, nesting deeper than 64, text that is not UTF-8,
 * and characters that not every store keeps: U+0000 and halves of surrogate pairs; and more values than any request
 * has. Throws `ApiError`.
 */
export function parseJson(raw: Uint8Array): Json {
  return readJson(raw).value
}

/** As `parseJson`, and gives the text beside what it says. */
export function readJson(raw: Uint8Array): { readonly text: string; readonly value: Json } {
  checkSize(raw)
  const text = decode(raw)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    throw apiError('badRequestBody', text.trim() === '' ? 'expected JSON, got nothing' : 'expected JSON')
  }
  scan(text)
  return { text, value }
}

function decode(raw: Uint8Array): string {
  try {
    // A byte order mark is kept, and then refused, since it is not JSON.
    return decodeUtf8(raw)
  } catch {
    throw apiError('badRequestBody', 'expected UTF-8')
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const LIST = 0x5b
const BACKSLASH = 0x5c
const END_OF_LIST = 0x5d
const LETTER_U = 0x75
const OBJECT = 0x7b
const END_OF_OBJECT = 0x7d

/**
 * Counts values and levels in bytes that may be anything, before anything is built of them: a value more than commas and
 * brackets say, at most.
 */
function checkSize(raw: Uint8Array): void {
  let depth = 0
  let values = 1
  for (let i = 0; i < raw.length; i++) {
    switch (raw[i]) {
      case OBJECT:
      case LIST:
        values++
        if (++depth > MOST_DEPTH) throw apiError('badRequestBody', `nesting is deeper than ${MOST_DEPTH}`)
        break
      case END_OF_OBJECT:
      case END_OF_LIST:
        depth--
        break
      case COMMA:
        values++
        break
      case QUOTE:
        for (i++; i < raw.length && raw[i] !== QUOTE; i++) if (raw[i] === BACKSLASH) i++
    }
  }
  if (values > REQUEST_LIMITS.values)
    throw apiError('badRequestBody', `it has more than ${REQUEST_LIMITS.values} values`)
}

/** Walks text that is known to be JSON, member names in hand. */
function scan(text: string): void {
  // One entry for each open object or list: the names seen so far, or none for a list.
  const open: (Names | undefined)[] = []
  let atName = false
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case OBJECT:
        open.push(new Names())
        atName = true
        break
      case LIST:
        open.push(undefined)
        atName = false
        break
      case END_OF_OBJECT:
      case END_OF_LIST:
        open.pop()
        atName = false
        break
      case COMMA:
        atName = open.at(-1) !== undefined
        break
      case QUOTE: {
        const { end, isEscaped, isCoded } = endOfString(text, i)
        // What cannot be kept cannot be written but by its code.
        if (isCoded || atName) {
          const string = isEscaped ? (JSON.parse(text.slice(i, end + 1)) as string) : text.slice(i + 1, end)
          if (isCoded) checkText(string)
          if (atName) checkName(string, open.at(-1)!)
        }
        atName = false
        i = end
      }
    }
  }
}

function checkText(string: string): void {
  if (string.includes('\0') || !string.isWellFormed())
    throw apiError('badRequestBody', 'text has a character that cannot be kept (U+0000 or half a pair)')
}

function checkName(name: string, seen: Names): void {
  if (name === '__proto__') throw apiError('badRequestBody', 'member `__proto__` is not allowed')
  if (!seen.add(name)) throw apiError('badRequestBody', `member \`${name}\` appears twice`)
}

/** So many names are compared faster than they are hashed: most objects have fewer. */
const FEW_NAMES = 8

/** The names of one object. */
class Names {
  #first: string | undefined
  #few: string[] | undefined
  #many: Set<string> | undefined

  /** Says whether it is new. */
  add(name: string): boolean {
    if (this.#first === undefined) {
      this.#first = name
      return true
    }
    if (this.#many) return this.#many.size !== this.#many.add(name).size
    if (this.#first === name || this.#few?.includes(name)) return false
    if (this.#few === undefined) this.#few = [name]
    else if (this.#few.push(name) > FEW_NAMES) this.#many = new Set([this.#first, ...this.#few])
    return true
  }
}

/** The closing quote of a string, and whether something in it is escaped, or written by its code as `\u0041`. */
function endOfString(text: string, start: number) {
  let isEscaped = false
  let isCoded = false
  let end = start + 1
  for (; text.charCodeAt(end) !== QUOTE; end++)
    if (text.charCodeAt(end) === BACKSLASH) {
      isEscaped = true
      end++
      if (text.charCodeAt(end) === LETTER_U) isCoded = true
    }
  return { end, isEscaped, isCoded }
}
