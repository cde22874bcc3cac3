/** What the API says about a Solana transaction that failed (facts: chain §7, `error.solana`). */
import type { Wire } from '../../protocol/index.ts'
import type { NodeRefusal } from './node.ts'
import type { SolanaRun, TransactionError } from './solana-node.ts'

/** Unstated: the words. Where it failed: tried before it was sent, in its block, or when it was handed over. */
export type SolanaFailureSource = 'simulation' | 'execution' | 'broadcast'

/** Makes the error of a transaction that a node has run, and that failed. */
export function runFailure(source: SolanaFailureSource, error: TransactionError, run: SolanaRun): Wire.TxError {
  const { logs, unitsConsumed, innerInstructions } = run
  const said = lastWords(logs)
  return {
    message: `${describe(error)}${said === undefined ? '' : `: ${said}`}`,
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

/** Makes the error of a transaction that a node does not take. */
export function refusalFailure({ code, message }: NodeRefusal): Wire.TxError {
  return { message, solana: { source: 'broadcast', rpcCode: code, rpcMessage: message } }
}

/** Instructions count from 0, as in everything else that is said of them. */
function describe(error: TransactionError): string {
  if (typeof error === 'string') return `transaction failed with ${error}`
  const { InstructionError: failed } = error
  if (!Array.isArray(failed)) return `transaction failed with ${JSON.stringify(error)}`
  const [index, reason] = failed as [number, TransactionError]
  const custom = typeof reason === 'object' ? reason['Custom'] : undefined
  const words = typeof custom === 'number' ? `custom error 0x${custom.toString(16)}` : nameOf(reason)
  return `instruction ${index} failed with ${words}`
}

function nameOf(reason: TransactionError): string {
  return typeof reason === 'string' ? reason : JSON.stringify(reason)
}

/** What a program said last, without what the runtime says of every program. */
function lastWords(logs: readonly string[]): string | undefined {
  const runtime = /^Program \w+ (?:invoke|consumed|success|failed)|^Program (?:consumption|return|data):?/
  return logs.findLast((line) => !runtime.test(line))?.replace(/^Program log: /, '')
}
