/**
 * Solana transactions as they are written: signatures, then a legacy or a version 0 message (Solana's documentation,
 * "transactions", and the checks that a validator makes before anything else). Read strictly, to the last byte.
 */
import { encodeBase58 } from '../../encoding/index.ts'
import { ChainError } from '../error.ts'
import { ByteReader } from './byte-reader.ts'
import { refuse } from './refuse.ts'

export interface SolanaMessage {
  readonly version: 'legacy' | 0
  /** Base58, in order: writable signers, read-only signers, writable others, read-only others. */
  readonly keys: readonly string[]
  readonly signers: number
  readonly readonlySigners: number
  readonly readonlyOthers: number
  readonly blockhash: string
  readonly instructions: readonly CompiledInstruction[]
  readonly lookups: readonly TableLookup[]
}

export interface CompiledInstruction {
  readonly program: number
  readonly accounts: readonly number[]
  readonly data: Uint8Array
}

export interface TableLookup {
  readonly key: string
  readonly writable: readonly number[]
  readonly readonly: readonly number[]
}

/** A transaction in its two parts. */
export interface SolanaParts {
  /** One for each signer, in their order: 64 bytes, zeros where nobody has signed. */
  readonly signatures: readonly Uint8Array[]
  /** What is signed. */
  readonly message: Uint8Array
  readonly content: SolanaMessage
}

/** Reads the message of a transaction. */
export function readSolanaMessage(bytes: Uint8Array): SolanaMessage {
  return readSolanaParts(bytes).content
}

/**
 * Reads a whole transaction, or a bare message that nobody has signed if the bytes are no transaction
 * (docs/protocol/signing.md#solana-transactions).
 */
export function readSolanaParts(bytes: Uint8Array): SolanaParts {
  try {
    return readTransaction(bytes)
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    try {
      const content = readMessage(new ByteReader(bytes))
      return { signatures: Array.from({ length: content.signers }, () => new Uint8Array(64)), message: bytes, content }
    } catch {
      throw error
    }
  }
}

function readTransaction(bytes: Uint8Array): SolanaParts {
  const reader = new ByteReader(bytes)
  const count = compactLength(reader, 'the number of signatures')
  const slots = reader.take(64 * count, 'the signatures')
  const message = bytes.subarray(bytes.length - reader.left)
  const content = readMessage(reader)
  if (content.signers !== count) refuse(`the message needs ${content.signers} signatures, there are ${count}`)
  const signatures = Array.from({ length: count }, (_, index) => slots.subarray(64 * index, 64 * (index + 1)))
  return { signatures, message, content }
}

/** The first bit set means a version, in the other seven. */
function readMessage(reader: ByteReader): SolanaMessage {
  const first = reader.byte('the message')
  if (first > 0x80) refuse(`there is no version ${first & 0x7f} of messages`)
  const isVersioned = first === 0x80
  const signers = isVersioned ? reader.byte('the header') : first
  const readonlySigners = reader.byte('the header')
  const readonlyOthers = reader.byte('the header')
  const keys = list(reader, 'account keys', () => key(reader, 'an account key'))
  const blockhash = key(reader, 'the blockhash')
  const instructions = list(reader, 'instructions', () => ({
    program: reader.byte('a program index'),
    accounts: [...compactBytes(reader, 'account indexes')],
    data: compactBytes(reader, 'instruction data'),
  }))
  const lookups = isVersioned
    ? list(reader, 'address table lookups', () => ({
        key: key(reader, 'an address table'),
        writable: [...compactBytes(reader, 'writable indexes')],
        readonly: [...compactBytes(reader, 'readonly indexes')],
      }))
    : []
  reader.end('the message')
  const version = isVersioned ? 0 : 'legacy'
  const message = { version, keys, signers, readonlySigners, readonlyOthers, blockhash, instructions, lookups } as const
  checkMessage(message)
  return message
}

/** The checks of validators on every message: the payer signs and is writable, and every index exists. */
function checkMessage({ keys, signers, readonlySigners, readonlyOthers, instructions, lookups }: SolanaMessage): void {
  if (signers + readonlyOthers > keys.length) refuse('the header counts more accounts than there are')
  if (readonlySigners >= signers) refuse('no signer can pay the fee')
  if (lookups.some(({ writable, readonly }) => writable.length + readonly.length === 0)) refuse('a lookup is empty')
  const looked = lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0)
  if (keys.length + looked > 256) refuse('there are more than 256 accounts')
  for (const { program, accounts } of instructions) {
    if (program >= keys.length) {
      refuse(program < keys.length + looked ? 'a program comes from a lookup table' : 'a program has no account')
    }
    if (program === 0) refuse('the payer is called as a program')
    if (accounts.some((index) => index >= keys.length + looked))
      refuse('an instruction names an account that is not there')
  }
}

/** Of anything in a message: on the chain its 1,232 bytes have room for fewer than four hundred instructions. */
export const MOST_ITEMS = 1_000

function list<T>(reader: ByteReader, what: string, item: () => T): readonly T[] {
  const length = compactLength(reader, `the number of ${what}`)
  // Every item takes a byte at least.
  if (length > MOST_ITEMS) refuse(`there are ${length} ${what}, at most ${MOST_ITEMS} are read`)
  if (length > reader.left) refuse(`there are ${length} ${what}, but ${reader.left} bytes are left`)
  return Array.from({ length }, item)
}

function key(reader: ByteReader, what: string): string {
  return encodeBase58(reader.take(32, what))
}

function compactBytes(reader: ByteReader, what: string): Uint8Array {
  return reader.take(compactLength(reader, `the number of ${what}`), what)
}

/** Compact-u16: seven bits a byte, lowest first, at most 16 bits, and no more bytes than needed. */
function compactLength(reader: ByteReader, what: string): number {
  let value = 0
  for (let position = 0; position < 3; position++) {
    const byte = reader.byte(what)
    if (byte === 0 && position > 0) break
    value += (byte & 0x7f) * 2 ** (7 * position)
    if (byte < 0x80 && value < 2 ** 16) return value
  }
  return refuse(`${what} is no compact number`)
}
