/** The options of `serve` that say how e-mails and text messages leave; each has a variable, which `up` reads. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { QuorateError } from '../diagnostics/index.ts'
import type { MessagesSettings, SmsSettings, SmtpSettings } from '../service/index.ts'
import type { KeyReference } from '../stamp/index.ts'
import { Secret } from '../telemetry/index.ts'
import type { CommandInput } from './command.ts'

type Input = Pick<CommandInput, 'options' | 'environment'>

/** Reads them; a flag wins over its variable. Throws `cli/usage`, and what reading a secret throws. */
export async function readMessageOptions(input: Input): Promise<MessagesSettings> {
  const smtp = await readSmtp(input)
  const sms = await readSms(input)
  const given = input.options['mailDomain']
  const domains = Array.isArray(given)
    ? given.map(String)
    : (input.environment['QUORATE_MAIL_DOMAINS'] ?? '').split(',')
  const templates = textOf(input, 'mailTemplates')
  return {
    ...(smtp ? { smtp } : {}),
    ...(sms ? { sms } : {}),
    senderDomains: domains.filter(Boolean),
    ...(templates === undefined ? {} : { templatesFolder: resolve(templates) }),
    sandbox: isOn(input, 'otpSandbox'),
  }
}

async function readSmtp(input: Input): Promise<SmtpSettings | undefined> {
  const text = textOf(input, 'smtpUrl')
  if (text === undefined) return undefined
  const url = URL.parse(text)
  // A password in it would stand in the list of processes: not shown either.
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '' || url.password !== '')
    throw misread('smtpUrl', 'smtp://user@host or smtps://user@host, without a password')
  const user = decodeURIComponent(url.username)
  const password = await secretOf(input, 'smtpPassword')
  if (user !== '' && password === undefined) throw misread('smtpPasswordFile', `a file with the password of ${user}`)
  const ca = textOf(input, 'smtpCa')
  return {
    url,
    from: readMailbox(textOf(input, 'mailFrom')),
    ...(user === '' ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(ca === undefined ? {} : { ca: readFileSync(ca, 'utf8') }),
  }
}

function readMailbox(text: string | undefined) {
  const [, name, address] = /^(?:([^<>@]*)<)?([^\s<>@]+@[^\s<>@]+\.[^\s<>@]+)>?$/.exec((text ?? '').trim()) ?? []
  if (address === undefined) throw misread('mailFrom', 'who e-mails come from, such as `Acme <codes@acme.example>`')
  return { address, ...(name?.trim() ? { name: name.trim() } : {}) }
}

async function readSms(input: Input): Promise<SmsSettings | undefined> {
  const text = textOf(input, 'smsUrl')
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '')
    throw misread('smsUrl', 'an https URL without a user')
  const user = textOf(input, 'smsUser')
  const from = textOf(input, 'smsFrom')
  const password = await secretOf(input, 'smsPassword')
  if (user === undefined) throw misread('smsUser', 'the user of the gateway')
  if (from === undefined) throw misread('smsFrom', 'the number that messages come from')
  if (password === undefined) throw misread('smsPasswordFile', 'a file with the password of the gateway')
  return { url, user, password, from, isPrivate: isOn(input, 'smsPrivate') }
}

/** A secret from a file, a command or a variable: one of them. */
async function secretOf(input: Input, name: 'smtpPassword' | 'smsPassword'): Promise<Secret | undefined> {
  const file = textOf(input, `${name}File`)
  const command = textOf(input, `${name}Command`)
  const value = input.environment[variableOf(name)]
  const given: KeyReference[] = [
    ...(file === undefined ? [] : [{ kind: 'file', path: resolve(file) } as const]),
    ...(command === undefined ? [] : [{ kind: 'command', command } as const]),
    ...(value ? [{ kind: 'value', value: new Secret(value), name: variableOf(name) } as const] : []),
  ]
  if (given.length > 1) throw misread(`${name}File`, 'the one way to the password: a file, a command or a variable')
  if (given[0] === undefined) return undefined
  // The table of options is read by every command, secrets by two.
  const { loadKeyText } = await import('../stamp/index.ts')
  return new Secret((await loadKeyText(given[0])).text.reveal().trim())
}

function textOf({ options, environment }: Input, name: string): string | undefined {
  const text = options[name] ?? environment[variableOf(name)]
  return text === undefined || text === '' ? undefined : String(text)
}

function isOn({ options, environment }: Input, name: string): boolean {
  return options[name] === true || environment[variableOf(name)] === '1'
}

/** `smtpUrl` → `QUORATE_SMTP_URL`. */
function variableOf(name: string): string {
  return `QUORATE_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

function misread(name: string, what: string): QuorateError {
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  return new QuorateError('cli/usage', `expected ${flag} to be ${what}`, {
    next: `correct ${flag} or ${variableOf(name)}`,
  })
}
