/**
 * Calldata → values, by type (Solidity's ABI specification, "formal specification of the encoding"). A word whose unused
 * bits are set is refused: contracts disagree on what it means. Bytes behind the arguments are not: contracts ignore
 * them, and wallets append marks of origin there.
 */
import { decodeUtf8, encodeHex } from '../../encoding/index.ts'
import type { AbiType } from './abi.ts'
import { refuse } from './refuse.ts'

const WORD = 32

/**
 * Decodes arguments. The values are those that the policy room reads from an ABI (U-abi-shape): bigints, `{int}` for the
 * signed, lower-case hex with `0x` for addresses and bytes, `{text}`, lists, `{tuple}`.
 */
export function decodeArguments(types: readonly AbiType[], data: Uint8Array): readonly unknown[] {
  return new Decoder(data).sequence(types.length, (index) => types[index]!, 0)
}

class Decoder {
  readonly #data: Uint8Array
  /**
   * How many values may still be read. Offsets may point to one place many times, so that a short text could stand for
   * very many values; as it is commonly written, no two share a word but a tuple or a list and what it begins with.
   */
  #budget: number

  constructor(data: Uint8Array) {
    this.#data = data
    this.#budget = 1024 + 8 * Math.ceil(data.length / WORD)
  }

  /** Head and tail: a dynamic value has its offset from `base` in the head. */
  sequence(count: number, typeAt: (index: number) => AbiType, base: number): readonly unknown[] {
    const values: unknown[] = []
    let head = base
    for (let index = 0; index < count; index++) {
      const type = typeAt(index)
      if (isDynamic(type)) {
        values.push(this.#value(type, base + this.#size(head)))
        head += WORD
      } else {
        values.push(this.#value(type, head))
        head += headWords(type) * WORD
      }
    }
    return values
  }

  #value(type: AbiType, at: number): unknown {
    this.#spend(1)
    switch (type.kind) {
      case 'uint':
        return this.#unsigned(at, type.bits)
      case 'int':
        return { int: this.#signed(at, type.bits) }
      case 'address':
        return `0x${this.#unsigned(at, 160).toString(16).padStart(40, '0')}`
      case 'bool':
        return this.#unsigned(at, 1) === 1n
      case 'fixed-bytes':
        return this.#fixedBytes(at, type.size)
      case 'bytes':
        return `0x${encodeHex(this.#tail(at))}`
      case 'string':
        return { text: decodeText(this.#tail(at)) }
      case 'tuple':
        return { tuple: this.sequence(type.components.length, (index) => type.components[index]!, at) }
      case 'array': {
        const start = type.length === undefined ? at + WORD : at
        const length = type.length ?? this.#size(at)
        const words = isDynamic(type.element) ? 1 : headWords(type.element)
        if (words * length * WORD > this.#data.length - start) refuse('the calldata ends within a list')
        return this.sequence(length, () => type.element, start)
      }
      default:
        return type satisfies never
    }
  }

  #spend(values: number): void {
    this.#budget -= values
    if (this.#budget < 0) refuse('the calldata stands for more values than its size admits')
  }

  #word(at: number): Uint8Array {
    if (at + WORD > this.#data.length) refuse('the calldata ends before its arguments')
    return this.#data.subarray(at, at + WORD)
  }

  #unsigned(at: number, bits: number): bigint {
    const value = BigInt(`0x${encodeHex(this.#word(at))}`)
    if (value >> BigInt(bits) !== 0n) refuse(`the calldata has a value that does not fit ${bits} bits`)
    return value
  }

  #signed(at: number, bits: number): bigint {
    const value = BigInt.asIntN(256, this.#unsigned(at, 256))
    if (BigInt.asIntN(bits, value) !== value) refuse(`the calldata has a value that does not fit ${bits} bits`)
    return value
  }

  #fixedBytes(at: number, size: number): string {
    const word = this.#word(at)
    if (word.subarray(size).some((byte) => byte !== 0))
      refuse(`the calldata has a value that does not fit ${size} bytes`)
    return `0x${encodeHex(word.subarray(0, size))}`
  }

  /** An offset or a length: neither can be more than there is. */
  #size(at: number): number {
    const value = this.#unsigned(at, 256)
    if (value > BigInt(this.#data.length)) refuse('the calldata points behind its end')
    return Number(value)
  }

  #tail(at: number): Uint8Array {
    const length = this.#size(at)
    this.#spend(Math.ceil(length / WORD))
    if (at + WORD + length > this.#data.length) refuse('the calldata ends within a text')
    return this.#data.subarray(at + WORD, at + WORD + length)
  }
}

function isDynamic(type: AbiType): boolean {
  if (type.kind === 'bytes' || type.kind === 'string') return true
  if (type.kind === 'tuple') return type.components.some(isDynamic)
  return type.kind === 'array' && (type.length === undefined || (type.length > 0 && isDynamic(type.element)))
}

/** How many words a value that is not dynamic takes. */
function headWords(type: AbiType): number {
  if (type.kind === 'tuple') return type.components.reduce((words, component) => words + headWords(component), 0)
  return type.kind === 'array' ? (type.length ?? 0) * headWords(type.element) : 1
}

function decodeText(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (cause) {
    return refuse('the calldata has a string that is no UTF-8', cause)
  }
}
