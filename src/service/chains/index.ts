/**
 * Chains: the chains that are served, by CAIP-2 id: how each is reached, its assets and balances, and their prices.
 */
export { askChain } from './ask-chain.ts'
export type { Balance } from './chain-assets.ts'
export { type Chain, type Chains, type ChainsSettings, createChains } from './chains.ts'
export { type ChainAsset, currencyOf } from './currency.ts'
export { type FeeOffer, offerFees } from './fees.ts'
export { isFinal, lastFinal } from './finality.ts'
export { USD_PLACES, valueInUsd } from './price.ts'
