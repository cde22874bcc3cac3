import { ApiError, GRPC } from '../../protocol/index.ts'
import { NodeBusy, NodeRefusal, NodeUnreachable, NodeUnreadable } from '../nodes/index.ts'
import type { Chain } from './chains.ts'
import { NoToken } from './no-token.ts'

/** Asks a chain's node on behalf of a request, and says in the API's way that there was no answer. Unstated: the texts. */
export async function askChain<Answer>({ caip2 }: Chain, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (cause) {
    const told = { code: 'RPC_CALL_ERROR', cause } as const
    if (cause instanceof NodeBusy) {
      throw new ApiError(GRPC.Unavailable, `the node of chain ${caip2} does not answer: ${cause.message}`, told)
    }
    if (cause instanceof NodeUnreachable && !(cause instanceof NodeUnreadable)) {
      throw new ApiError(GRPC.Unavailable, `the node of chain ${caip2} cannot be reached`, told)
    }
    if (cause instanceof NodeRefusal) {
      throw new ApiError(GRPC.Unavailable, `the node of chain ${caip2} does not answer: ${cause.message}`, told)
    }
    if (cause instanceof NoToken) {
      throw new ApiError(GRPC.FailedPrecondition, `of the tokens set for chain ${caip2}, ${cause.message}`, { cause })
    }
    if (cause instanceof ApiError) throw cause
    // All that is done here is to read what a node says.
    throw new ApiError(GRPC.Unavailable, `the node of chain ${caip2} answers with what cannot be read`, told)
  }
}
