import type { Transporter } from 'nodemailer'
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js'
import type { Secret } from '../../telemetry/index.ts'
import type { Email, Mailbox, Sent, Transport } from './message.ts'

/** A mail server. */
export interface SmtpSettings {
  /** `smtps://host[:port]`, or `smtp://host[:port]`, which is encrypted by STARTTLS. */
  readonly url: URL
  readonly user?: string
  readonly password?: Secret
  /** Who e-mails come from where a request does not say. */
  readonly from: Mailbox
  /** Certificates in PEM that are trusted beside those of the system. */
  readonly ca?: string
}

const PORTS: Readonly<Record<string, number>> = { 'smtps:': 465, 'smtp:': 587 }
const CONNECTIONS = 4
const TIMEOUT_MS = 10_000

/** On this machine nobody listens in between. */
const THIS_MACHINE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Sends by a mail server, over a few connections that are kept open. */
export function createSmtpTransport({ url, user, password, from, ca }: SmtpSettings): Transport<Email> {
  const { protocol, hostname, port } = url
  const host = hostname.replace(/^\[|\]$/g, '')
  const open = async (): Promise<Transporter<SMTPPool.SentMessageInfo>> => {
    // Loaded where mail is sent.
    const { createTransport } = await import('nodemailer')
    return createTransport({
      pool: true,
      host,
      port: port === '' ? PORTS[protocol]! : Number(port),
      secure: protocol === 'smtps:',
      requireTLS: protocol === 'smtp:' && !THIS_MACHINE.test(hostname),
      tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
      ...(user === undefined ? {} : { auth: { user, pass: password?.reveal() ?? '' } }),
      maxConnections: CONNECTIONS,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      dnsTimeout: TIMEOUT_MS,
      // A message holds texts and nothing that would have to be fetched.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
  let opened: ReturnType<typeof open> | undefined
  return {
    where: `${protocol}//${url.host}`,
    async send({ id, createdAt, content }, signal) {
      opened ??= open()
      const transporter = await opened
      const sender = { address: content.from?.address ?? from.address, name: content.from?.name ?? from.name ?? '' }
      const sending = transporter.sendMail({
        from: sender,
        to: { address: content.to, name: '' },
        ...(content.replyTo === undefined ? {} : { replyTo: { address: content.replyTo, name: '' } }),
        subject: content.subject,
        text: content.text,
        html: content.html,
        // The same when it is sent once more, so that a mail reader can tell.
        messageId: `<${id}@${sender.address.slice(sender.address.lastIndexOf('@') + 1)}>`,
        date: new Date(createdAt),
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
      try {
        const { response } = await orAborted(sending, signal)
        return { kind: 'sent', from: sender.address, response: withoutControls(response) }
      } catch (error) {
        return explain(error)
      }
    },
    async close() {
      const transporter = await opened?.catch(() => undefined)
      transporter?.close()
    },
  }
}

async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(new Error('the service is closing'))
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  // Nobody waits for it any more once the other has won.
  work.catch(() => {})
  aborted.promise.catch(() => {})
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** What a server refuses about this one message (RFC 5321 §4.2.1: 5yz) it will refuse again; all else may pass. */
function explain(error: unknown): Sent {
  const { code = '', responseCode } = error as { readonly code?: string; readonly responseCode?: number }
  const isFinal = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== undefined && responseCode >= 500
  const said = responseCode === undefined ? '' : `, the server answered ${responseCode}`
  return { kind: 'failed', reason: `${code || 'the mail server could not be reached'}${said}`, isFinal }
}

function withoutControls(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 200)
}
