/**
 * A payment on Solana as a transaction: SOL by the System Program's `Transfer`; a token by `TransferChecked` between the
 * accounts that its owners have at the Associated Token Account program, of which the receiver's is made if there is none
 * (Solana's documentation, "transfer tokens"). What is read is what was written: anything else in a transaction makes it none.
 */
import { type Bytes, concatBytes, decodeBase58 } from '../../encoding/index.ts'
import { ChainError } from '../error.ts'
import { programAddress } from '../solana-address.ts'
import { ByteReader } from './byte-reader.ts'
import { type ComputeBudget, NO_BLOCKHASH, unsignedSolana, withComputeBudget } from './solana-draft.ts'
import { littleEndian } from './solana-encoding.ts'
import { readSolanaParts, type SolanaMessage } from './solana-message.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  SYSTEM_TRANSFER,
  TOKEN_PROGRAMS,
  type TokenProgram,
} from './solana-programs.ts'
import { SOLANA_SIGNATURE_FEE } from './solana-sponsorship.ts'

/** Addresses are base58. */
export interface SolanaPayment {
  /** Signs, and pays the fee too. */
  readonly from: string
  /** The receiver: of a token the owner, not the token account. */
  readonly to: string
  /** In the smallest unit. */
  readonly amount: bigint
  /** @default SOL */
  readonly token?: SolanaToken
}

export interface SolanaToken {
  readonly mint: string
  /** As the mint has them; the token program refuses others. */
  readonly decimals: number
  readonly program: TokenProgram
}

/** Those that a payment calls itself. The System Program is written as zeros, as is what was forgotten. */
const PROGRAMS: readonly string[] = [SYSTEM_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, ...Object.values(TOKEN_PROGRAMS)]

/** `CreateIdempotent` of the Associated Token Account program. */
const CREATE_IDEMPOTENT = Uint8Array.of(1)
/** `TransferChecked` of the token programs. */
const TRANSFER_CHECKED = Uint8Array.of(12)

const MAX_AMOUNT = 2n ** 64n - 1n
const MILLIONTHS = 1_000_000n

/**
 * Compute units that a payment is given where its fee is bounded. SOL takes 450: 150 for each of three instructions of the
 * runtime's own. A token with a new account was seen to take 14,000, with Token-2022 18,000, to which come 1,500 for each
 * counter that the account's address needs, and what the extensions of a mint do.
 */
const UNITS = { sol: 450, token: 100_000 } as const

/** The address of the account in which an owner (base58) keeps a token. */
export function tokenAccountOf(owner: string, { mint, program }: Pick<SolanaToken, 'mint' | 'program'>): string {
  const seeds = [owner, TOKEN_PROGRAMS[program], mint].map((key) => decodeBase58(key))
  return programAddress(seeds, ASSOCIATED_TOKEN_PROGRAM)
}

/**
 * Writes the transaction of a payment, unsigned and without a blockhash. Throws `ChainError` for an amount that does not fit
 * 64 bits, and for a program as receiver.
 */
export function encodeSolanaPayment(payment: SolanaPayment, budget: ComputeBudget = {}): Bytes {
  const { amount, to, from } = payment
  if (amount < 0n || amount > MAX_AMOUNT) throw new ChainError('the amount does not fit 64 bits')
  if (PROGRAMS.includes(to)) throw new ChainError(`${to} is a program, and would keep what it is paid`)
  return withComputeBudget(unsignedSolana(compile(from, callsOf(payment))), budget)
}

/** Reads a payment, of which nothing but the compute budget is set; undefined for any other transaction. */
export function readSolanaPayment(transaction: Uint8Array): SolanaPayment | undefined {
  const { content } = readSolanaParts(transaction)
  if (content.signers !== 1 || content.lookups.length > 0) return undefined
  const { keys, instructions } = content
  const calls = instructions
    .map(({ program, accounts, data }) => ({
      program: keys[program]!,
      accounts: accounts.map((index) => ({ key: keys[index]! })),
      data,
    }))
    .filter(({ program }) => program !== COMPUTE_BUDGET_PROGRAM)
  const payment = readFields(keys[0]!, calls)
  return payment !== undefined && textOf(callsOf(payment)) === textOf(calls) ? payment : undefined
}

/**
 * The compute budget with which a payment costs no more than so many lamports, all of which are then paid; undefined where
 * that is less than its signature costs. Throws `ChainError` for more than a price can say.
 */
