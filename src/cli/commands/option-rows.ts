/**
 * The options that more than one command shares. Apart from what reads them, which loads far more: help and the first
 * line of a command need these rows alone.
 */
import type { OptionRow } from '../command.ts'

const row = (flags: string, meaning: string, variable: string, more: Partial<OptionRow> = {}): OptionRow => ({
  flags,
  meaning: `${meaning} [${variable}]`,
  ...more,
})

/** Where the rows of `serve` and `up` are, when they are not in a file of the service's folder. */
export const databaseOptions: readonly OptionRow[] = [
  {
    flags: '--database-connections <count>',
    meaning:
      'connections to the PostgreSQL of DATABASE_URL, for writes and as many for reads (default: 10) [QUORATE_DATABASE_CONNECTIONS]',
  },
  {
    flags: '--database-timeout <seconds>',
    meaning: 'how long one statement there may take (default: 10) [QUORATE_DATABASE_TIMEOUT]',
  },
]

/** About OIDC issuers: `serve` and `proxy`. */
export const issuerOptions: readonly OptionRow[] = [
  {
    flags: '--private-issuer <origin>',
    meaning: 'an OIDC issuer on plain http or a private address, for development; may be repeated',
    repeatable: true,
  },
  {
    flags: '--vouching-issuer <url>',
    meaning:
      'an OIDC issuer, exactly as its tokens name it, that is believed about e-mail addresses as Google, Apple and Facebook are; may be repeated',
    repeatable: true,
  },
  {
    flags: '--provider <name=url>',
    meaning:
      'where google, apple, facebook, x, discord, moonpay or coinbase is instead of its public place: a stand-in or self-hosted; may be repeated',
    repeatable: true,
  },
]

/** Of an authentication proxy: `serve` and `proxy`. */
export const proxyOptions: readonly OptionRow[] = [
  {
    flags: '--captcha-site-key <key>',
    meaning: 'what browsers show a captcha with; its secret is QUORATE_CAPTCHA_SECRET (default: none)',
  },
  { flags: '--captcha-url <url>', meaning: 'where captchas are verified, in Turnstile’s form (default: Turnstile)' },
  {
    flags: '--proxy-rate <count>',
    meaning:
      'requests a second that the authentication proxies of all service processes take of one address, or one of `proxy` by itself (default: 20)',
  },
  {
    flags: '--codes-per-address <count>',
    meaning:
      'one-time codes that one address may ask the authentication proxies of all processes for in three minutes; of `proxy` it can only lower what `serve` lets through (default: 3)',
  },
]

/** The ways in which a person proves who they are: `login` and votes. */
export const proofOptions: readonly OptionRow[] = [
  { flags: '--email <address>', meaning: 'by a code that is sent by mail' },
  { flags: '--phone <number>', meaning: 'by a code that is sent by SMS' },
  { flags: '--oidc <issuer>', meaning: 'at an OpenID provider that is registered with the user' },
  { flags: '--client-id <id>', meaning: 'the client at the provider' },
  { flags: '--client-secret-file <file>', meaning: 'for a provider that gives installed programs a secret' },
  {
    flags: '--device',
    meaning: 'at a provider that offers it: by a code that is typed into its page on any other device',
  },
  { flags: '--proxy-url <url>', meaning: 'the authentication proxy (default: the embedded service’s)' },
  { flags: '--proxy-config-id <uuid>', meaning: 'its configuration (default: the embedded service’s)' },
  {
    flags: '--service-keys <file>',
    meaning:
      'JSON with the public keys of the service, as its bootstrap.json has them, to check answers with (default: the embedded service’s; otherwise the connection alone vouches)',
  },
]

