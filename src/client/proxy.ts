import { post } from './post.ts'
import { malformed, toClientError } from './refusal.ts'
import { ATTEMPT_MS, sendOnce } from './transport.ts'

/** Posts one request to an authentication proxy and gives its answer. Throws `ClientError`. */
export type AskProxy = (path: string, request: object) => Promise<Readonly<Record<string, unknown>>>

/**
 * Makes requests to an authentication proxy, under one of its configurations (docs/protocol/auth-proxy.md). They are not
 * stamped, and each is sent once: a code that was sent twice would be two codes.
 */
export function asksProxy({ url, configId }: { readonly url: string; readonly configId: string }): AskProxy {
  const header = { name: 'X-Auth-Proxy-Config-Id', value: configId } as const
  return async (path, request) => {
    const at = `${url.replace(/\/+$/, '')}${path}`
    const body = JSON.stringify(request)
    const answer = await sendOnce({
      url: at,
      body,
      stamp: header,
      post,
      attemptMs: ATTEMPT_MS,
    })
    const asked = {
      url: at,
      baseUrl: url,
      organizationId: configId,
      publicKey: configId,
      submits: true,
      now: Date.now(),
    }
    if (answer.status < 200 || answer.status > 299) throw toClientError(answer, asked)
    const json = toRecord(answer.text)
    if (!json) throw malformed(answer, asked, 'a JSON object')
    return json
  }
}

function toRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null && !Array.isArray(json)
      ? (json as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
