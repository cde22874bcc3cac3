/**
 * Which operations published clients call in these tests and have answered: the service is in the process of the tests, so its
 * own server tells. What a file's clients have called is written down beside this file, and the table of the documentation is
 * made from that. `npx vitest -u` writes both anew.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

export const OPERATIONS_FOLDER = join(import.meta.dirname, 'operations')

const ANSWERED = 'http.server.response.finish'

/** What stands in the request of a published client, and the name of that client. */
const CLIENTS: readonly (readonly [RegExp, string])[] = [
  [/^@turnkey\/([a-z-]+)@/, ''],
  [/^turnkey-python\//, 'Python'],
  [/^turnkey-rust-client\//, 'Rust'],
  // Of the clients in browsers one alone speaks to the proxy, and does not say its name there.
  [/Chrome/, 'core'],
]

/** Asked for by all of them while they wait, as often as that takes: not at all where an answer comes at once. */
const WHILE_WAITING = 'get_activity'

/** Adds the last test of a file: that what its clients have called is what is written down for it. */
export function recordOperations(file: string, { skip = false }: { readonly skip?: boolean } = {}): void {
  const called = new Map<string, Set<string>>()
  const note = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    const client = clientOf(request)
    const operation = /^\/(?:public\/v1\/(?:submit|query)|(v1))\/(\w+)$/.exec(request.url ?? '')
    if (client === undefined || !operation || request.method !== 'POST' || response.statusCode !== 200) return
    const [, proxy, name] = operation
    if (name === WHILE_WAITING) return
    called.set(client, (called.get(client) ?? new Set()).add(proxy === undefined ? name! : `proxy ${name}`))
  }
  beforeAll(() => subscribe(ANSWERED, note))
  afterAll(() => unsubscribe(ANSWERED, note))

  test.skipIf(skip)('the operations that its clients have called are written down', async () => {
    expect(called.size).toBeGreaterThan(0)
    for (const [client, operations] of called) {
      const text = [...operations].sort().join('\n')
      await expect(`${text}\n`).toMatchFileSnapshot(join(OPERATIONS_FOLDER, `${client}.${file}.txt`))
    }
  })
}

function clientOf({ headers }: IncomingMessage): string | undefined {
  const said = String(headers['x-client-version'] ?? headers['user-agent'])
  for (const [pattern, name] of CLIENTS) {
    const found = pattern.exec(said)
    if (found) return name || found[1]
  }
  return undefined
}
