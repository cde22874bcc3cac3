/**
 * Blocks, the including one counted, before what is in a block is taken as definitive
 * (docs/protocol/webhooks.md#finality).
 */
const BLOCKS: Readonly<Record<string, number>> = {
  'eip155:1': 32,
  'eip155:11155111': 12,
  'eip155:8453': 10,
  'eip155:84532': 5,
  'eip155:137': 30,
  'eip155:80002': 12,
  'eip155:42161': 10,
  'eip155:421614': 5,
  'eip155:4217': 10,
  'eip155:42431': 5,
  'eip155:56': 15,
  'eip155:97': 15,
}

/** Unstated: the number for other chains. */
const OTHERWISE = 32

/** Whether a block is as old as its chain takes to be definitive. */
export function isFinal(caip2: string, block: { readonly number: bigint; readonly latest: bigint }): boolean {
  return block.latest - block.number + 1n >= BigInt(BLOCKS[caip2] ?? OTHERWISE)
}
