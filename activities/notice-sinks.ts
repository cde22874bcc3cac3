/**
 * How a message reaches people: Slack's incoming webhooks (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks),
 * webhooks that are signed as Standard Webhooks 1.0.0 says (github.com/standard-webhooks), and e-mail. URLs and keys are the
 * worker's: no plan, history, log or error has one.
 */
import { hmacSha256 } from '../src/crypto/index.ts'
import type { NoticeSink } from '../src/definitions/index.ts'
import { encodeUtf8 } from '../src/encoding/index.ts'
import { readPrivate } from '../src/local/index.ts'
import type { NoticeMessage } from './notice-model.ts'

/** The environment of the worker. */
export type NoticeEnvironment = Readonly<Record<string, string | undefined>>

/** How long one message may take. */
const SEND_MS = 10_000
/** A shorter key could be guessed from what was signed with it. */
const LEAST_KEY_BYTES = 16
const THIS_MACHINE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Why a message did not arrive, in words that hold no URL and no key. */
export class NoticeLost extends Error {}

/** Sends a message. Throws `NoticeLost`; it may have arrived all the same, and is sent again with the same id. */
export async function sendNotice(
  sink: NoticeSink,
  message: NoticeMessage,
  { environment, nowMs }: { readonly environment: NoticeEnvironment; readonly nowMs: number },
): Promise<void> {
  const variable = (name: string) => readVariable(environment, name)
  switch (sink.kind) {
    case 'slack':
      return post(variable(sink.to), JSON.stringify({ text: slackText(message) }), {})
    case 'webhook': {
      const body = JSON.stringify({ type: 'quorate.notice', timestamp: message.at, data: message })
      const key = keyBytes(variable(`${sink.to}_KEY`), `${sink.to}_KEY`)
      const seconds = String(Math.floor(nowMs / 1000))
      const signature = Buffer.from(hmacSha256(key, `${message.id}.${seconds}.${body}`)).toString('base64')
      return post(variable(sink.to), body, {
        'webhook-id': message.id,
        'webhook-timestamp': seconds,
        'webhook-signature': `v1,${signature}`,
      })
    }
    case 'email':
      return sendEmail(sink.to, message, {
        server: variable('QUORATE_NOTIFY_SMTP'),
        from: variable('QUORATE_NOTIFY_FROM'),
      })
    default:
      return sink.kind satisfies never
  }
}

/** A variable, or the file that the variable of its name with `_FILE` names, which must be its owner's alone. */
function readVariable(environment: NoticeEnvironment, name: string): string {
  const path = environment[`${name}_FILE`]
  let text = environment[name]
  if (!text && path) {
    try {
      text = readPrivate(path)?.trim()
    } catch {
      throw new NoticeLost(`the file that ${name}_FILE names cannot be read, or is not its owner's alone`)
    }
  }
  if (text) return text
  throw new NoticeLost(`the worker has no variable ${name}, and no ${name}_FILE that names a file`)
}

/** `whsec_` and base64, as Standard Webhooks writes keys, or the bytes of any other text. */
function keyBytes(text: string, name: string): Uint8Array {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(text) ?? []
  const bytes = base64 === undefined ? encodeUtf8(text) : new Uint8Array(Buffer.from(base64, 'base64'))
  if (bytes.length >= LEAST_KEY_BYTES) return bytes
  throw new NoticeLost(`${name} has ${bytes.length} bytes; ${LEAST_KEY_BYTES} are needed`)
}

async function post(to: string, body: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const url = URL.canParse(to) ? new URL(to) : undefined
  if (!url || (url.protocol !== 'https:' && !(url.protocol === 'http:' && THIS_MACHINE.test(url.hostname))))
    throw new NoticeLost('its variable has no URL that begins with https://')
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    // A receiver that sends a message elsewhere would have it signed for somebody else.
    redirect: 'manual',
    signal: AbortSignal.timeout(SEND_MS),
  }).catch((error: unknown) => {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    throw new NoticeLost(isLate ? `no answer in ${SEND_MS / 1000} s` : 'the receiver could not be reached')
  })
  await answer.body?.cancel().catch(() => {})
  if (!answer.ok) throw new NoticeLost(`the receiver answered ${answer.status}`)
}

/** Slack reads `<`, `>` and `&` as its own marks (docs.slack.dev/messaging/formatting-message-text). */
const slackText = (message: NoticeMessage) =>
  textOf(message).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function subjectOf({ organization, notices }: NoticeMessage): string {
  const topics = [...new Set(notices.map(({ topic }) => topic))]
  return `${organization}: ${topics.join(', ')}`
}

function textOf(message: NoticeMessage): string {
  const lines = message.notices.map(({ topic, text }) => `• ${topic}: ${text}`)
  return [`${subjectOf(message)}`, ...lines, `organization ${message.organizationId}, at ${message.at}`].join('\n')
}

async function sendEmail(
  to: string,
  message: NoticeMessage,
  { server, from }: { readonly server: string; readonly from: string },
): Promise<void> {
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (!url || (url.protocol !== 'smtps:' && url.protocol !== 'smtp:'))
    throw new NoticeLost('QUORATE_NOTIFY_SMTP is no URL such as smtps://USER:PASSWORD@HOST')
  const isSecure = url.protocol === 'smtps:'
  const { createTransport } = await import('nodemailer')
  const transporter = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
    secure: isSecure,
    requireTLS: !isSecure && !THIS_MACHINE.test(url.hostname),
    tls: { minVersion: 'TLSv1.2' },
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: SEND_MS,
    greetingTimeout: SEND_MS,
    socketTimeout: SEND_MS,
    dnsTimeout: SEND_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transporter.sendMail({
      from: { address: from, name: 'quorate' },
      to: { address: to, name: '' },
      subject: subjectOf(message),
      text: `${textOf(message)}\n`,
      messageId: `<${message.id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
  } catch (error) {
    const { code = '', responseCode } = error as { readonly code?: string; readonly responseCode?: number }
    const said = responseCode === undefined ? '' : `, the server answered ${responseCode}`
    throw new NoticeLost(`${code || 'the mail server could not be reached'}${said}`)
  } finally {
    transporter.close()
  }
}
