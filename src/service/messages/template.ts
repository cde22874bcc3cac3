/** Templates as Go writes them, as far as messages need them: `{{ .Name }}` and nothing else. */
import { type ApiError, apiError, isJsonObject } from '../../protocol/index.ts'

const ACTION = /\{\{(.*?)\}\}/gs
const FIELD = /^-?\s*\.([A-Za-z][A-Za-z0-9_]*)\s*-?$/

/** Values of fields; those of the service itself go over those of a request. */
export type TemplateValues = Readonly<Record<string, string>>

/**
 * Fills a template in. A field without a value is left empty. Throws the refusal of an action that is none of these.
 * @param escapeValue applied to each value
 */
export function fillTemplate(template: string, values: TemplateValues, escapeValue: (text: string) => string): string {
  return template.replaceAll(ACTION, (_, action: string) => {
    const [, name] = FIELD.exec(action) ?? []
    if (name === undefined) throw misread(action)
    return escapeValue(Object.hasOwn(values, name) ? values[name]! : '')
  })
}

/** Makes text stand in HTML as itself, also inside of an attribute in quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Makes a text of one line, for a header: no line can be added by what people call their app. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

/** Reads the `templateVariables` of a request: JSON text of an object of texts. Throws the published refusal. */
export function readTemplateVariables(text: string | undefined): TemplateValues {
  if (text === undefined || text === '') return {}
  const value = parse(text)
  if (!isJsonObject(value)) throw apiError('mailTemplateVariables')
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (typeof member === 'object' && member !== null) throw apiError('mailTemplateVariables')
      return [name, String(member ?? '')]
    }),
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw apiError('mailTemplateVariables')
  }
}

function misread(action: string): ApiError {
  const shown = action.trim().slice(0, 40)
  return apiError('requestInvalid', `invalid template: \`{{ ${shown} }}\` is no field such as \`{{ .OtpCode }}\``)
}

/** Schemes by which a link would run something, or read a file, where it is opened. */
const NO_LINKS = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:'])

/** Puts a secret into a link, in the place of `%s`. Throws the published refusal of a template that makes no link. */
export function fillMagicLink(template: string, secret: string): string {
  if (template.split('%s').length !== 2) throw apiError('invalidMagicLink')
  const link = template.replace('%s', () => encodeURIComponent(secret))
  const url = URL.parse(link)
  if (!url || NO_LINKS.has(url.protocol) || /[\s\p{Cc}]/u.test(link)) throw apiError('invalidMagicLink')
  return link
}
