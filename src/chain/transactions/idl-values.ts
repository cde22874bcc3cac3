/** Borsh → values, by the types of an IDL; the shapes are those that the policy room reads from an IDL (U-idl-shape). */
import { decodeUtf8, encodeBase58, encodeHex } from '../../encoding/index.ts'
import type { ByteReader } from './byte-reader.ts'
import type { Idl, IdlFields, IdlType } from './idl.ts'
import { type Facts, refuse } from './refuse.ts'

/** A type may contain itself; and a list of empty structs can be long in few bytes. */
const MAX_DEPTH = 32
const MAX_VALUES = 65_536

/** Decodes named fields to a map. An `Option` that holds nothing is left out of it (U-option). */
export function decodeFields(idl: Idl, { names, types }: IdlFields, reader: ByteReader): Facts {
  return new Decoder(idl, reader).named(names!, types, 0)
}

class Decoder {
  readonly #idl: Idl
  readonly #reader: ByteReader
  #budget = MAX_VALUES

  constructor(idl: Idl, reader: ByteReader) {
    this.#idl = idl
    this.#reader = reader
  }

  named(names: readonly string[], types: readonly IdlType[], depth: number): Facts {
    const values = types.map((type, index) => [names[index]!, this.#value(type, depth)] as const)
    return Object.fromEntries(values.filter(([, value]) => value !== undefined))
  }

  #value(type: IdlType, depth: number): unknown {
    if (depth > MAX_DEPTH) refuse(`the arguments nest deeper than ${MAX_DEPTH} levels`)
    if (--this.#budget < 0) refuse('the instruction has too many values')
    const what = 'an argument'
    switch (type.kind) {
      case 'unsigned':
        return this.#reader.unsigned(type.bytes, what)
      case 'signed':
        return this.#reader.signed(type.bytes, what)
      case 'float':
        return { float: this.#float(type.bytes) }
      case 'bool':
        return this.#flag('a bool')
      case 'bytes':
        return encodeHex(this.#reader.take(this.#length(), what))
      case 'string':
        return decodeText(this.#reader.take(this.#length(), what))
      case 'public-key':
        return encodeBase58(this.#reader.take(32, what))
      case 'option':
        return this.#flag('an option') ? this.#value(type.inner, depth + 1) : undefined
      case 'vec':
        return this.#list(type.inner, this.#length(), depth)
      case 'array':
        return this.#list(type.inner, type.length, depth)
      case 'defined':
        return this.#defined(type.name, depth + 1)
      default:
        return type satisfies never
    }
  }

  /** An alias is its target, a variant without data its name, one with data a map with one key. */
  #defined(name: string, depth: number): unknown {
    const definition = this.#idl.types.get(name)!
    switch (definition.kind) {
      case 'alias':
        return this.#value(definition.target, depth)
      case 'struct':
        return this.#fields(definition.fields, depth)
      case 'enum': {
        const index = this.#reader.byte('a variant')
        const variant = definition.variants[index]
        if (variant === undefined) refuse(`\`${name}\` has no variant ${index}`)
        const { fields } = variant
        return fields.types.length === 0 ? variant.name : { map: { [variant.name]: this.#fields(fields, depth) } }
      }
      default:
        return definition satisfies never
    }
  }

  #fields({ names, types }: IdlFields, depth: number): unknown {
    if (names === undefined) return { tuple: types.map((type) => this.#value(type, depth)) }
    return { map: this.named(names, types, depth) }
  }

  #list(inner: IdlType, length: number, depth: number): readonly unknown[] {
    const values: unknown[] = []
    for (let index = 0; index < length; index++) values.push(this.#value(inner, depth + 1))
    return values
  }

  #length(): number {
    return Number(this.#reader.unsigned(4, 'a length'))
  }

  #flag(what: string): boolean {
    const byte = this.#reader.byte(what)
    if (byte > 1) refuse(`${what} is ${byte}, neither 0 nor 1`)
    return byte === 1
  }

  #float(size: number): number {
    const bytes = this.#reader.take(size, 'an argument')
    const view = new DataView(bytes.buffer, bytes.byteOffset, size)
    return size === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true)
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (cause) {
    return refuse('an argument is no UTF-8', cause)
  }
}
