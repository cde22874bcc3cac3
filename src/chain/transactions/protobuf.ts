/**
 * Protocol buffers by a table of fields (protobuf.dev, "encoding"). Read strictly: a field that the table lacks is refused,
 * since a policy could not see it, and so is one that stands twice, since readers differ on which of the two counts.
 */
import { ByteReader } from './byte-reader.ts'
import { refuse } from './refuse.ts'

export type FieldKind = 'integer' | 'bytes'

export interface MessageField {
  readonly name: string
  readonly kind: FieldKind
  /** May stand many times. */
  readonly repeated?: true
}

/** By field number. */
export type MessageTable = Readonly<Record<number, MessageField>>

/** The values of a message by name; a repeated field has all of its values. */
export interface ProtobufMessage {
  /** A 64-bit number; 0 if it is not there, as in proto3. */
  readonly integer: (name: string) => bigint
  /** Nothing if it is not there. */
  readonly bytes: (name: string) => Uint8Array
  readonly all: (name: string) => readonly Uint8Array[]
  readonly has: (name: string) => boolean
}

export function readProtobuf(bytes: Uint8Array, table: MessageTable, what: string): ProtobufMessage {
  const values = new Map<string, (bigint | Uint8Array)[]>()
  const reader = new ByteReader(bytes)
  while (reader.left > 0) {
    const tag = varint(reader, what)
    const field = tag >> 3n < 2n ** 29n ? table[Number(tag >> 3n)] : undefined
    if (field === undefined) refuse(`${what} has a field ${tag >> 3n}, which is unknown`)
    const wireType = Number(tag & 7n)
    if (wireType !== (field.kind === 'integer' ? 0 : 2)) refuse(`\`${field.name}\` of ${what} has the wrong form`)
    const value = wireType === 0 ? BigInt.asIntN(64, varint(reader, what)) : lengthDelimited(reader, what)
    const given = values.get(field.name)
    if (given === undefined) values.set(field.name, [value])
    else if (field.repeated) given.push(value)
    else refuse(`\`${field.name}\` of ${what} stands twice`)
  }
  return {
    integer: (name) => (values.get(name)?.[0] as bigint | undefined) ?? 0n,
    bytes: (name) => (values.get(name)?.[0] as Uint8Array | undefined) ?? new Uint8Array(),
    all: (name) => (values.get(name) ?? []) as Uint8Array[],
    has: (name) => values.has(name),
  }
}

function lengthDelimited(reader: ByteReader, what: string): Uint8Array {
  const length = varint(reader, what)
  if (length > BigInt(reader.left)) refuse(`${what} ends early`)
  return reader.take(Number(length), what)
}

/** Seven bits a byte, lowest first, at most 64 bits, and no more bytes than needed. */
function varint(reader: ByteReader, what: string): bigint {
  let value = 0n
  for (let position = 0n; position < 10n; position++) {
    const byte = reader.byte(what)
    if (byte === 0 && position > 0n) break
    value |= BigInt(byte & 0x7f) << (7n * position)
    if (byte < 0x80 && value < 2n ** 64n) return value
  }
  return refuse(`${what} has a number in no proper form`)
}
