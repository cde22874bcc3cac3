/** Messages on their way out: a real mail server, a gateway on loopback, and a service that is killed in between. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { listWrittenMessages, type MessagesSettings } from '../../../src/service/messages/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { type MutualCertificates, makeCertificates } from '../../../src/worker/certificates.ts'
import { databaseOf } from '../../postgres.ts'
import { complete, refusalOf } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { codeIn } from '../one-time-passcodes/outbox.ts'
import { readClient, startProcess } from '../process.ts'
import { storedBytes } from '../rows.ts'
import { type MailServer, startMailServer } from './mail-server.ts'

let certificates: MutualCertificates
beforeAll(async () => {
  certificates = await makeCertificates()
})

const wait = { interval: 20 }
const smtp = (port: number, change: object = {}): MessagesSettings => ({
  smtp: {
    url: new URL(`smtp://127.0.0.1:${port}`),
    user: 'acme',
    password: new Secret('canary-smtp-password'),
    from: { address: 'codes@acme.example', name: 'Acme' },
    ca: certificates.authority,
    ...change,
  },
})
const ask = (service: TestService, contact: string, parameters: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_INIT_OTP_V3', {
    otpType: 'OTP_TYPE_EMAIL',
    contact,
    appName: 'Acme',
    ...parameters,
  })

/** Starts a service with a mail server, both gone after the test. */
async function startBoth(reply?: Parameters<typeof startMailServer>[1], change: object = {}) {
  const server = await startMailServer(certificates.server, reply)
  const logs: string[] = []
  const log = (message: string, fields?: object) => void logs.push(`${message} ${JSON.stringify(fields)}`)
  const logger = { debug: log, info: log, warn: log, error: log }
  const service = await startTestService({ messages: smtp(server.port, change), logger: logger as never })
  onTestFinished(async () => {
    await service.close()
    await server.close()
  })
  return { server, service, logs }
}

const events = async (service: TestService, email: string) =>
  (await service.root.query('list_email_events', { email })).emailEvents

describe('e-mails', () => {
  test('arrive encrypted and once, in text and HTML, with what the request asked for', async () => {
    const { server, service, logs } = await startBoth()
    await ask(service, 'Ann@Example.com', {
      appName: '<b>Acme</b> & sons',
      sendFromEmailAddress: 'hello@acme.example',
      sendFromEmailSenderName: 'Hello',
      replyToEmailAddress: 'help@acme.example',
      emailCustomization: {
        logoUrl: 'https://acme.example/logo.png',
        magicLinkTemplate: 'https://acme.example/?c=%s&x=1',
      },
    })
    const [{ mail, recipients, isEncrypted, user }] = await vi.waitFor(() => {
      expect(server.arrived).toHaveLength(1)
      return server.arrived as [MailServer['arrived'][number]]
    }, wait)
    expect({ recipients, isEncrypted, user }).toEqual({
      recipients: ['ann@example.com'],
      isEncrypted: true,
      user: 'acme',
    })
    expect(mail.from?.value).toEqual([{ address: 'hello@acme.example', name: 'Hello' }])
    expect(mail.replyTo?.value[0]?.address).toBe('help@acme.example')
    expect(mail.subject).toBe('Your code for <b>Acme</b> & sons')
    const code = /is:\s+([0-9A-Z]{9})/.exec(mail.text!)![1]!
    expect(mail.text).toContain(`https://acme.example/?c=${code}&x=1`)
    expect(mail.html).toContain('&#60;b&#62;Acme&#60;/b&#62; &#38; sons')
    expect(mail.html).not.toContain('<b>')
    await vi.waitFor(async () => expect(await events(service, 'ann@example.com')).toHaveLength(1), wait)
    const [event] = await events(service, 'Ann@example.com')
    expect(event).toMatchObject({
      eventType: 'Delivery',
      toAddress: 'ann@example.com',
      fromAddress: 'hello@acme.example',
    })
    // Neither what it says nor whom it goes to.
    for (const secret of [code, 'canary-smtp-password', 'ann@example.com'])
      expect(logs.filter((line) => line.includes(secret))).toEqual([])
    expect(logs.some((line) => line.startsWith('message sent'))).toBe(true)
  })

  test('that a server cannot take now are sent later, one that it refuses for good is not', async () => {
    const { server, service } = await startBoth((attempt) =>
      attempt === 1 ? { at: 'data', code: 451 } : attempt === 3 ? { at: 'recipient', code: 550 } : undefined,
    )
    await ask(service, 'ann@example.com')
    await vi.waitFor(() => expect(server.arrived).toHaveLength(1), wait)
    await ask(service, 'nobody@example.com')
    await vi.waitFor(async () => expect(await events(service, 'nobody@example.com')).toHaveLength(1), wait)
    const [event] = await events(service, 'nobody@example.com')
    expect(event).toMatchObject({
      eventType: 'Bounce',
      details: { diagnosticCode: 'EENVELOPE, the server answered 550' },
    })
    expect(server.arrived).toHaveLength(1)
  })

  test('wait sealed while no server answers, over a restart, and are wiped once they are sent', async () => {
    const { service, server } = await startBoth(undefined, { password: new Secret('wrong') })
    const { otpId } = await ask(service, 'ann@example.com')
    expect(otpId).toBeTruthy()
    await service.service.close()
    expect(server.arrived).toEqual([])
    const again = await startTestService({ dataDir: service.dataDir, messages: smtp(server.port) })
    try {
      const arrived = await vi.waitFor(() => {
        expect(server.arrived).toHaveLength(1)
        return server.arrived
      }, wait)
      const code = /is:\s+([0-9A-Z]{9})/.exec(arrived[0]!.mail.text!)![1]!
      expect((await storedBytes(service.dataDir)).includes(code)).toBe(false)
    } finally {
      await again.service.close()
    }
  })

  test('are not handed to a server whose certificate nobody trusts, nor claim to come from a domain of others', async () => {
    const { service, server } = await startBoth(undefined, { ca: undefined })
    await ask(service, 'ann@example.com')
    const foreign = ask(service, 'bob@example.com', { sendFromEmailAddress: 'ceo@bank.example' })
    expect(await refusalOf(foreign)).toEqual([400, 3, 'sender domain is not verified: bank.example', 'INVALID_FQDN'])
    expect(server.arrived).toEqual([])
  })

  test.each([
    [
      'a link that runs something',
      { magicLinkTemplate: 'javascript://x/%0aalert(1)//%s' },
      'invalid magic link template',
    ],
    ['a link without a place', { magicLinkTemplate: 'https://x.example/' }, 'invalid magic link template'],
    ['variables that are none', { templateVariables: '[1' }, 'failed to unmarshal template variables'],
    ['variables in variables', { templateVariables: '{"a":{}}' }, 'failed to unmarshal template variables'],
    ['a template that nobody has', { templateId: 'x' }, 'failed to get email template contents'],
    [
      'a logo that is no https',
      { logoUrl: 'http://x.example/' },
      'invalid request body: field `logoUrl` must be an https URL',
    ],
  ])('with %s are refused, and nothing is sent', async (_, emailCustomization, message) => {
    const sent = ask(shared, 'ann@example.com', { emailCustomization })
    expect(await refusalOf(sent)).toEqual([400, 3, message, 'REQUEST_INVALID'])
    expect(listWrittenMessages(shared.dataDir)).toEqual([])
  })
})

