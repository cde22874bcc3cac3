/** A client whose API is a record of answers. */
import type { QueryClient } from '../../src/client/index.ts'

export const ORGANIZATION = '0a0a0a0a-0000-4000-8000-000000000001'
export const BASE_URL = 'http://127.0.0.1:1'

/** What stands for an API: the text of each answer, by query and by what it asks for. */
export interface BenchApi {
  readonly answers: Readonly<Record<string, string>>
  readonly publicKey: string
}

/** Answers every query from memory; what is not there is an empty list, and so is what only later kinds ask for. */
export function createBenchClient({ answers, publicKey }: BenchApi): QueryClient & { readonly requests: number } {
  const client = {
    baseUrl: BASE_URL,
    organizationId: ORGANIZATION,
    publicKey,
    requests: 0,
    query: (async (name: string, request: { readonly walletId?: string }) => {
      client.requests++
      const text = answers[request.walletId === undefined ? name : `${name} ${request.walletId}`]
      return text === undefined ? emptyLists : (JSON.parse(text) as unknown)
    }) as unknown as QueryClient['query'],
  }
  return client
}

/** Every member that is asked for is a list without entries. */
const emptyLists = new Proxy(
  {},
  {
    get: () => [],
    has: () => true,
    getOwnPropertyDescriptor: () => ({ value: [], configurable: true, enumerable: true }),
  },
)
