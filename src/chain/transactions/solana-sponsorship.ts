/**
 * Solana transactions that somebody else pays the fee of, and the rent of new accounts where that is wanted
 * (docs/protocol/sends.md#solana-sends). INVARIANT: the payer signs for the fee and for what it puts on signers in
 * advance, nothing else. It stands where no instruction of the transaction as it was asked for can name it:
 * instructions name accounts by their place, lookup tables hold no signers, and a transaction that has the payer among
 * its own accounts is refused.
 */
import { type Bytes, concatBytes } from '../../encoding/index.ts'
import { ByteReader } from './byte-reader.ts'
import { refuse } from './refuse.ts'
import { readSolanaDraft, unsignedSolana } from './solana-draft.ts'
import { littleEndian } from './solana-encoding.ts'
import { type CompiledInstruction, readSolanaParts, type SolanaMessage } from './solana-message.ts'
import { MAX_COMPUTE_UNITS, SYSTEM_PROGRAM, SYSTEM_TRANSFER } from './solana-programs.ts'

/** `CreateAccount` and `CreateAccountWithSeed` of the System Program, by the first of four bytes. */
const CREATIONS = [0, 3]

/** Programs that check signatures, which are paid for as the transaction's own; their data begins with how many. */
const SIGNATURE_PROGRAMS = [
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]

/** Lamports for each signature (Solana's documentation, "fees"). */
export const SOLANA_SIGNATURE_FEE = 5_000n
/** Units that an instruction may use where no limit is set. */
const UNITS_EACH = 200_000
const MILLIONTHS = 1_000_000n

/** Throws `ChainError` unless a payer (base58) may pay for a transaction that nobody has signed. */
export function checkSolanaSponsored(transaction: Uint8Array, payer: string): void {
  const { keys, instructions } = readSolanaParts(transaction).content
  const { signedBy } = readSolanaDraft(transaction)
  if (!keys.includes(SYSTEM_PROGRAM)) refuse('a sponsored transaction has the System Program among its accounts')
  if (keys.includes(payer)) refuse(`a sponsored transaction does not name who pays for it, ${payer}`)
  if (signedBy.length > 0) refuse(`${signedBy[0]} has signed it, and its payer will be another`)
  const creates = ({ program, data }: (typeof instructions)[number]) =>
    keys[program] === SYSTEM_PROGRAM && CREATIONS.includes(data[0]!) && data.subarray(1, 4).every((byte) => byte === 0)
  if (instructions.some(creates)) refuse('a sponsored transaction creates no account by the System Program itself')
}

/** Puts another payer (base58) before the signers of a transaction; they sign as before. Throws `ChainError`. */
export function withFeePayer(transaction: Uint8Array, payer: string): Bytes {
  const { content } = readSolanaParts(transaction)
  const { keys, signers, instructions } = content
  return unsignedSolana({
    ...content,
    keys: [payer, ...keys],
    signers: signers + 1,
    instructions: instructions.map(({ program, accounts, data }) => ({
      program: program + 1,
      accounts: accounts.map((place) => place + 1),
      data,
    })),
  })
}

/** Lamports that the payer of a transaction puts on one of its signers (base58). */
export interface Prefund {
  readonly to: string
  readonly lamports: bigint
}

/**
 * Has the first signer of a transaction put lamports on others before any other instruction is carried out; one that
 * advances a nonce stays the first. Signatures are dropped. Throws `ChainError`.
 */
export function withPrefunds(transaction: Uint8Array, prefunds: readonly Prefund[]): Bytes {
  const { content } = readSolanaParts(transaction)
  const { keys, instructions } = content
  const program = keys.indexOf(SYSTEM_PROGRAM)
  const added = prefunds.map(({ to, lamports }): CompiledInstruction => {
    const data = concatBytes(SYSTEM_TRANSFER, littleEndian(lamports, 8))
    return { program, accounts: [0, keys.indexOf(to)], data }
  })
  const first = readSolanaDraft(transaction).nonceAccount === undefined ? 0 : 1
  return unsignedSolana({ ...content, instructions: instructions.toSpliced(first, 0, ...added) })
}

/**
 * Reads what the payer of a sponsored transaction puts on its signers. Throws `ChainError` if an instruction has the payer do
 * anything else: such a transaction must never be signed.
 */
export function prefundsOf(transaction: Uint8Array): readonly Prefund[] {
  const { keys, signers, instructions } = readSolanaParts(transaction).content
  return instructions.filter(namesPayer).map(({ program, accounts, data }) => {
    const [from, to = 0] = accounts
    const isTransfer = keys[program] === SYSTEM_PROGRAM && SYSTEM_TRANSFER.every((byte, index) => data[index] === byte)
    const isInAdvance = accounts.length === 2 && from === 0 && to > 0 && to < signers
    if (!isTransfer || !isInAdvance) refuse('an instruction has the payer do more than pay in advance')
    const lamports = new ByteReader(data.subarray(SYSTEM_TRANSFER.length)).unsigned(8, 'an amount')
    return { to: keys[to]!, lamports }
  })
}

/** Adds up lamports that are paid in advance. */
export function sumOfPrefunds(prefunds: readonly Prefund[]): bigint {
  return prefunds.reduce((sum, { lamports }) => sum + lamports, 0n)
}

/**
 * The place that an instruction of a sponsored transaction had as it was asked for; none if it is one of those by which the
 * payer pays in advance.
 */
export function placeAsAsked(transaction: Uint8Array, place: number): number | undefined {
  const { instructions } = readSolanaParts(transaction).content
  const added = instructions.map(namesPayer)
  return added[place] === true ? undefined : place - added.slice(0, place).filter(Boolean).length
}

function namesPayer({ accounts }: CompiledInstruction): boolean {
  return accounts.includes(0)
}

/** The most that a transaction's payer can be charged for it, in lamports. */
export function solanaFee(transaction: Uint8Array): bigint {
  const { content } = readSolanaParts(transaction)
  const { unitLimit, unitPrice = 0n } = readSolanaDraft(transaction).budget
  const units = Math.min(unitLimit ?? UNITS_EACH * content.instructions.length, MAX_COMPUTE_UNITS)
  const priority = (BigInt(units) * unitPrice + MILLIONTHS - 1n) / MILLIONTHS
  return SOLANA_SIGNATURE_FEE * BigInt(content.signers + checkedSignatures(content)) + priority
}

function checkedSignatures({ keys, instructions }: SolanaMessage): number {
  const checks = instructions.filter(({ program }) => SIGNATURE_PROGRAMS.includes(keys[program]!))
  return checks.reduce((sum, { data }) => sum + (data[0] ?? 0), 0)
}
