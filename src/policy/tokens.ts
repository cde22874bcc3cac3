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

const allPunctuation: ReadonlySet<string> = new Set(punctuation)

export function isPunctuation(text: string): text is Punctuation {
  return allPunctuation.has(text)
}

/** Words that cannot name a variable or a field (U-binder). */
const reservedWords = ['true', 'false', 'in'] as const
type ReservedWord = (typeof reservedWords)[number]

const allReservedWords: ReadonlySet<string> = new Set(reservedWords)

export function isReserved(text: string): text is ReservedWord {
  return allReservedWords.has(text)
}

export type Token =
  | { readonly kind: 'int'; readonly value: bigint; readonly start: number; readonly end: number }
  | { readonly kind: 'string'; readonly value: string; readonly start: number; readonly end: number }
  | { readonly kind: 'identifier'; readonly name: string; readonly start: number; readonly end: number }
  | {
      readonly kind: 'symbol'
      readonly symbol: Punctuation | ReservedWord
      readonly start: number
      readonly end: number
    }
  | { readonly kind: 'end'; readonly start: number; readonly end: number }
