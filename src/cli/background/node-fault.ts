import { chainName } from '../../chain/index.ts'
import { type NodeStanding, nodeName } from '../../sending/index.ts'

/** What is wrong with a node of the user's own, and what to do; undefined where it answers for its chain. */
export function nodeFault(
  { caip2, url }: { readonly caip2: string; readonly url: string },
  standing: NodeStanding,
): { readonly found: string; readonly next: string } | undefined {
  const node = `${chainName(caip2)}: ${nodeName(url)}`
  if (!standing.answers) {
    const next = 'start that node, or name one that answers in QUORATE_CHAINS'
    return { found: `${node} does not answer: ${standing.why}`, next }
  }
  if (standing.isOfChain) return undefined
  const next = 'name a node of that chain in QUORATE_CHAINS: nothing that this one says is believed'
  return { found: `${node} is a node of another chain`, next }
}
