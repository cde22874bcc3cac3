import type { JsonObject } from './json.ts'

/**
 * The tags of the published field checks, one row each (docs/protocol/requests.md#field-checks). `holds` judges a value
 * that has the right JSON type; `rule` completes the sentence "field `x` …"; `words` says in JSON Schema's words what a
 * value of that type must have, as far as those words reach: never more than `holds` demands.
 */
export interface CheckRow {
  readonly rule: (argument: string) => string
  readonly holds: (value: unknown, argument: string, siblings: Readonly<Record<string, unknown>>) => boolean
  readonly words?: (type: ValueType, argument: string) => JsonObject
}

/** What `x-checks` stands beside: a list of words and a message are `other`. */
export type ValueType = 'string' | 'array' | 'integer' | 'boolean' | 'other'

/** The keywords for a size: of text its characters, of lists its elements, of numbers the value. */
const LEAST = { string: 'minLength', array: 'minItems', integer: 'minimum' } as const
const MOST = { string: 'maxLength', array: 'maxItems', integer: 'maximum' } as const

function bound(keywords: typeof LEAST | typeof MOST, type: ValueType, size: number): JsonObject {
  return type in keywords ? { [keywords[type as keyof typeof keywords]]: size } : {}
}

const pattern = (text: string) => (type: ValueType) => (type === 'string' ? { pattern: text } : {})
const format = (name: string) => (type: ValueType) => (type === 'string' ? { format: name } : {})

/** What passes for a UUID, as the source of a regular expression without flags. */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
/** What passes for an e-mail address, alike. Syntax alone: whether a domain takes mail is found out when some is sent. */
export const EMAIL_PATTERN =
  '^[^\\s@"(),:;<>[\\\\\\]]{1,64}@(?=.{1,253}$)([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z0-9-]{2,63}$'
const uuid = new RegExp(UUID_PATTERN)
const email = new RegExp(EMAIL_PATTERN)
// Unstated: printable, no control characters, no blanks at the ends. Marks that turn or break the line count as such.
const label = /^(?!\s)[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]*(?<!\s)$/u
// For the patterns of other languages, which know no `\p`.
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f'
const digits = /^[0-9]+$/

export const checks = {
  // A boolean has no unset value that could be told from false, so it need only be there.
  required: {
    rule: () => 'must not be empty',
    holds: (value) => typeof value === 'boolean' || !isZero(value),
    words: (type) => (type === 'integer' ? { not: { const: 0 } } : type === 'other' ? {} : bound(LEAST, type, 1)),
  },
  omitempty: { rule: () => '', holds: () => true },
  uuid: { rule: () => 'must be a UUID', holds: (value) => text(value, (t) => uuid.test(t)), words: format('uuid') },
  uuid4: {
    rule: () => 'must be a UUID',
    // Real ids have versions 4, 5 and 7: the version nibble is never checked (docs/protocol/requests.md#identifiers).
    holds: (value) => text(value, (t) => uuid.test(t)),
    words: format('uuid'),
  },
  hexadecimal: {
    rule: () => 'must be hexadecimal',
    holds: (value) => text(value, (t) => /^(0x)?[0-9a-f]+$/i.test(t)),
    words: pattern('^(0x)?[0-9a-fA-F]+$'),
  },
  numeric: {
    rule: () => 'must be decimal digits',
    holds: (value) => text(value, (t) => digits.test(t)),
    words: pattern('^[0-9]+$'),
  },
  positive: {
    rule: () => 'must be a positive integer',
    holds: (value) => text(value, (t) => /^[0-9]{1,15}$/.test(t) && Number(t) > 0),
    words: pattern('^0*[1-9][0-9]*$'),
  },
  decimal: {
    rule: () => 'must be a decimal number with at most 6 places',
    holds: (value) => text(value, (t) => /^[0-9]{1,15}(\.[0-9]{1,6})?$/.test(t)),
    words: pattern('^[0-9]{1,15}([.][0-9]{1,6})?$'),
  },
  at_most: { rule: (most) => `must be at most ${most}`, holds: (value, most) => Number(value) <= Number(most) },
  gt: {
    rule: (bound) => `must be greater than ${bound}`,
    holds: (value, bound) => size(value) > Number(bound),
    words: (type, least) =>
      type === 'integer' ? { exclusiveMinimum: Number(least) } : bound(LEAST, type, Number(least) + 1),
  },
  len: {
    rule: (length) => `must be ${length} long`,
    holds: (value, length) => size(value) === Number(length),
    words: (type, length) => ({ ...bound(LEAST, type, Number(length)), ...bound(MOST, type, Number(length)) }),
  },
  min: {
    rule: (least) => `must be at least ${least}, in length or value`,
    holds: (v, least) => size(v) >= Number(least),
    words: (type, least) => bound(LEAST, type, Number(least)),
  },
  max: {
    rule: (most) => `must be at most ${most}, in length or value`,
    holds: (v, most) => size(v) <= Number(most),
    words: (type, most) => bound(MOST, type, Number(most)),
  },
  oneof: {
    rule: (words) => `must be one of ${words.replaceAll(' ', ', ')}`,
    holds: (value, words) => text(value, (t) => words.split(' ').includes(t)),
    words: (_, words) => ({ enum: words.split(' ') }),
  },
  email: {
    rule: () => 'must be an e-mail address',
    holds: (value) => text(value, (t) => email.test(t)),
    words: format('email'),
  },
  tk_email: { rule: () => 'must be an e-mail address', holds: () => true },
  e164: {
    rule: () => 'must be a phone number in E.164 form',
    holds: (v) => text(v, (t) => /^\+[1-9][0-9]{1,14}$/.test(t)),
    words: pattern('^[+][1-9][0-9]{1,14}$'),
  },
  tk_label: {
    rule: () => 'must be printable, without blanks at its ends',
    holds: (value) => text(value, (t) => label.test(t)),
    words: pattern(`^[^\\s${CONTROL}]([^${CONTROL}]*[^\\s${CONTROL}])?$`),
  },
  tk_label_length: {
    rule: () => 'must have 1 to 255 characters',
    holds: (value) => text(value, (t) => t.length >= 1 && lengthOf(t) <= 255),
    words: () => ({ minLength: 1, maxLength: 255 }),
  },
  tk_api_key: {
    rule: () => 'must be a public key of its curve: 66 hex characters, or 64 for Ed25519',
    holds: (value, _, { curveType }) =>
      text(value, (t) => t.length === (curveType === 'API_KEY_CURVE_ED25519' ? 64 : 66) && !/^0x/i.test(t)),
    words: () => ({ minLength: 64, maxLength: 66 }),
  },
  tk_max_length: {
    rule: (most) => `must have at most ${most} bytes`,
    holds: (value, most) => text(value, (t) => new TextEncoder().encode(t).length <= Number(most)),
    words: (_, most) => ({ maxLength: Number(most) }),
  },
} as const satisfies Readonly<Record<string, CheckRow>>

