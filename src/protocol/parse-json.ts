import { apiError } from './api-error.ts'
import type { Json } from './json.ts'

/** Objects and lists may stand in one another this deep; no message of the API comes near it. */
const MOST_DEPTH = 64

/**
 * Parses a request body. Two readers of one body must see one thing, so beyond what JSON itself forbids it refuses a
 * member that appears twice at any depth, the member `__proto__`, nesting deeper than 64, text that is not UTF-8,
 * and characters that not every store keeps: U+0000 and halves of surrogate pairs. Throws `ApiError`.
 */
export function parseJson(raw: Uint8Array): Json {
  const text = decode(raw)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    throw apiError('badRequestBody', text.trim() === '' ? 'expected JSON, got nothing' : 'expected JSON')
  }
  scan(text)
  return value
}

function decode(raw: Uint8Array): string {
  try {
    // A byte order mark is kept, and then refused as what it is: not JSON.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw)
  } catch {
    throw apiError('badRequestBody', 'expected UTF-8')
  }
}

/** Walks text that is known to be JSON, member names in hand. */
function scan(text: string): void {
  // One entry for each open object or list: the names seen so far, or none for a list.
  const open: (Set<string> | undefined)[] = []
  let atName = false
  for (let i = 0; i < text.length; i++) {
    switch (text[i]) {
      case '{':
      case '[':
        atName = text[i] === '{'
        if (open.push(atName ? new Set() : undefined) > MOST_DEPTH)
          throw apiError('badRequestBody', `nesting is deeper than ${MOST_DEPTH}`)
        break
      case '}':
      case ']':
        open.pop()
        atName = false
        break
      case ',':
        atName = open.at(-1) !== undefined
        break
      case '"': {
        const end = endOfString(text, i)
        const string = JSON.parse(text.slice(i, end + 1)) as string
        if (string.includes('\0') || !string.isWellFormed())
          throw apiError('badRequestBody', 'text has a character that cannot be kept (U+0000 or half a pair)')
        if (atName) checkName(string, open.at(-1)!)
        atName = false
        i = end
      }
    }
  }
}

function checkName(name: string, seen: Set<string>): void {
  if (name === '__proto__') throw apiError('badRequestBody', 'member `__proto__` is not allowed')
  if (seen.has(name)) throw apiError('badRequestBody', `member \`${name}\` appears twice`)
  seen.add(name)
}

function endOfString(text: string, start: number): number {
  let i = start + 1
  while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1
  return i
}
