import { refuse } from './refuse.ts'

/** Reads bytes from first to last; reading past the end refuses the transaction. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  /** The next bytes, as a view. `what` is what they are called when there are too few. */
  take(length: number, what: string): Uint8Array {
    if (length > this.left) refuse(`${what} needs ${length} bytes, ${this.left} are left`)
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  byte(what: string): number {
    return this.take(1, what)[0]!
  }

  /** A little-endian number of that many bytes. */
  unsigned(size: number, what: string): bigint {
    let value = 0n
    for (const byte of this.take(size, what).toReversed()) value = (value << 8n) | BigInt(byte)
    return value
  }

  /** The same in two's complement. */
  signed(size: number, what: string): bigint {
    return BigInt.asIntN(size * 8, this.unsigned(size, what))
  }

  /** Refuses bytes behind the end. */
  end(what: string): void {
    if (this.left > 0) refuse(`${this.left} bytes are left behind ${what}`)
  }
}
