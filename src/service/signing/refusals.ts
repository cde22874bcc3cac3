import { ChainError, UnreadableTransaction, UnsupportedTransaction } from '../../chain/index.ts'
import { ApiError, apiError, GRPC, refusals } from '../../protocol/index.ts'

/** Unstated: the refusal of a private key that was disabled. */
export function privateKeyDisabled(keyId: string): ApiError {
  return apiError('requestInvalid', `private key ${keyId} is disabled`)
}

/**
 * Runs a function that reads or signs a client's bytes, and turns its `ChainError` into the API's refusal
 * (docs/protocol/signing.md): the first words are the API's, the reason behind them ours.
 */
export function orRefuse<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw new ApiError(GRPC.InvalidArgument, error.message, { code: codeOf(error), cause: error })
  }
}

function codeOf(error: ChainError) {
  if (error instanceof UnsupportedTransaction) return 'UNSUPPORTED_TRANSACTION_TYPE'
  return error instanceof UnreadableTransaction ? refusals.transactionNotParsed.code : 'REQUEST_INVALID'
}
