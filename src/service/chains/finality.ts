/** The number of the highest block that is definitive when `latest` is the newest; below 0 while no block is. */
export function lastFinal({ confirmations }: { readonly confirmations: number }, latest: bigint): bigint {
  return latest - BigInt(confirmations) + 1n
}

/** Whether a block has the confirmations that its chain, or the operator's setting, requires. */
export function isFinal(
  chain: { readonly confirmations: number },
  block: { readonly number: bigint; readonly latest: bigint },
): boolean {
  return block.number <= lastFinal(chain, block.latest)
}
