import { ClientError, type QueryClient } from '../client/index.ts'
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { caip19Of, isAsset } from './caip19.ts'
import type { NamedAsset } from './target.ts'

/**
 * Compares an asset with what the service knows of that token, where it knows anything: with other decimals, another amount
 * would be paid than the one that was written. Throws `cli/other-decimals`.
 */
export async function checkToken(client: QueryClient, { name, asset }: NamedAsset): Promise<void> {
  const { chain, address, decimals } = asset
  // The API's list of chains is not ours to repeat: it says itself which it does not know.
  const { assets = [] } = await client.query('list_supported_assets', { caip2: chain as never }).catch(nothingKnown)
  const token = caip19Of(chain, address)
  const known = assets.find(({ caip19 }) => isAsset(token, caip19))
  if (known?.decimals === undefined || known.decimals === decimals) return
  const message = `asset \`${name}\` is defined with ${decimals} decimals, and its ${chain.startsWith('solana:') ? 'mint' : 'contract'} has ${known.decimals}`
  throw new QuorateError('cli/other-decimals', message, {
    exit: EXIT.refused,
    facts: { token: address, submitted: 'nothing' },
    next: 'correct `decimals` in the definitions',
  })
}

function nothingKnown(error: unknown): { readonly assets?: readonly never[] } {
  if (error instanceof ClientError && (error.code === 'client/not-supported' || error.code === 'client/invalid'))
    return {}
  throw error
}
