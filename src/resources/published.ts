import { EMAIL_PATTERN, UUID_PATTERN } from '../protocol/index.ts'

/** What the API's published checks ask of a text (docs/protocol/requests.md#field-checks), in JSON Schema's words. */
type TextSchema = {
  readonly type: 'string'
  readonly title: string
  readonly pattern: string
  readonly maxLength?: number
}

/** Editors see `${var.x}` before it has a value. */
const orVariable = (pattern: string) => `${pattern}|\\$\\{`

export const EMAIL: TextSchema = {
  type: 'string',
  title: 'an e-mail address',
  pattern: orVariable(EMAIL_PATTERN),
  maxLength: 254,
}
export const UUID: TextSchema = { type: 'string', title: 'a UUID', pattern: orVariable(UUID_PATTERN) }

/** The same where an empty text says that there is none. */
export function orEmpty(schema: TextSchema): TextSchema {
  return { ...schema, pattern: `^$|${schema.pattern}` }
}
