/** Texts that are hardly expressions: what fuzzing feeds the parser with. */
import fc from 'fast-check'

const words = [
  'true',
  'false',
  'in',
  'activity',
  'kind',
  'approvers',
  'eth',
  'tx',
  'value',
  'wallets',
  'id',
  'all',
  'any',
  'filter',
  'contains',
  'count',
  'time',
  'now',
  'Timestamp',
  'CronSpan',
  'u',
  "'a'",
  "'* * * * *'",
  "'1h'",
  "'UTC'",
  '"a"',
  '1',
  '-7',
  '0x1',
  '&&',
  '||',
  '!',
  '==',
  '!=',
  '<',
  '>=',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '..',
  '.',
  ',',
  ':',
  ' ',
  '\n',
  '\u00a0',
  'é',
  "'",
  '🐿',
] as const

/** Words of the language in any order, with and without space between them. */
export const sentence = fc
  .tuple(fc.array(fc.constantFrom(...words), { maxLength: 25 }), fc.constantFrom('', ' '))
  .map(([parts, between]) => parts.join(between))

/** Any text at all. */
export const anyText = fc.string({ unit: 'binary', maxLength: 40 })

export const policyField = fc.constantFrom('consensus', 'condition', 'time')
