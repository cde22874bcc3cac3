import { encodeExecution, executionDigest, signAuthorization, signBytes } from '../../chain/index.ts'
import { EXECUTION_LASTS_S, executionDomain, executionNonce, isDelegated, missingContract } from '../nodes/index.ts'
import type { SendRow } from '../resources/sends/store.ts'
import { keyGone, withAccountKey } from './account-key.ts'
import type { ChainNonce, NoDraft, OnTheWay, SendDraft } from './drafting.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { failure } from './failure.ts'
import type { ExecutionRequest } from './request.ts'

/**
 * Drafts a delegated execution (docs/protocol/sends.md#gas-station): the account signs its calls, and that it runs the
 * delegate's code where it does not yet. Executions of one account go one after the other, since each has the next of
 * its nonces.
 */
export async function draftExecution(
  tools: EthereumTools,
  row: SendRow,
  context: ChainNonce & { readonly request: ExecutionRequest; readonly onTheWay: OnTheWay },
): Promise<SendDraft | NoDraft> {
  const { node, chain, clock } = tools
  const { request, onTheWay, chainId, nonce } = context
  const { gasStation } = chain
  const sponsored = row.account !== null
  const account = row.account ?? row.sender
  if (onTheWay.delegates || (!sponsored && onTheWay.authorizes)) return sponsored ? 'waits' : 'later'
  const missing = await missingContract(node, gasStation)
  if (missing !== undefined) return { failure: failure(missing) }
  const domain = await executionDomain(node, gasStation)
  if (domain === undefined) {
    return { failure: failure(`the delegate at ${gasStation.delegate} does not say its EIP-712 domain`) }
  }
  const delegated = await isDelegated(node, account, gasStation)
  // Each transaction of its own would take the nonce that the authorization is for.
  if (!delegated && sponsored && onTheWay.sends) return 'waits'
  const calls = request.calls.map(({ to, value, data }) => ({ from: account, to, value: BigInt(value), data }))
  const execution = {
    domain,
    chainId,
    account,
    nonce: BigInt(request.gasStationNonce ?? (await executionNonce(node, account, gasStation))),
    deadline: BigInt(request.deadline ?? BigInt(Math.floor(clock() / 1_000)) + EXECUTION_LASTS_S),
    calls,
  }
  const authorized = delegated
    ? undefined
    : {
        chainId,
        address: gasStation.delegate.toLowerCase(),
        // A sender's own nonce is counted before authorizations are applied (EIP-7702).
        nonce: sponsored ? await node.pendingCount(account) : BigInt(nonce) + 1n,
      }
  const signed = await withAccountKey(tools, row, account, (key) => ({
    signature: signBytes(key, executionDigest(execution)),
    ...(authorized && { authorization: signAuthorization(key, authorized) }),
  }))
  if (signed === undefined) return { failure: keyGone(account) }
  const { signature, ...authorization } = signed
  const data = encodeExecution(execution, signature)
  return {
    call: { from: row.sender, to: gasStation.station.toLowerCase(), value: 0n, data },
    executes: calls,
    ...authorization,
  }
}
