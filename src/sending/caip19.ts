import { namespaceOf } from '../chain/index.ts'

/** The names of assets in each namespace (CAIP-19): the coin's number in SLIP-0044, and the prefix of a token's address. */
const ASSETS = {
  eip155: { currency: 'slip44:60', token: 'erc20' },
  solana: { currency: 'slip44:501', token: 'token' },
} as const

/** The id of a token, or of a chain's currency, as it is compared: in lower case where case does not count. */
export function caip19Of(caip2: string, token?: string): string {
  const { currency, token: prefix } = ASSETS[namespaceOf(caip2)!]
  return comparable(`${caip2}/${token === undefined ? currency : `${prefix}:${token}`}`)
}

/** Whether an id is that of what `caip19Of` has named. */
export function isAsset(caip19: string, written: string | undefined): boolean {
  return written !== undefined && comparable(written) === caip19
}

function comparable(caip19: string): string {
  return caip19.startsWith('solana:') ? caip19 : caip19.toLowerCase()
}
