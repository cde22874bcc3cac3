/** How long a node may take to answer: whoever asks goes on without it. */
const TIMEOUT_MS = 5_000

/** What a node answers that refuses a request, in its own words. */
export class NodeRefused extends Error {
  readonly code: number

  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

/** Asks a node of the user's own, by JSON-RPC. Throws where no answer comes, and `NodeRefused` for an error. */
export async function askNode<Result>(url: string, method: string, params: readonly unknown[]): Promise<Result> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
  const { result, error } = (await response.json()) as {
    readonly result?: Result
    readonly error?: { readonly message?: unknown; readonly code?: unknown }
  }
  if (error !== undefined && error !== null) throw new NodeRefused(String(error.message), Number(error.code))
  if (result === undefined) throw new TypeError('neither a result nor an error')
  return result
}
