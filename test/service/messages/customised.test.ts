/** Messages as a person reads them: the operator's own texts, and the sandbox, whose contacts are written nothing. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { listWrittenMessages, type MessagesSettings } from '../../../src/service/messages/index.ts'
import { complete, refusalOf } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { codeIn, encryptCode, messageOf } from '../one-time-passcodes/outbox.ts'

const FILES = {
  'subject.txt': 'Hello {{ .Name }}, your code for {{ .AppName }}',
  'body.txt': 'Dear {{.Name}},\n{{ .OtpCode }}\n{{ .Nothing }}.\n',
  'body.html': '<p title="{{ .Name }}">Dear {{ .Name }}</p><b>{{ .OtpCode }}</b><a href="{{ .MagicLink }}">in</a>',
}

async function start(messages: MessagesSettings): Promise<TestService> {
  const service = await startTestService({ messages })
  onTestFinished(() => service.close())
  return service
}

function templates(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-mail-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'Welcome'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'Welcome', name), text)
  return folder
}

const ask = (service: TestService, parameters: object) =>
  complete(service.root, 'ACTIVITY_TYPE_INIT_OTP_V3', {
    otpType: 'OTP_TYPE_EMAIL',
    contact: 'ann@example.com',
    appName: 'Acme',
    ...parameters,
  })
const written = ({ dataDir }: TestService) => listWrittenMessages(dataDir).length

describe('texts of the operator', () => {
  test('are filled in: as they are in text, escaped in HTML, in one line in the subject', async () => {
    const service = await start({ templatesFolder: templates(FILES) })
    const name = `<img src=x onerror="alert('1')">\nBcc: eve@example.com`
    const emailCustomization = {
      templateId: 'welcome',
      templateVariables: JSON.stringify({ Name: name, OtpCode: 'forged', AppName: 'forged' }),
      magicLinkTemplate: 'https://acme.example/?a="b"&c=%s',
    }
    const { message } = await messageOf(service, () => ask(service, { emailCustomization }))
    if (message.kind !== 'email') throw new Error('expected an e-mail')
    const code = /\n([0-9A-Z]{9})\n/.exec(message.text)![1]!
    const flat = name.replace('\n', ' ')
    expect(message.subject).toBe(`Hello ${flat}, your code for Acme`)
    expect(message.text).toBe(`Dear ${name},\n${code}\n.\n`)
    const safe = '&#60;img src=x onerror=&#34;alert(&#39;1&#39;)&#34;&#62;\nBcc: eve@example.com'
    const link = `https://acme.example/?a=&#34;b&#34;&#38;c=${code}`
    expect(message.html).toBe(`<p title="${safe}">Dear ${safe}</p><b>${code}</b><a href="${link}">in</a>`)
  })

  test('that cannot be filled in are refused, and nothing is sent', async () => {
    const service = await start({
      templatesFolder: templates({ ...FILES, 'body.html': '{{ range .Names }}{{ . }}{{ end }}' }),
    })
    const rows: readonly (readonly [object, string])[] = [
      [{ emailCustomization: { templateId: 'other' } }, 'failed to get email template contents'],
      [{ emailCustomization: { templateId: '../Welcome' } }, 'failed to get email template contents'],
      [{ emailCustomization: { templateId: 'welcome' } }, 'is no field such as'],
      [{ emailCustomization: { templateVariables: '{' } }, 'failed to unmarshal template variables'],
      [{ emailCustomization: { templateVariables: '{"A":{"B":1}}' } }, 'failed to unmarshal template variables'],
    ]
    for (const [parameters, says] of rows) {
      const [status, , message] = await refusalOf(ask(service, parameters))
      expect([parameters, status, message]).toEqual([parameters, 400, expect.stringContaining(says)])
    }
    expect(written(service)).toBe(0)
    const incomplete = startTestService({ messages: { templatesFolder: templates({ 'body.txt': '' }) } })
    await expect(incomplete).rejects.toMatchObject({ code: 'service/mail-template-unreadable' })
  })

  test('of text messages have a place for the code, and no more than ten parts', async () => {
    const service = await start({})
    const sms = (template: string) =>
      ask(service, { otpType: 'OTP_TYPE_SMS', contact: '+15551234567', smsCustomization: { template } })
    const { message } = await messageOf(service, () => sms('{{ .AppName }} <{{ .OtpCode }}>'))
    expect(message.text).toMatch(/^Acme <[0-9A-Z]{9}>$/)
    for (const template of ['no code', `{{ .OtpCode }}${'x'.repeat(1_530)}`])
      expect((await refusalOf(sms(template)))[0]).toBe(400)
  })
})

describe('the sandbox', () => {
  const contacts = [
    { otpType: 'OTP_TYPE_EMAIL', contact: 'user@example.com' },
    { otpType: 'OTP_TYPE_SMS', contact: '+1 999-999-9999' },
  ]
  const short = { otpLength: 6, alphanumeric: false }
  const tryCode = async (service: TestService, asked: Awaited<ReturnType<typeof ask>>, code: string) => {
    const { otpId, otpEncryptionTargetBundle: bundle } = asked
    const { publicKey } = generateP256KeyPair()
    const encryptedOtpBundle = await encryptCode(service, { otpId, bundle, code }, code, publicKey)
    return complete(service.root, 'ACTIVITY_TYPE_VERIFY_OTP_V2', { otpId, encryptedOtpBundle })
  }

  test('switched on, its contacts have the code that everybody knows, and nobody else has', async () => {
    const service = await start({ sandbox: true })
    for (const one of contacts) {
      const asked = await ask(service, { ...one, ...short })
      expect((await tryCode(service, asked, '000000')).verificationToken).toContain('.')
    }
    expect(written(service)).toBe(0)
    const { result, message } = await messageOf(service, () => ask(service, { contact: 'user@example.org', ...short }))
    expect(codeIn(message)).toMatch(/^\d{6}$/)
    expect((await refusalOf(tryCode(service, result, '000000')))[2]).toContain('Invalid OTP code')
    // A code of another form is sent to them, too.
    await messageOf(service, () => ask(service, { ...contacts[0], otpLength: 7, alphanumeric: false }))
  })

  test('is off unless it is switched on: its contacts are written to, and the known code is wrong', async () => {
    const service = await start({})
    for (const one of contacts) {
      const { result } = await messageOf(service, () => ask(service, { ...one, ...short }))
      expect((await refusalOf(tryCode(service, result, '000000')))[2]).toContain('Invalid OTP code')
    }
  })
})
