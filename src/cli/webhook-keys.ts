import { readFileSync } from 'node:fs'
import { messageOf, QuorateError } from '../diagnostics/index.ts'
import { type PublishedKey, readPublishedKeys } from '../webhook/index.ts'

/** Where a service publishes the keys of its webhooks, without a stamp. */
const PATH = '/public/v1/discovery/webhooks/jwks'
const PATIENCE_MS = 10_000

/** Fetches the keys that a service signs its webhooks with. Throws `cli/webhook-keys`. */
export async function fetchWebhookKeys(baseUrl: string): Promise<readonly PublishedKey[]> {
  const url = `${baseUrl.replace(/\/+$/, '')}${PATH}`
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
    if (!answer.ok) throw new Error(`it answered ${answer.status}`)
    return readPublishedKeys(await answer.json())
  } catch (cause) {
    throw unreadable(url, cause)
  }
}

/** Reads such a list out of a file. Throws `cli/webhook-keys`. */
export function readWebhookKeys(file: string): readonly PublishedKey[] {
  try {
    return readPublishedKeys(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function unreadable(where: string, cause: unknown): QuorateError {
  const why = messageOf(cause)
  return new QuorateError('cli/webhook-keys', `the keys of webhooks cannot be read from ${where}: ${why}`, {
    facts: { where },
    next: 'name the service with --base-url, or a file with its keys with --keys',
    cause,
  })
}
