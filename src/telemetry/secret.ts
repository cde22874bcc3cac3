import { inspect } from 'node:util'

/**
 * A value that must not be shown: text, JSON and inspection all print `[secret]`. `reveal()` is the only way in, so
 * that a search for it lists every place where a secret is opened.
 */
export class Secret<T = string> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
  }

  reveal(): T {
    return this.#value
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
