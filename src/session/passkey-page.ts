import type { RandomBytes } from '../crypto/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { encodeBase64Url } from '../encoding/index.ts'
import { BROWSER_WAIT_MS, inTime, listenForBrowser, type PageAnswer } from './loopback.ts'

/** What the page asks the browser for: the arguments of `navigator.credentials`, bytes as base64url. */
export interface PasskeyTask {
  readonly title: string
  /** Sentences that say what is going on. */
  readonly about: readonly string[]
  readonly button: string
  readonly method: 'create' | 'get'
  /** `PublicKeyCredentialCreationOptions` or `…RequestOptions` (WebAuthn §5.4, §5.5); the named members are base64url. */
  readonly publicKey: Readonly<Record<string, unknown>>
}

/** Everything of the credential that the browser gave, bytes as base64url. */
export type PasskeyAnswer = Readonly<Record<string, string | readonly string[]>>

export interface BrowserOptions {
  readonly randomBytes: RandomBytes
  /** Shows the address of the page to the person, who opens it. */
  readonly show: (url: string) => void
  /** @default 5 minutes */
  readonly waitMs?: number | undefined
}

/**
 * Has a passkey used in the person's browser, on a page of this process at `localhost`, under an address that nobody guesses.
 * Throws `session/given-up`.
 */
export async function askPasskey(task: PasskeyTask, options: BrowserOptions): Promise<PasskeyAnswer> {
  const path = `/${encodeBase64Url(options.randomBytes(16))}`
  const nonce = encodeBase64Url(options.randomBytes(16))
  const answered = Promise.withResolvers<PasskeyAnswer>()
  const page = await listenForBrowser('localhost', ({ method, url, body }) => {
    if (url.pathname !== path) return undefined
    if (method !== 'POST') return pageOf(task, nonce)
    const answer = readAnswer(body)
    if (!answer) return { status: 400, body: 'not an answer', type: 'text/plain' }
    answered.resolve(answer)
    return { status: 204, body: '' }
  })
  try {
    options.show(`${page.origin}${path}`)
    return await inTime(answered.promise, options.waitMs ?? BROWSER_WAIT_MS)
  } finally {
    page.close()
  }
}

function readAnswer(body: string): PasskeyAnswer | undefined {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return undefined
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
  const isText = (value: unknown) => typeof value === 'string'
  const isFine = Object.values(json).every((value) => isText(value) || (Array.isArray(value) && value.every(isText)))
  return isFine ? (json as PasskeyAnswer) : undefined
}

/** Reads one member of the answer. Throws `session/refused`. */
export function member(answer: PasskeyAnswer, name: string): string {
  const value = answer[name]
  if (typeof value === 'string' && value !== '') return value
  throw new QuorateError('session/refused', `the browser gave a credential without \`${name}\``, {
    next: 'try another browser; nothing was kept',
  })
}

function pageOf(task: PasskeyTask, nonce: string): PageAnswer {
  // `<` cannot end the script, wherever it stands in a text.
  const data = JSON.stringify(task).replaceAll('<', '\\u003c')
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`
  return { status: 200, body: html(data, nonce), headers: { 'content-security-policy': policy } }
}

const html = (data: string, nonce: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>quorate</title>
<style nonce="${nonce}">
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 12vh auto; padding: 0 1rem; color: #1b1f24 }
  button { font: inherit; padding: .6rem 1.2rem; border: 0; border-radius: .4rem; background: #1b1f24; color: #fff }
  button:disabled { opacity: .4 }
  code { overflow-wrap: anywhere }
</style>
<h1></h1>
<div id="about"></div>
<p><button></button></p>
<p id="state" role="status"></p>
<script nonce="${nonce}">
  const task = ${data}
  const bytesIn = new Set(['challenge', 'id'])
  const fromText = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (one) => one.charCodeAt(0))
  const toText = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '')
  const state = document.querySelector('#state')
  const button = document.querySelector('button')
  document.querySelector('h1').textContent = task.title
  button.textContent = task.button
  for (const text of task.about) {
    const line = document.createElement('p')
    line.textContent = text
    document.querySelector('#about').append(line)
  }
  const options = { ...task.publicKey, challenge: fromText(task.publicKey.challenge) }
  if (options.user) options.user = { ...options.user, id: fromText(options.user.id) }
  button.onclick = async () => {
    button.disabled = true
    try {
      const { rawId, response } = await navigator.credentials[task.method]({ publicKey: options })
      const answer = { credentialId: toText(rawId), clientDataJson: toText(response.clientDataJSON) }
      for (const name of ['attestationObject', 'authenticatorData', 'signature'])
        if (response[name]) answer[name] = toText(response[name])
      if (response.getTransports) answer.transports = response.getTransports()
      const sent = await fetch('', { method: 'POST', body: JSON.stringify(answer) })
      if (!sent.ok) throw new Error('quorate did not take the answer')
      state.textContent = 'Done. Return to the terminal; this page can be closed.'
    } catch (error) {
      state.textContent = error.message
      button.disabled = false
    }
  }
</script>
`