/** Finds the first check that a value fails, of tags such as `omitempty,min=6,max=9`. Returns its rule's words. */
export function firstFailed(
  tags: string,
  value: unknown,
  siblings: Readonly<Record<string, unknown>>,
): { readonly tag: string; readonly rule: string } | undefined {
  for (const { tag, argument, row } of rowsOf(tags)) {
    if (tag === 'omitempty' && isZero(value)) return undefined
    if (!row) throw new Error(`unknown check ${tag}`)
    if (!row.holds(value, argument, siblings)) return { tag, rule: row.rule(argument) }
  }
  return undefined
}

/** By the tags of a field, of which there are as many as the published schemas have. */
const rowsByTags = new Map<string, readonly { tag: string; argument: string; row: CheckRow | undefined }[]>()

function rowsOf(tags: string) {
  const known = rowsByTags.get(tags)
  if (known) return known
  const rows = tags.split(',').map((part) => {
    const [tag = '', argument = ''] = part.split('=')
    return { tag, argument, row: checks[tag as keyof typeof checks] as CheckRow | undefined }
  })
  rowsByTags.set(tags, rows)
  return rows
}

/**
 * Says in JSON Schema's words what the checks of a value of that type demand, for readers of the served description. Where
 * the checks may be left out, the zero value is allowed beside.
 */
export function checksInWords(tags: string, type: ValueType): JsonObject {
  const parts = tags.split(',').map((part) => part.split('=') as [string, string?])
  const rows = parts.flatMap(([tag, argument = '']) => {
    const row: CheckRow | undefined = checks[tag as keyof typeof checks]
    return row?.words ? [row.words(type, argument)] : []
  })
  const words = Object.assign({}, ...rows) as JsonObject
  if (Object.keys(words).length === 0 || !parts.some(([tag]) => tag === 'omitempty')) return words
  return { anyOf: [words, ZEROS[type]] }
}

const ZEROS: Readonly<Record<ValueType, JsonObject>> = {
  string: { const: '' },
  array: { maxItems: 0 },
  integer: { const: 0 },
  boolean: { const: false },
  other: {},
}

function isZero(value: unknown): boolean {
  return (
    value === undefined ||
    value === '' ||
    value === 0 ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  )
}

/** Judges text; a value of another type is not what the check is about. */
function text(value: unknown, holds: (text: string) => boolean): boolean {
  return typeof value !== 'string' || holds(value)
}

/** Characters of a text, as code points. */
function lengthOf(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length - 1; i++) if (text.codePointAt(i)! > 0xffff) length--
  return length
}

/** Length of text (in characters) and lists, value of numbers. */
function size(value: unknown): number {
  if (typeof value === 'string') return lengthOf(value)
  return Array.isArray(value) ? value.length : Number(value)
}
