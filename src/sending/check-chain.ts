import { chainName } from '../chain/index.ts'
import { ClientError, type QueryClient } from '../client/index.ts'
import { QuorateError } from '../diagnostics/index.ts'

/** Asks the API whether it sends to a chain; its refusal when not. One that it could not ask about for the moment may be there. */
export async function findChainRefusal(client: QueryClient, caip2: string): Promise<ClientError | undefined> {
  const refusal = await client.query('list_supported_assets', { caip2: caip2 as never }).then(
    () => undefined,
    (error: unknown) => error,
  )
  return refusal instanceof ClientError && UNKNOWN.has(refusal.code) ? refusal : undefined
}

/** What is no chain of the API's, and what is one that it has no node of. */
const UNKNOWN: ReadonlySet<string> = new Set(['client/invalid', 'client/not-supported'])

export const unknownChain = (caip2: string) => `the API does not send to chain \`${chainName(caip2)}\``

/** Throws `cli/unknown-chain`: a send that can only fail would use up its reference. */
export async function checkChain(client: QueryClient, caip2: string): Promise<void> {
  const refusal = await findChainRefusal(client, caip2)
  if (refusal === undefined) return
  throw new QuorateError('cli/unknown-chain', unknownChain(caip2), {
    facts: { 'it says': refusal.message, submitted: 'nothing' },
    next: 'name a chain that it sends to; a service of your own is told of chains with `--chain` or QUORATE_CHAINS',
  })
}
