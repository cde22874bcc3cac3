/**
 * What may be changed of a Solana transaction before it is signed (docs/protocol/sends.md#solana-sends): its blockhash,
 * and instructions to the Compute Budget program, which set a limit of compute units and a price for each. A signature
 * covers the whole message: one that somebody has signed must stay as it is.
 */
import { KEY_CURVES } from '../../crypto/index.ts'
import { type Bytes, concatBytes, decodeBase58, encodeBase58, encodeHex } from '../../encoding/index.ts'
import { ByteReader } from './byte-reader.ts'
import { refuse } from './refuse.ts'
import { encodeSolana, encodeSolanaMessage, littleEndian } from './solana-encoding.ts'
import { type CompiledInstruction, readSolanaParts, type SolanaMessage } from './solana-message.ts'
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from './solana-programs.ts'

/** Stands for a blockhash that is still to be filled in: 32 zero bytes. */
export const NO_BLOCKHASH = encodeBase58(new Uint8Array(32))

/** Packets of the network hold no more (the IPv6 minimum of 1280 bytes, without 48 of headers). */
export const MAX_SOLANA_BYTES = 1_232

/** Instructions of the Compute Budget program, by their first byte. */
const SET_UNIT_LIMIT = 2
const SET_UNIT_PRICE = 3

/** `AdvanceNonceAccount` of the System Program: 4, in four bytes. */
const ADVANCE_NONCE = [4, 0, 0, 0]

/** Compute units in all, and what is offered for each in millionths of a lamport. */
export interface ComputeBudget {
  readonly unitLimit?: number
  readonly unitPrice?: bigint
}

/** The parts of a transaction that are needed to complete and sign it. */
export interface SolanaDraft {
  /** Base58. The first pays the fee; they sign in this order. */
  readonly signers: readonly string[]
  /** Those whose signature is there already. */
  readonly signedBy: readonly string[]
  /** Base58; `NO_BLOCKHASH` where one is to be filled in. */
  readonly blockhash: string
  /** The account whose nonce stands in place of a blockhash, and makes the transaction last until it is advanced. */
  readonly nonceAccount?: string
  /** Those that the transaction names itself, in order. */
  readonly accounts: readonly string[]
  /** Those of them that it writes to. */
  readonly writable: readonly string[]
  /** What it sets itself. */
  readonly budget: ComputeBudget
}

/** Reads a transaction, or a bare message that nobody has signed. Throws `ChainError`. */
export function readSolanaDraft(transaction: Uint8Array): SolanaDraft {
  const { signatures, content } = readSolanaParts(transaction)
  const { keys, signers, readonlySigners, readonlyOthers, blockhash } = content
  const signing = keys.slice(0, signers)
  const nonceAccount = nonceAccountOf(content)
  return {
    signers: signing,
    signedBy: signing.filter((_, place) => signatures[place]!.some((byte) => byte !== 0)),
    blockhash,
    ...(nonceAccount === undefined ? {} : { nonceAccount }),
    accounts: keys,
    writable: keys.filter((_, place) =>
      place < signers ? place < signers - readonlySigners : place < keys.length - readonlyOthers,
    ),
    budget: readBudget(content),
  }
}

/**
 * Throws `ChainError` unless a transaction can be sent with the signatures of these keys (32 bytes each) beside those that are
 * there: they stand in its order, nobody else is missing, and what is signed already is this transaction.
 */
export function checkSolanaSigners(transaction: Uint8Array, publicKeys: readonly Uint8Array[]): void {
  const { signers, signedBy, blockhash, nonceAccount } = readSolanaDraft(transaction)
  const signing = publicKeys.map((key) => encodeBase58(key))
  const places = signing.map((key) => signers.indexOf(key))
  const stranger = signing[places.indexOf(-1)]
  if (stranger !== undefined) refuse(`${stranger} is none of the accounts that must sign`)
  const twice = signing.find((key, index) => signing.indexOf(key) < index)
  if (twice !== undefined) refuse(`${twice} signs it once, and is named twice`)
  if (places.some((place, index) => index > 0 && place <= places[index - 1]!)) {
    refuse(`its signers stand in another order: ${signers.join(', ')}`)
  }
  const missing = signers.find((key) => !signing.includes(key) && !signedBy.includes(key))
  if (missing !== undefined) refuse(`${missing} must sign it too`)
  if (blockhash === NO_BLOCKHASH && signedBy.length > 0) refuse(`${signedBy[0]} has signed it without a blockhash`)
  if (blockhash === NO_BLOCKHASH && nonceAccount !== undefined) refuse(`it lacks the nonce of ${nonceAccount}`)
  checkSignatures(transaction)
}

