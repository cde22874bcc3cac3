import { namespaceOf } from '../chain/index.ts'
import { ClientError, type QueryClient } from '../client/index.ts'
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { askNode, isNodeOf } from './ask-node.ts'
import { caip19Of, isAsset } from './caip19.ts'
import type { NamedAsset } from './target.ts'

/**
 * Compares an asset with what the service and the user's own node know of that token, where they know anything: with other decimals,
 * another amount would be paid than the one that was written. Throws `cli/other-decimals` and `cli/no-token`.
 * @param nodes by chain, one each
 */
export async function checkToken(
  client: QueryClient,
  { name, asset }: NamedAsset,
  nodes: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { chain, address, decimals } = asset
  const facts = { token: address, submitted: 'nothing' }
  // The API's list of chains is not ours to repeat: it says itself which it does not know.
  const { assets = [] } = await client.query('list_supported_assets', { caip2: chain as never }).catch(nothingKnown)
  const token = caip19Of(chain, address)
  const told = [
    assets.find(({ caip19 }) => isAsset(token, caip19))?.decimals,
    await decimalsByNode(asset, nodes[chain]),
  ]
  if (told.includes('no contract')) {
    throw new QuorateError('cli/no-token', `there is no contract at the address of asset \`${name}\` on ${chain}`, {
      exit: EXIT.refused,
      facts,
      next: 'correct `address` or `chain` in the definitions',
    })
  }
  const other = told.find((one) => one !== undefined && one !== decimals)
  if (other === undefined) return
  const message = `asset \`${name}\` is defined with ${decimals} decimals, and its ${chain.startsWith('solana:') ? 'mint' : 'contract'} has ${other}`
  throw new QuorateError('cli/other-decimals', message, {
    exit: EXIT.refused,
    facts,
    next: 'correct `decimals` in the definitions',
  })
}

/** The selector of `decimals()` (EIP-20). */
const DECIMALS = '0x313ce567'

/**
 * By a node of the user's own; undefined where there is none, it gives no answer that can be read, or the contract has no such word. On
 * Solana a payment says its decimals, and the runtime refuses others.
 */
async function decimalsByNode(
  { chain, address }: NamedAsset['asset'],
  url: string | undefined,
): Promise<number | 'no contract' | undefined> {
  if (url === undefined || namespaceOf(chain) !== 'eip155') return undefined
  try {
    if (!(await isNodeOf(url, chain))) return undefined
    const said = await askNode<string>(url, 'eth_call', [{ to: address, data: DECIMALS }, 'latest'])
    if (/^0x[0-9a-f]{64}$/i.test(said)) return Number(BigInt(said))
    return (await askNode<string>(url, 'eth_getCode', [address, 'latest'])) === '0x' ? 'no contract' : undefined
  } catch {
    return undefined
  }
}

function nothingKnown(error: unknown): { readonly assets?: readonly never[] } {
  if (error instanceof ClientError && (error.code === 'client/not-supported' || error.code === 'client/invalid'))
    return {}
  throw error
}
