/** The texts of messages (docs/protocol/one-time-passcodes.md#messages): the service's own, or those that a request asks for. */
import { apiError } from '../../protocol/index.ts'
import type { Email, Sms } from './message.ts'
import { type MessageRules, noSuchTemplate } from './rules.ts'
import {
  escapeHtml,
  fillMagicLink,
  fillTemplate,
  oneLine,
  readTemplateVariables,
  type TemplateValues,
} from './template.ts'

/** How a request wants its e-mail to look. */
export interface EmailWishes {
  readonly appName?: string | undefined
  readonly logoUrl?: string | undefined
  readonly magicLinkTemplate?: string | undefined
  readonly templateVariables?: string | undefined
  readonly templateId?: string | undefined
  readonly sendFromEmailAddress?: string | undefined
  readonly sendFromEmailSenderName?: string | undefined
  readonly replyToEmailAddress?: string | undefined
}

/** Unstated: the name of an app that a request does not name. */
const NO_APP = 'your account'

/** Writes the e-mail with a code. Throws `ApiError` for wishes that cannot be fulfilled. */
export function writeCodeEmail(
  rules: MessageRules,
  to: string,
  wishes: EmailWishes,
  { code, seconds }: { readonly code: string; readonly seconds: number },
): Email {
  const { magicLinkTemplate } = wishes
  const link = magicLinkTemplate ? fillMagicLink(magicLinkTemplate, code) : undefined
  return writeEmail(rules, to, wishes, {
    values: { OtpCode: code, OTPCode: code },
    subject: (app) => `Your code for ${app}`,
    lead: (app) => `Your code for ${app} is:`,
    shown: code,
    link,
    seconds,
  })
}

/** Writes the e-mail with a credential bundle: as a link, or to be copied. Throws `ApiError`. */
export function writeBundleEmail(
  rules: MessageRules,
  to: string,
  wishes: EmailWishes,
  {
    bundle,
    seconds,
    purpose,
  }: { readonly bundle: string; readonly seconds: number; readonly purpose: 'login' | 'recovery' },
): Email {
  const { magicLinkTemplate } = wishes
  const link = magicLinkTemplate ? fillMagicLink(magicLinkTemplate, bundle) : undefined
  const what = purpose === 'login' ? 'Log in to' : 'Recover your access to'
  return writeEmail(rules, to, wishes, {
    values: { AuthBundle: bundle, ...(purpose === 'recovery' ? { RecoveryBundle: bundle } : {}) },
    subject: (app) => `${what} ${app}`,
    lead: (app) => (link === undefined ? `${what} ${app} with this code:` : `${what} ${app} by this link:`),
    shown: link === undefined ? bundle : undefined,
    link,
    seconds,
  })
}

/** Writes the e-mail that invites somebody to become a user, with the key that they accept by. */
export function writeInvitationEmail(
  rules: MessageRules,
  to: string,
  {
    organizationName,
    organizationId,
    invitationId,
    userId,
    key,
    seconds,
  }: {
    readonly organizationName: string
    readonly organizationId: string
    readonly invitationId: string
    readonly userId: string
    /** Hex of the private half. */
    readonly key: string
    readonly seconds: number
  },
): Email {
  const lines = { Organization: organizationId, Invitation: invitationId, User: userId, Key: key }
  return writeEmail(
    rules,
    to,
    { appName: organizationName },
    {
      values: {},
      subject: (app) => `You are invited to ${app}`,
      lead: (app) => `You are invited to ${app}. Accept with a passkey, by stamping accept_invitation with this key:`,
      shown: Object.entries(lines)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
      link: undefined,
      seconds,
    },
  )
}

interface Content {
  readonly values: TemplateValues
  readonly subject: (app: string) => string
  readonly lead: (app: string) => string
  /** The secret itself. */
  readonly shown: string | undefined
  readonly link: string | undefined
  readonly seconds: number
}