/** Throws `ChainError` for a transaction that is too long to be sent, once its signatures are in it. */
export function checkSolanaSize(transaction: Uint8Array): void {
  const { length } = unsignedSolana(readSolanaParts(transaction).content)
  if (length > MAX_SOLANA_BYTES)
    refuse(`it would have ${length} bytes, more than the ${MAX_SOLANA_BYTES} that are taken`)
}

function checkSignatures(transaction: Uint8Array): void {
  const { signatures, message, content } = readSolanaParts(transaction)
  for (const [place, signature] of signatures.entries()) {
    const signer = content.keys[place]!
    const claim = { publicKey: encodeHex(decodeBase58(signer)), signatureHex: encodeHex(signature), body: message }
    if (signature.some((byte) => byte !== 0) && !KEY_CURVES.ed25519.verify(claim)) {
      refuse(`the signature of ${signer} is none of this transaction`)
    }
  }
}

/** Puts a blockhash in (base58). Signatures are dropped: they were made without it. Throws `ChainError`. */
export function withBlockhash(transaction: Uint8Array, blockhash: string): Bytes {
  return unsignedSolana({ ...readSolanaParts(transaction).content, blockhash })
}

/**
 * Adds instructions that set what a transaction does not set yet. They are the last: instructions may name others by their
 * place. One without room for them stays as it is. Signatures are dropped.
 */
export function withComputeBudget(transaction: Uint8Array, { unitLimit, unitPrice }: ComputeBudget): Bytes {
  const { content } = readSolanaParts(transaction)
  const set = readBudget(content)
  const added = [
    ...(unitLimit === undefined || set.unitLimit !== undefined
      ? []
      : [budgetData(SET_UNIT_LIMIT, BigInt(unitLimit), 4)]),
    ...(unitPrice === undefined || set.unitPrice !== undefined ? [] : [budgetData(SET_UNIT_PRICE, unitPrice, 8)]),
  ]
  const now = unsignedSolana(content)
  if (added.length === 0) return now
  const longer = unsignedSolana(withInstructions(content, added))
  return longer.length > MAX_SOLANA_BYTES ? now : longer
}

function withInstructions(content: SolanaMessage, added: readonly Uint8Array[]): SolanaMessage {
  const known = content.keys.indexOf(COMPUTE_BUDGET_PROGRAM)
  const { keys, instructions, readonlyOthers } = known < 0 ? withProgram(content) : content
  const program = keys.indexOf(COMPUTE_BUDGET_PROGRAM)
  const calls = added.map((data): CompiledInstruction => ({ program, accounts: [], data }))
  return { ...content, keys, readonlyOthers, instructions: [...instructions, ...calls] }
}

function readBudget({ keys, instructions }: SolanaMessage): ComputeBudget {
  const set = (tag: number, size: number) => {
    const found = instructions.find(({ program, data }) => keys[program] === COMPUTE_BUDGET_PROGRAM && data[0] === tag)
    return found && new ByteReader(found.data.subarray(1)).unsigned(size, 'a compute budget')
  }
  const [limit, unitPrice] = [set(SET_UNIT_LIMIT, 4), set(SET_UNIT_PRICE, 8)]
  return {
    ...(limit === undefined ? {} : { unitLimit: Number(limit) }),
    ...(unitPrice === undefined ? {} : { unitPrice }),
  }
}

/** Programs are read-only and stand last; behind them are the accounts of lookup tables, whose places move on by one. */
function withProgram({ keys, instructions, readonlyOthers, ...rest }: SolanaMessage): SolanaMessage {
  const moved = (place: number) => (place < keys.length ? place : place + 1)
  return {
    ...rest,
    keys: [...keys, COMPUTE_BUDGET_PROGRAM],
    readonlyOthers: readonlyOthers + 1,
    instructions: instructions.map((each) => ({ ...each, accounts: each.accounts.map(moved) })),
  }
}

function budgetData(tag: number, value: bigint, size: number): Bytes {
  return concatBytes(Uint8Array.of(tag), littleEndian(value, size))
}

/** Writes a transaction that nobody has signed. */
export function unsignedSolana(content: SolanaMessage): Bytes {
  const slots = Array.from({ length: content.signers }, () => new Uint8Array(64))
  return encodeSolana(slots, encodeSolanaMessage(content))
}

/** A durable nonce is advanced by the first instruction or by none (Solana's documentation, "durable nonces"). */
function nonceAccountOf({ keys, instructions: [first] }: SolanaMessage): string | undefined {
  if (first === undefined || keys[first.program] !== SYSTEM_PROGRAM) return undefined
  const advances = ADVANCE_NONCE.every((byte, index) => first.data[index] === byte)
  return advances ? keys[first.accounts[0] ?? -1] : undefined
}