let shared: TestService
beforeAll(async () => {
  shared = await startTestService()
})
afterAll(() => shared.close())

test('text messages go to a gateway in Twilio’s form, again when it fails, and not where its address is private', async () => {
  const posted: { readonly authorization: string | undefined; readonly form: Record<string, string> }[] = []
  const gateway = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams((await buffer(request)).toString()))
    posted.push({ authorization: request.headers.authorization, form })
    response.writeHead(posted.length === 1 ? 503 : 201).end('{}')
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  const url = new URL(
    `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/2010-04-01/Accounts/AC1/Messages.json`,
  )
  const sms = { url, user: 'AC1', password: new Secret('token'), from: '+15550001111', isPrivate: true }
  const service = await startTestService({ messages: { sms } })
  onTestFinished(async () => {
    await service.close()
    gateway.close()
  })
  const template = 'Acme: {{ .OtpCode }} {{.Nothing}}'
  await ask(service, '+49 30 1234567', { otpType: 'OTP_TYPE_SMS', smsCustomization: { template } })
  await vi.waitFor(() => expect(posted).toHaveLength(2), wait)
  expect(posted[1]).toEqual(posted[0])
  expect(posted[0]).toEqual({
    authorization: `Basic ${Buffer.from('AC1:token').toString('base64')}`,
    form: { To: '+49301234567', From: '+15550001111', Body: expect.stringMatching(/^Acme: [0-9A-Z]{9} $/) },
  })
  const nowhere = ask(service, '+49 30 1234567', { otpType: 'OTP_TYPE_SMS', smsCustomization: { template: 'Hi' } })
  expect((await refusalOf(nowhere))[2]).toContain('must have a place for the code')
  const unsafe = await startTestService({ messages: { sms: { ...sms, isPrivate: false } } })
  onTestFinished(() => unsafe.close())
  await ask(unsafe, '+49301234567', { otpType: 'OTP_TYPE_SMS' })
  await unsafe.restart()
  expect(posted).toHaveLength(2)
})

test('a service that is killed between the commit and the sending sends after its next start, and the owner alone reads it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-killed-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  await (await startTestService({ dataDir })).service.close()
  // A file stands where the outbox would: nothing can be sent.
  const outbox = join(dataDir, 'messages')
  writeFileSync(outbox, '')
  const database = await databaseOf(dataDir)
  const killed = await startProcess(dataDir, database ? { databaseUrl: database.url.reveal() } : {})
  const client = readClient(dataDir)
  const intent = { otpType: 'OTP_TYPE_EMAIL', contact: 'ann@example.com', appName: 'Acme' }
  const activity = await client.send(killed.url, client.body('ACTIVITY_TYPE_INIT_OTP_V3', intent))
  expect(activity?.status).toBe('ACTIVITY_STATUS_COMPLETED')
  await killed.end('SIGKILL')
  rmSync(outbox)
  const next = await startTestService({ dataDir })
  try {
    const [written] = await vi.waitFor(() => {
      const all = listWrittenMessages(dataDir)
      expect(all).toHaveLength(1)
      return all
    }, wait)
    expect(codeIn(written!.message)).toMatch(/^[0-9A-Z]{9}$/)
    expect(statSync(outbox).mode & 0o777).toBe(0o700)
  } finally {
    await next.service.close()
  }
})
