/** A client whose API is a record of answers. */
import type { QueryClient } from '../../src/client/index.ts'

export const ORGANIZATION = '0a0a0a0a-0000-4000-8000-000000000001'
export const BASE_URL = 'http://127.0.0.1:1'

/** What stands for an API: the text of each answer, by query, by the organization when it is inside, and by what it asks for. */
export interface BenchApi {
  readonly answers: Readonly<Record<string, string>>
  readonly publicKey: string
}

interface Asked {
  readonly organizationId?: string
  readonly walletId?: string
  readonly filterValue?: string
}

/** Answers every query from memory; what is not there is an empty list, and so is what only later kinds ask for. */
export function createBenchClient({ answers, publicKey }: BenchApi): QueryClient & { readonly requests: number } {
  const client = {
    baseUrl: BASE_URL,
    organizationId: ORGANIZATION,
    publicKey,
    requests: 0,
    query: (async (name: string, { organizationId, walletId, filterValue }: Asked) => {
      client.requests++
      const text = answers[[name, organizationId, walletId, filterValue].filter((part) => part !== undefined).join(' ')]
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
