/**
 * The most that is offered for a unit of gas, by chain, in gwei, where nobody says another cap. An own choice: some ten times what these
 * chains have asked in their busiest hours, so that a payment gets through, and a node that names an absurd price costs a
 * payment of 21,000 units cents and not ether.
 */
const GWEI: Readonly<Record<string, number>> = {
  'eip155:1': 500,
  'eip155:10': 50,
  'eip155:8453': 50,
  'eip155:42161': 50,
  'eip155:137': 5_000,
  'eip155:56': 50,
  'eip155:143': 2_000,
}

/** Test networks, and chains that are not known here. */
const OTHERWISE = 500

/** The cap of a chain, in wei. */
export function feeCapOf(caip2: string): bigint {
  return BigInt(GWEI[caip2] ?? OTHERWISE) * 1_000_000_000n
}
