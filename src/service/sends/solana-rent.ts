/**
 * Rent that the sponsor of a Solana send pays in advance (docs/protocol/sends.md#rent; the public service's
 * documentation, "Solana rent sponsorship"): where a program that the transaction calls creates an account, and has a
 * signer pay for it, the signer is given that much before. What counts is what is left behind: an account that is
 * closed again before the transaction ends is not paid for, since its rent would be the signer's to keep. Of one that
 * is there afterwards it is the minimum for its size at most. Unstated: both; the public service pays for accounts that
 * are closed at once, and warns of it. An account that is closed by a later transaction gives its rent to the address
 * that this transaction names.
 */
import {
  MAX_SOLANA_BYTES,
  type Prefund,
  placeAsAsked,
  readSolanaDraft,
  solanaFee,
  withPrefunds,
} from '../../chain/index.ts'
import { type Bytes, encodeBase64 } from '../../encoding/index.ts'
import type { SolanaNode, TransactionError } from '../nodes/index.ts'

/** The rent of new accounts, for the signers of a transaction. */
export interface Rent {
  readonly prefunds: readonly Prefund[]
  /** Why it may fail for rent even so. */
  readonly advice?: string
}

export const NO_RENT: Rent = { prefunds: [] }

/**
 * Finds out by trying it what a sponsored transaction, whose payer stands first, needs for rent: with all that the payer
 * has on its signers. Says nothing of one that fails even so. Throws `NodeUnreachable` and `NodeRefusal`.
 */
export async function findRent(node: SolanaNode, transaction: Bytes): Promise<Rent | 'waits'> {
  const { signers, writable } = readSolanaDraft(transaction)
  const [payer, ...others] = signers
  const paying = others.filter((each) => writable.includes(each))
  const [balance, least] = await Promise.all([node.balance(payer!), node.rentOf(0)])
  const each = (balance - solanaFee(transaction) - least) / BigInt(paying.length)
  const poor: Rent = { ...NO_RENT, advice: `${payer}, which pays rent in advance, has ${balance} lamports` }
  if (each <= 0n) return poor
  const trial = withPrefunds(
    transaction,
    paying.map((to) => ({ to, lamports: each })),
  )
  if (trial.length > MAX_SOLANA_BYTES) return { ...NO_RENT, advice: 'it has no room for paying rent in advance' }
  const run = await node.simulate(encodeBase64(trial))
  if (run.error === 'BlockhashNotFound' || (run.error !== null && lacksPayer(run.error, trial))) return 'waits'
  // The System Program's own words.
  if (run.error !== null) return run.logs.some((line) => line.includes('insufficient lamports')) ? poor : NO_RENT
  const calls = systemCalls(run.innerInstructions)
  const created = [...new Set(calls.flatMap((call) => (call.space === undefined ? [] : [target(call)])))]
  if (created.length === 0) return NO_RENT
  const { accounts = [] } = await node.simulate(encodeBase64(trial), created)
  const closed = created.filter((_, index) => accounts[index] === undefined)
  const kept = created.flatMap((address, index) => {
    const size = accounts[index]
    return size === undefined ? [] : [{ size, payments: paymentsTo(address, calls, paying) }]
  })
  return {
    prefunds: await shareRent(node, kept),
    ...(closed.length > 0 && { advice: `rent is not paid in advance for what it closes again: ${closed.join(', ')}` }),
  }
}

/** Whether a transaction failed for want of what its payer had a moment ago: another send has taken of it. */
export function lacksPayer(error: TransactionError, transaction: Bytes): boolean {
  if (typeof error === 'string') return error === 'InsufficientFundsForFee'
  const { InstructionError: failed, InsufficientFundsForRent: short } = error
  if (Array.isArray(failed)) return placeAsAsked(transaction, failed[0] as number) === undefined
  return (short as { readonly account_index?: number } | undefined)?.account_index === 0
}

/** Gives each signer what it pays for accounts, of each account no more than its size asks for. */
async function shareRent(
  node: SolanaNode,
  accounts: readonly { readonly size: number; readonly payments: readonly Prefund[] }[],
): Promise<readonly Prefund[]> {
  const shares = new Map<string, bigint>()
  for (const { size, payments } of accounts) {
    let open = await node.rentOf(size)
    for (const { to, lamports } of payments) {
      const share = open - lamports < 0n ? open : lamports
      open -= share
      shares.set(to, (shares.get(to) ?? 0n) + share)
    }
  }
  return [...shares].flatMap(([to, lamports]) => (lamports > 0n ? [{ to, lamports }] : []))
}

/** How much each of the paying signers puts on a new account: the amounts that the relayer must give them. */
function paymentsTo(address: string, calls: readonly SystemCall[], paying: readonly string[]): readonly Prefund[] {
  return calls.flatMap((call) => {
    const { source, lamports = 0 } = call
    const counts = target(call) === address && source !== undefined && paying.includes(source)
    return counts ? [{ to: source, lamports: BigInt(lamports) }] : []
  })
}

/** What the System Program was told by another program, as nodes write it. */
interface SystemCall {
  readonly source?: string
  readonly lamports?: number
  readonly destination?: string
  readonly newAccount?: string
  readonly account?: string
  /** Said by what makes an account of an address that had no data until then. */
  readonly space?: number
}

function target({ newAccount, destination, account }: SystemCall): string {
  return (newAccount ?? destination ?? account)!
}

interface InnerInstructions {
  readonly instructions: readonly { readonly program?: string; readonly parsed?: { readonly info?: SystemCall } }[]
}

/** Of the calls that programs made, those of the System Program; its own instructions are not among them. */
function systemCalls(inner: unknown): readonly SystemCall[] {
  return ((inner ?? []) as readonly InnerInstructions[]).flatMap(({ instructions }) =>
    instructions.flatMap(({ program, parsed }) => (program === 'system' && parsed?.info ? [parsed.info] : [])),
  )
}
