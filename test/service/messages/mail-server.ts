/** A real mail server on loopback. */
import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'
import type { KeyWithCertificate } from '../../../src/worker/certificates.ts'

/** An e-mail that arrived. */
export interface Arrived {
  readonly mail: ParsedMail
  readonly recipients: readonly string[]
  readonly isEncrypted: boolean
  readonly user: string | undefined
}

/** A refusal: the code of its reply, at the recipient or after the data. */
export type Reply = { readonly at: 'recipient' | 'data'; readonly code: number } | undefined

export interface MailServer {
  readonly port: number
  readonly arrived: Arrived[]
  close(): Promise<void>
}

/** Starts one that wants STARTTLS and a password where it has a certificate, and answers as it is told. */
export async function startMailServer(
  certified: KeyWithCertificate | undefined,
  reply: (attempt: number) => Reply | Promise<Reply> = () => undefined,
  { password = 'canary-smtp-password', port = 0 } = {},
): Promise<MailServer> {
  const arrived: Arrived[] = []
  let attempts = 0
  let said: Reply
  const refusal = (code: number) => Object.assign(new Error('refused'), { responseCode: code })
  const server = new SMTPServer({
    ...(certified
      ? { key: certified.key, cert: certified.certificate }
      : { authOptional: true, disabledCommands: ['STARTTLS'] }),
    authMethods: ['PLAIN'],
    onAuth: ({ username, password: given }, _, done) =>
      given === password ? done(null, { user: username }) : done(refusal(535)),
    async onRcptTo(_address, _session, done) {
      said = await reply(++attempts)
      done(said?.at === 'recipient' ? refusal(said.code) : null)
    },
    onData(stream, { envelope, secure, user }, done) {
      simpleParser(stream).then((mail) => {
        if (said?.at === 'data') return done(refusal(said.code))
        const recipients = envelope.rcptTo.map(({ address }) => address)
        arrived.push({ mail, recipients, isEncrypted: secure, user: typeof user === 'string' ? user : undefined })
        done()
      }, done)
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port: (server.server.address() as AddressInfo).port,
    arrived,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
