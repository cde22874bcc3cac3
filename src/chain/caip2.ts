/** The names that the API has for Solana's clusters (docs/protocol/sends.md#chains). */
const SOLANA_CLUSTERS: Readonly<Record<string, string>> = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
}

/** CAIP-2: the first 32 characters of the genesis hash, which has up to 44 (namespaces: solana). */
const SOLANA_REFERENCE_LENGTH = 32

/** A chain's id as people know it: a cluster of Solana by its name, `solana:devnet`; other chains as they are. */
export function chainName(caip2: string): string {
  const chain = normalizeCaip2(caip2)
  const named = Object.keys(SOLANA_CLUSTERS).find((name) => chain === `solana:${SOLANA_CLUSTERS[name]}`)
  return named === undefined ? caip2 : `solana:${named}`
}

/** Gives a chain's id in the one form that it is compared in: Solana's in 32 characters, others as they are. */
export function normalizeCaip2(caip2: string): string {
  const [, reference] = /^solana:(.+)$/.exec(caip2) ?? []
  if (reference === undefined) return caip2
  return `solana:${(SOLANA_CLUSTERS[reference] ?? reference).slice(0, SOLANA_REFERENCE_LENGTH)}`
}
