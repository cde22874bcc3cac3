/** The API's error of a Solana transaction that failed (docs/protocol/sends.md#reverts). */

import { decodeProgramError, placeAsAsked, readSolanaDraft, type SmartContractInterface } from '../../chain/index.ts'
import type { Wire } from '../../protocol/index.ts'
import type { NodeRefusal, SolanaRun, TransactionError } from '../nodes/index.ts'
import type { SendRow } from '../resources/sends/store.ts'
import { readContractInterfaces } from '../signing/index.ts'
import type { SendTools } from './family.ts'

/** Unstated: the words. Where it failed: tried before it was sent, in its block, or when it was handed over. */
export type SolanaFailureSource = 'simulation' | 'execution' | 'broadcast'

/** What nodes say of bytes that they will never take: no transaction, or none that is signed (agave's `custom_error.rs`). */
const REFUSED_FOR_GOOD = [-32_602, -32_003]

/** A run that failed, and what was run. */
export interface FailedRun {
  readonly source: SolanaFailureSource
  readonly error: TransactionError
  readonly run: SolanaRun
  readonly transaction: Uint8Array
}

/** Explains why a send's transaction failed when a node ran it, with the names that uploaded IDLs have for errors. */
export async function explainRun({ database }: Pick<SendTools, 'database'>, row: SendRow, failed: FailedRun) {
  const program = failedProgram(failed.run.logs)
  const interfaces =
    program === undefined
      ? []
      : await database.read((tx) => readContractInterfaces({ tx, organizationId: row.organization_id }, [program]))
  const custom = program === undefined ? undefined : { program, interfaces }
  return runFailure(failed, { isSponsored: row.account !== null, ...(custom && { custom }) })
}

interface Explanation {
  readonly isSponsored: boolean
  /** The program that failed, and what has been uploaded of it. */
  readonly custom?: { readonly program: string; readonly interfaces: readonly SmartContractInterface[] }
}

function runFailure({ source, error, run, transaction }: FailedRun, explanation: Explanation): Wire.TxError {
  const { logs, unitsConsumed, innerInstructions } = run
  return {
    message: describe(error, run, transaction, explanation),
    solana: {
      source,
      transactionErrorJson: JSON.stringify(error),
      logs,
      ...(unitsConsumed === undefined ? {} : { unitsConsumed: String(unitsConsumed) }),
      ...(innerInstructions === undefined || innerInstructions === null
        ? {}
        : { innerInstructionsJson: JSON.stringify(innerInstructions) }),
    },
  }
}

/** Whether a node will never take what it was given. */
export function isRefusedForGood({ code }: NodeRefusal): boolean {
  return REFUSED_FOR_GOOD.includes(code)
}

/** Makes the error of a transaction that a node does not take. */
export function refusalFailure(source: SolanaFailureSource, { code, message }: NodeRefusal): Wire.TxError {
  return { message, solana: { source, rpcCode: code, rpcMessage: message } }
}

/** Instructions count from 0, as in everything else that is said of them, and as they were asked for. */
function describe(
  error: TransactionError,
  { logs }: SolanaRun,
  transaction: Uint8Array,
  { isSponsored, custom }: Explanation,
): string {
  const reason = reasonOf(error, transaction, isSponsored)
  if (reason !== undefined) return `transaction failed with ${reason}`
  const said = lastWords(logs)
  const withWords = (what: string) => (said === undefined ? what : `${what}: ${said}`)
  const failed = typeof error === 'string' ? undefined : error['InstructionError']
  if (!Array.isArray(failed)) return withWords(`transaction failed with ${nameOf(error)}`)
  const [index, why] = failed as [number, TransactionError]
  const place = isSponsored ? placeAsAsked(transaction, index) : index
  const what = place === undefined ? 'paying rent in advance' : `instruction ${place}`
  const code = typeof why === 'object' ? why['Custom'] : undefined
  if (typeof code !== 'number') return withWords(`${what} failed with ${nameOf(why)}`)
  const number = `custom error 0x${code.toString(16)}`
  const named = custom && decodeProgramError(custom.program, code, custom.interfaces)
  if (named === undefined) return withWords(`${what} failed with ${number}`)
  const { name, message } = named
  const known = `${what} failed with ${name} (${number} of ${custom!.program})`
  return message === undefined ? withWords(known) : `${known}: ${message}`
}

/** Why the runtime has not begun with the instructions, or has undone them all, where its own word for it says too little. */
function reasonOf(error: TransactionError, transaction: Uint8Array, isSponsored: boolean): string | undefined {
  const { signers, accounts, blockhash, nonceAccount } = readSolanaDraft(transaction)
  const payer = `its payer ${signers[0]}${isSponsored ? ', which pays for sponsored sends,' : ''}`
  const [name, about] = typeof error === 'string' ? [error] : Object.entries(error)[0]!
  switch (name) {
    case 'AccountNotFound':
      return `${name}: ${payer} has nothing`
    case 'InsufficientFundsForFee':
      return `${name}: ${payer} has too little for the fee`
    case 'InsufficientFundsForRent': {
      const { account_index: index = -1 } = about as { readonly account_index?: number }
      return `${name}: ${accounts[index] ?? 'an account'} would be left with less than an account must have`
    }
    case 'ProgramAccountNotFound':
    case 'InvalidProgramForExecution':
      return `${name}: a program that it calls is not there`
    case 'BlockhashNotFound':
      return nonceAccount && `${name}: ${blockhash} is not the nonce of ${nonceAccount}`
    default:
      return undefined
  }
}

/** The innermost program that failed with a number of its own: those that have called it fail after it, with the same. */
function failedProgram(logs: readonly string[]): string | undefined {
  return logs.map((line) => /^Program (\w+) failed: custom program error: /.exec(line)?.[1]).find(Boolean)
}

function nameOf(reason: TransactionError): string {
  return typeof reason === 'string' ? reason : JSON.stringify(reason)
}

/** What a program said last, without what the runtime says of every program. */
function lastWords(logs: readonly string[]): string | undefined {
  const runtime = /^Program \w+ (?:invoke|consumed|success|failed)|^Program (?:consumption|return|data):?/
  return logs.findLast((line) => !runtime.test(line))?.replace(/^Program log: /, '')
}
