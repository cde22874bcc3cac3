import { inspect } from 'node:util'

/** Private keys of this process, for one search of what it writes; kept as long as the process. */
const keys: Buffer[] = []

export function loadedKeys(): readonly Buffer[] {
  return keys
}

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