function writeEmail(rules: MessageRules, to: string, wishes: EmailWishes, content: Content): Email {
  const { sendFromEmailAddress, sendFromEmailSenderName, replyToEmailAddress, templateId, templateVariables } = wishes
  rules.checkSender(sendFromEmailAddress)
  const variables = readTemplateVariables(templateVariables)
  const app = oneLine(wishes.appName ?? '') || NO_APP
  const logoUrl = readLogoUrl(wishes.logoUrl)
  const from = {
    ...(sendFromEmailAddress ? { address: sendFromEmailAddress } : {}),
    ...(sendFromEmailSenderName ? { name: oneLine(sendFromEmailSenderName) } : {}),
  }
  const head = {
    kind: 'email',
    to,
    ...(Object.keys(from).length === 0 ? {} : { from }),
    ...(replyToEmailAddress ? { replyTo: replyToEmailAddress } : {}),
  } as const
  if (!templateId) return { ...head, ...ownTexts(app, logoUrl, content) }
  const template = rules.templates.get(templateId.toLowerCase())
  if (!template) throw noSuchTemplate()
  const { link = '' } = content
  const values = { ...variables, AppName: app, LogoUrl: logoUrl ?? '', MagicLink: link, ...content.values }
  return {
    ...head,
    subject: oneLine(fillTemplate(template.subject, values, oneLine)),
    text: fillTemplate(template.text, values, String),
    html: fillTemplate(template.html, values, escapeHtml),
  }
}

function ownTexts(app: string, logoUrl: string | undefined, content: Content) {
  const { shown, link, seconds } = content
  const lead = content.lead(app)
  const tail = `It works for ${inWords(seconds)}, once. If you did not ask for it, ignore this message, and tell nobody what it says.`
  const lines = [lead, shown, link, tail].filter((line) => line !== undefined)
  const paragraph = (html: string) => `<p>${html}</p>`
  const html = [
    '<!doctype html><html><head><meta charset="utf-8"></head><body style="font-family:sans-serif">',
    logoUrl === undefined ? '' : `<p><img src="${escapeHtml(logoUrl)}" alt="${escapeHtml(app)}" height="48"></p>`,
    paragraph(escapeHtml(lead)),
    shown === undefined
      ? ''
      : `<p style="font-size:24px;word-break:break-all;white-space:pre-wrap"><code>${escapeHtml(shown)}</code></p>`,
    link === undefined ? '' : `<p><a href="${escapeHtml(link)}">${escapeHtml(content.subject(app))}</a></p>`,
    paragraph(escapeHtml(tail)),
    '</body></html>',
  ]
  return { subject: content.subject(app), text: `${lines.join('\n\n')}\n`, html: html.join('') }
}

/** A mail reader fetches it: only what the web has. */
function readLogoUrl(text: string | undefined): string | undefined {
  if (!text) return undefined
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw apiError('invalidField', 'logoUrl', 'must be an https URL')
  return url.href
}

function inWords(seconds: number): string {
  if (seconds % 86_400 === 0 && seconds > 86_400) return `${seconds / 86_400} days`
  if (seconds % 3_600 === 0) return seconds === 3_600 ? 'an hour' : `${seconds / 3_600} hours`
  if (seconds % 60 === 0) return seconds === 60 ? 'a minute' : `${seconds / 60} minutes`
  return `${seconds} seconds`
}

/** Longer than ten parts of a text message. */
const MOST_SMS_CHARACTERS = 1_530

/** Writes the text message with a code. Throws `ApiError` for a template that has no place for it. */
export function writeCodeSms(
  to: string,
  { appName, template }: { readonly appName?: string | undefined; readonly template?: string | undefined },
  { code, seconds }: { readonly code: string; readonly seconds: number },
): Sms {
  const app = oneLine(appName ?? '') || NO_APP
  const own = `Your code for ${app} is ${code}. It works for ${inWords(seconds)}. Tell nobody.`
  const text = template ? fillTemplate(template, { OtpCode: code, OTPCode: code, AppName: app }, String) : own
  if (!text.includes(code))
    throw apiError('invalidField', 'smsCustomization.template', 'must have a place for the code, `{{ .OtpCode }}`')
  if (text.length > MOST_SMS_CHARACTERS)
    throw apiError('invalidField', 'smsCustomization.template', `must give at most ${MOST_SMS_CHARACTERS} characters`)
  return { kind: 'sms', to, text }
}