export function solanaBudgetWithin(
  maxFee: bigint,
  { token }: Pick<SolanaPayment, 'token'>,
): Required<ComputeBudget> | undefined {
  if (maxFee < SOLANA_SIGNATURE_FEE) return undefined
  const unitLimit = token === undefined ? UNITS.sol : UNITS.token
  const unitPrice = ((maxFee - SOLANA_SIGNATURE_FEE) * MILLIONTHS) / BigInt(unitLimit)
  if (unitPrice > MAX_AMOUNT) throw new ChainError('the fee does not fit 64 bits')
  return { unitLimit, unitPrice }
}

/** An instruction before it is known where its accounts stand. */
interface Call {
  readonly program: string
  readonly accounts: readonly CallAccount[]
  readonly data: Uint8Array
}

interface CallAccount {
  readonly key: string
  readonly signer?: true
  readonly writable?: true
}

function callsOf({ from, to, amount, token }: SolanaPayment): readonly Call[] {
  const payer = { key: from, signer: true, writable: true } as const
  const units = littleEndian(amount, 8)
  if (token === undefined) {
    const accounts = [payer, { key: to, writable: true } as const]
    return [{ program: SYSTEM_PROGRAM, accounts, data: concatBytes(SYSTEM_TRANSFER, units) }]
  }
  const { mint, decimals } = token
  const program = TOKEN_PROGRAMS[token.program]
  const [source, target] = [from, to].map((owner) => ({ key: tokenAccountOf(owner, token), writable: true }) as const)
  return [
    {
      program: ASSOCIATED_TOKEN_PROGRAM,
      accounts: [payer, target!, { key: to }, { key: mint }, { key: SYSTEM_PROGRAM }, { key: program }],
      data: CREATE_IDEMPOTENT,
    },
    {
      program,
      accounts: [source!, { key: mint }, target!, { key: from, signer: true }],
      data: concatBytes(TRANSFER_CHECKED, units, Uint8Array.of(decimals)),
    },
  ]
}

/** What the calls say where a payment says it; whether they say nothing else is for the caller to compare. */
function readFields(from: string, [first, second, ...more]: readonly Call[]): SolanaPayment | undefined {
  if (first === undefined || more.length > 0) return undefined
  const amountIn = (data: Uint8Array, at: number) =>
    data.length < at + 8 ? -1n : new ByteReader(data.subarray(at)).unsigned(8, 'an amount')
  if (second === undefined) {
    const to = first.accounts[1]?.key
    return to === undefined ? undefined : { from, to, amount: amountIn(first.data, SYSTEM_TRANSFER.length) }
  }
  const [, , owner, mint] = first.accounts
  const program = (Object.keys(TOKEN_PROGRAMS) as TokenProgram[]).find(
    (each) => TOKEN_PROGRAMS[each] === second.program,
  )
  if (owner === undefined || mint === undefined || program === undefined) return undefined
  const amount = amountIn(second.data, TRANSFER_CHECKED.length)
  const decimals = second.data.at(-1) ?? 0
  return { from, to: owner.key, amount, token: { mint: mint.key, decimals, program } }
}

function textOf(calls: readonly Call[]): string {
  return JSON.stringify(
    calls.map(({ program, accounts, data }) => [program, accounts.map(({ key }) => key), [...data]]),
  )
}

/** Gives every account its place: writable signers, of whom the payer is the first, other signers, writable others, others. */
function compile(payer: string, calls: readonly Call[]): SolanaMessage {
  const roles = new Map<string, { signer: boolean; writable: boolean }>([[payer, { signer: true, writable: true }]])
  for (const { key, signer = false, writable = false } of calls.flatMap(({ program, accounts }): CallAccount[] => [
    ...accounts,
    { key: program },
  ])) {
    const role = roles.get(key)
    roles.set(key, { signer: signer || role?.signer === true, writable: writable || role?.writable === true })
  }
  const inRole = (signer: boolean, writable: boolean) =>
    [...roles].filter(([, role]) => role.signer === signer && role.writable === writable).map(([key]) => key)
  const [readonlySigners, readonlyOthers] = [inRole(true, false), inRole(false, false)]
  const signers = [...inRole(true, true), ...readonlySigners]
  const keys = [...signers, ...inRole(false, true), ...readonlyOthers]
  return {
    version: 'legacy',
    keys,
    signers: signers.length,
    readonlySigners: readonlySigners.length,
    readonlyOthers: readonlyOthers.length,
    blockhash: NO_BLOCKHASH,
    instructions: calls.map(({ program, accounts, data }) => ({
      program: keys.indexOf(program),
      accounts: accounts.map(({ key }) => keys.indexOf(key)),
      data,
    })),
    lookups: [],
  }
}
