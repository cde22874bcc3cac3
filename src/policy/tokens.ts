/**
 * The tokens of the language (docs/protocol/policies.md#grammar).
 *
 * `!` and parentheses are missing from the published operator table but used in published samples (U-not, U-parens).
 */
export const punctuation = [
  '&&',
  '||',
  '==',
  '!=',
  '<=',
  '>=',
  '..',
  '<',
  '>',
  '!',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '.',
  ',',
  ':',
] as const
export type Punctuation = (typeof punctuation)[number]

/** Words that cannot name a variable or a field (U-binder). */
export const reservedWords = ['true', 'false', 'in'] as const

export type Token =
  | { readonly kind: 'int'; readonly value: bigint; readonly start: number; readonly end: number }
  | { readonly kind: 'string'; readonly value: string; readonly start: number; readonly end: number }
  | { readonly kind: 'identifier'; readonly name: string; readonly start: number; readonly end: number }
  | {
      readonly kind: 'symbol'
      readonly symbol: Punctuation | (typeof reservedWords)[number]
      readonly start: number
      readonly end: number
    }
  | { readonly kind: 'end'; readonly start: number; readonly end: number }