/** How e-mails and text messages leave: `serve`. Each has a variable, which `up` reads. */
export const messageOptions: readonly OptionRow[] = [
  row(
    '--smtp-url <url>',
    'mail server, `smtps://user@host` or `smtp://user@host`, which is encrypted by STARTTLS (default: an outbox in the folder)',
    'QUORATE_SMTP_URL',
  ),
  row(
    '--smtp-password-file <file>',
    'file with its password, readable by you alone; or QUORATE_SMTP_PASSWORD',
    'QUORATE_SMTP_PASSWORD_FILE',
  ),
  row('--smtp-password-command <command>', 'command that prints its password', 'QUORATE_SMTP_PASSWORD_COMMAND'),
  row(
    '--smtp-ca <file>',
    'certificates in PEM that it is trusted by (default: those of the system)',
    'QUORATE_SMTP_CA',
  ),
  row('--mail-from <mailbox>', 'who e-mails come from, `Acme <codes@acme.example>`', 'QUORATE_MAIL_FROM'),
  row(
    '--mail-domain <domain>',
    'another domain that requests may name as sender; may be repeated',
    'QUORATE_MAIL_DOMAINS',
    { repeatable: true },
  ),
  row('--mail-templates <folder>', 'texts of e-mails, in a folder for each template id', 'QUORATE_MAIL_TEMPLATES'),
  row('--sms-url <url>', 'SMS gateway in Twilio’s form (default: an outbox in the folder)', 'QUORATE_SMS_URL'),
  row('--sms-user <user>', 'its user, at Twilio the account’s id', 'QUORATE_SMS_USER'),
  row(
    '--sms-password-file <file>',
    'file with its password, readable by you alone; or QUORATE_SMS_PASSWORD',
    'QUORATE_SMS_PASSWORD_FILE',
  ),
  row('--sms-password-command <command>', 'command that prints its password', 'QUORATE_SMS_PASSWORD_COMMAND'),
  row(
    '--sms-from <number>',
    'number that text messages come from, or the id of a messaging service',
    'QUORATE_SMS_FROM',
  ),
  row('--sms-private', 'let the gateway be on a private address or plain http', 'QUORATE_SMS_PRIVATE=1'),
  row(
    '--otp-sandbox',
    'for tests: six digits for user@example.com and +19999999999 are 000000, and nothing is sent',
    'QUORATE_OTP_SANDBOX=1',
  ),
]

/** Lets one guard pass. */
const allowed: OptionRow = {
  flags: '--allow <bypass>',
  meaning: 'let one named guard pass, as the guard itself says; may be repeated',
  repeatable: true,
}

/** What writes a plan back to what was before an incident. */
export const revert: readonly OptionRow[] = [
  {
    flags: '--revert <file>',
    writes: true,
    meaning:
      'write a plan back to what was before: what was made is deleted, what was changed or deleted is restored; apply it when you have read it',
  },
  allowed,
]

/** What lets a plan pass its guards. */
export const guards: readonly OptionRow[] = [
  { flags: '--allow-delete', meaning: 'let the plan delete what the definitions say should go' },
  allowed,
]

export const target: OptionRow = {
  flags: '--target <address>',
  meaning:
    'plan this, such as `policy.treasury-signs`, with what it holds and needs, and nothing else; may be repeated',
  repeatable: true,
}

export const serviceFolder: OptionRow = {
  flags: '--folder <folder>',
  meaning: 'the service’s data (default: service/ in the data folder)',
}

export const wait: OptionRow = {
  flags: '--wait <time>',
  meaning:
    'follow it no longer than this, such as 10m, then exit with 3, while the background process or a worker goes on with it (default: no limit). Reads that the API holds back are waited for as long (default: 2m)',
}

export const askAgain: OptionRow = {
  flags: '--ask-again',
  meaning: 'ask once more, as a new activity, for what somebody rejected',
}

/** Who reads what an activity pays has names of their own: those of the requester say nothing. */
export const payeeNames: OptionRow = {
  flags: '--definitions <folder>',
  meaning: 'folder whose `addressBook` and `assets` name payees and tokens (default: addresses alone)',
}

/** The plans that voters hold an activity against. */
export const comparedPlans: OptionRow = {
  flags: '--plan <file>',
  meaning:
    'a saved plan that you have approved; may be repeated (default: the plans that were applied from the data folder)',
  repeatable: true,
}

export const voteReason: OptionRow = {
  flags: '--reason <text>',
  meaning: 'why; kept in the data folder, because the API has no field for it',
}

export const votePasskey: OptionRow = {
  flags: '--passkey',
  meaning: 'vote by a passkey in the browser, made with `quorate login --new-passkey` (default: the key in use)',
}

export const jsonInto: OptionRow = {
  flags: '--json-into <file>',
  writes: true,
  meaning: 'write the data as JSON into a file as well',
}

export const markdown: OptionRow = {
  flags: '--markdown <file>',
  writes: true,
  meaning: 'write the plan as Markdown, for a pull request; `-` prints it instead',
}
