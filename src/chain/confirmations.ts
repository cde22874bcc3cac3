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

/** How many blocks a chain takes to make a block definitive. */
export function confirmationsOf(caip2: string): number {
  return BLOCKS[caip2] ?? OTHERWISE
}
