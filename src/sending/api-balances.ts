/** What the API says that addresses have: it is a service, and no condition. */
import type { QueryClient } from '../client/index.ts'
import type { Wire } from '../protocol/index.ts'
import { caip19Of, isAsset } from './caip19.ts'

/** The balance of an address in the currency of a chain, or in a token; undefined where the API does not tell it. */
export type HeldByApi = (address: string, chain: string, token?: string) => Promise<bigint | undefined>

/** From so many addresses on, what everybody has is too many questions for what it tells. */
const MOST_ASKED = 20

export function createHeldByApi(client: Pick<QueryClient, 'query'>): HeldByApi {
  const asked = new Map<string, Promise<readonly Wire.AssetBalance[] | undefined>>()
  const ask = (address: string, chain: string) => {
    const key = JSON.stringify([address, chain])
    if (asked.has(key) || asked.size >= MOST_ASKED) return asked.get(key)
    const asking = client.query('get_wallet_address_balances', { address, caip2: chain as never }).then(
      ({ balances = [] }) => balances,
      () => undefined,
    )
    asked.set(key, asking)
    return asking
  }
  return async (address, chain, token) => {
    const balances = await ask(address, chain)
    const held = balances?.find(({ caip19 }) => isAsset(caip19Of(chain, token), caip19))?.balance
    // Of a currency all is told; of tokens only those that the API knows.
    if (balances === undefined || (held === undefined && token !== undefined)) return undefined
    return held === undefined ? 0n : readUnits(held)
  }
}

function readUnits(text: string): bigint | undefined {
  return /^\d{1,80}$/.test(text) ? BigInt(text) : undefined
}
