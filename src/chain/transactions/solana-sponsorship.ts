/**
 * Solana transactions that somebody else pays the fee of (facts: chain §7). INVARIANT: the payer signs for the fee alone. It
 * stands where no instruction of the transaction can name it: instructions name accounts by their place, lookup tables hold
 * no signers, and a transaction that has the payer among its own accounts is refused.
 */
import type { Bytes } from '../../encoding/index.ts'
import { refuse } from './refuse.ts'
import { readSolanaDraft, unsignedSolana } from './solana-draft.ts'
import { readSolanaParts, type SolanaMessage } from './solana-message.ts'
import { MAX_COMPUTE_UNITS, SYSTEM_PROGRAM } from './solana-programs.ts'

/** `CreateAccount` and `CreateAccountWithSeed` of the System Program, by the first of four bytes. */
const CREATIONS = [0, 3]

/** Programs that check signatures, which are paid for as the transaction's own; their data begins with how many. */
const SIGNATURE_PROGRAMS = [
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]

/** Lamports for each signature (Solana's documentation, "fees"). */
export const SIGNATURE_FEE = 5_000n
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

/** The most that a transaction's payer can be charged for it, in lamports. */
export function solanaFee(transaction: Uint8Array): bigint {
  const { content } = readSolanaParts(transaction)
  const { unitLimit, unitPrice = 0n } = readSolanaDraft(transaction).budget
  const units = Math.min(unitLimit ?? UNITS_EACH * content.instructions.length, MAX_COMPUTE_UNITS)
  const priority = (BigInt(units) * unitPrice + MILLIONTHS - 1n) / MILLIONTHS
  return SIGNATURE_FEE * BigInt(content.signers + checkedSignatures(content)) + priority
}

function checkedSignatures({ keys, instructions }: SolanaMessage): number {
  const checks = instructions.filter(({ program }) => SIGNATURE_PROGRAMS.includes(keys[program]!))
  return checks.reduce((sum, { data }) => sum + (data[0] ?? 0), 0)
}
