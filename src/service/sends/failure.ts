/** The API's error of a send that failed or was reverted (docs/protocol/sends.md#status-of-a-send). */
import { decodeRevert, type RevertReason, type SmartContractInterface } from '../../chain/index.ts'
import type { Wire } from '../../protocol/index.ts'
import type { NodeRefusal } from '../nodes/index.ts'

/** A call within a transaction that has failed, as `callTracer` gives it; the outermost is the transaction's own. */
export interface FailedCall {
  readonly to?: string
  readonly output?: string
  readonly error?: string
  readonly calls?: readonly FailedCall[]
}

/** Makes the error of a send that no contract had a part in. */
export function failure(message: string): Wire.TxError {
  return { message }
}

interface Explanation {
  readonly interfaces: readonly SmartContractInterface[]
  /** Addresses, lower case, that pass calls on and do not say why one failed. */
  readonly relays?: readonly string[]
}

/** A call that a node has refused to carry out. */
export function toFailedCall(to: string, { message, data }: NodeRefusal): FailedCall {
  return { to, error: message, ...(data === undefined ? {} : { output: data }) }
}

/** Makes the error of a reverted transaction: the chain of calls that failed, the outermost first. */
export function revertFailure(outermost: FailedCall, { interfaces, relays = [] }: Explanation): Wire.TxError {
  const revertChain = failedPath(outermost, relays).map((call) => toWireEntry(call, interfaces))
  // The innermost call is the one that had a reason; those around it pass it on.
  const message = `execution reverted: ${revertChain.at(-1)!.displayMessage}`
  return { message, revertChain, eth: { revertChain } }
}

/** From the transaction's own call to the one that began to fail: of several that failed, the last was not caught. */
function failedPath(call: FailedCall, relays: readonly string[]): readonly FailedCall[] {
  const inner = call.calls?.findLast(({ error }) => error !== undefined)
  // A failure that was caught, and answered with another, did not cause this one.
  const passedOn = (call.output ?? '0x') === (inner?.output ?? '0x') || relays.includes((call.to ?? '').toLowerCase())
  return inner !== undefined && passedOn ? [call, ...failedPath(inner, relays)] : [call]
}

function toWireEntry(
  { to = '', output = '0x', error }: FailedCall,
  interfaces: readonly SmartContractInterface[],
): Wire.RevertChainEntry {
  return { address: to, ...describe(decodeRevert(to, output, interfaces), error) }
}

function describe(reason: RevertReason, error: string | undefined): Wire.RevertChainEntry {
  switch (reason.kind) {
    case 'error-string':
      return native('error_string', reason.message, reason.message)
    case 'panic': {
      const panicCode = reason.code.toString()
      return native('panic', reason.message, `panic ${panicCode}: ${reason.message}`, { panicCode })
    }
    case 'bare': {
      // A node's own words say more than nothing, such as `out of gas`.
      const message = error ?? 'execution reverted'
      return native('execution_reverted', message, message)
    }
    case 'custom': {
      const paramsJson = JSON.stringify(reason.parameters)
      const custom = { errorName: reason.name, paramsJson }
      return { errorType: 'custom', displayMessage: `${reason.name} ${paramsJson}`, custom }
    }
    case 'unknown': {
      const { selector, data } = reason
      return {
        errorType: 'unknown',
        displayMessage: `an error unknown here, ${selector || data}`,
        unknown: { selector, data },
      }
    }
    default:
      return reason satisfies never
  }
}

function native(
  nativeType: string,
  message: string,
  displayMessage: string,
  rest: Pick<Wire.NativeRevertError, 'panicCode'> = {},
): Wire.RevertChainEntry {
  return { errorType: 'native', displayMessage, native: { nativeType, message, ...rest } }
}
