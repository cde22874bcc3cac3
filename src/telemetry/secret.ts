import { inspect } from 'node:util'

/** Private keys of this process, for one search of what it writes; kept as long as the process. */
const keys: Buffer[] = []

/** As bytes of their own: a text would stand in every snapshot of the heap. */
function bytesOf(hex: string): Buffer {
  const key = Buffer.allocUnsafeSlow(32)
  key.write(hex, 'hex')
  return key
}

/**
 * A value that must not be shown: text, JSON and inspection all print `[secret]`. `reveal()` is the only way in, so
 * that a search for it lists every place where a secret is opened.
 */
export class Secret<T = string> {
  readonly #value: T | undefined
  /** A private key in hex is kept as its bytes. */
  readonly #key: Buffer | undefined

  constructor(value: T) {
    const text = typeof value === 'string' ? value.trim() : ''
    const key = /^[0-9a-f]{64}$/i.test(text) ? bytesOf(text) : undefined
    if (key && !keys.some((known) => known.equals(key))) keys.push(key)
    this.#key = key?.toString('hex') === value ? key : undefined
    this.#value = this.#key ? undefined : value
  }

  reveal(): T {
    return (this.#key ? this.#key.toString('hex') : this.#value) as T
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}

/** Whether a text holds a private key that this process has loaded: in hex, or anywhere in base64, PEM and base64url included. */
export function holdsLoadedKey(text: string): boolean {
  if (keys.length === 0) return false
  const lower = text.toLowerCase()
  if (keys.some((key) => lower.includes(key.toString('hex')))) return true
  // A block of PEM is one run once its line breaks are gone, those that JSON writes as escapes too.
  const runs = text.replace(/\\n|[\r\n\t ]+/g, '').match(/[A-Za-z0-9+/_-]{42,}/g) ?? []
  // A run may begin with what belongs to the text before it, so each of the four beginnings is tried.
  return runs.some((run) =>
    [0, 1, 2, 3].some((from) => {
      const bytes = Buffer.from(run.slice(from), 'base64url')
      return keys.some((key) => bytes.includes(key))
    }),
  )
}
