/**
 * Values in the texts of policies. A value from outside is data: whatever it is, it must not change what the policy is made of.
 * Between quotes it may be any text without a quote, for the language has no escape for one; elsewhere only a whole number,
 * `true` or `false`.
 */
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { expressionKinds } from './expression-kinds.ts'
import type { Piece } from './template.ts'
import { childOf, type ScalarTree, type Tree } from './tree.ts'

/** The scalars of a file that are expressions. */
export function expressionsIn(file: Tree): ReadonlySet<Tree> {
  return new Set(
    expressionKinds.flatMap(({ path, fields }) => {
      let found: readonly Tree[] = [file]
      for (const key of path) found = found.flatMap((tree) => valuesOf(childOf(tree, key)))
      return found.flatMap((tree) => [...fields.keys()].flatMap((name) => childOf(tree, name) ?? []))
    }),
  )
}

function valuesOf(tree: Tree | undefined): readonly Tree[] {
  return tree?.kind === 'map' ? tree.entries.map(({ value }) => value) : []
}

/** The pieces that stand between the quotes of a text of the policy language. */
export function piecesInQuotes(pieces: readonly Piece[]): ReadonlySet<Piece> {
  let quotes = 0
  return new Set(
    pieces.filter((piece) => {
      if (piece.kind === 'text') quotes += piece.text.split("'").length - 1
      return quotes % 2 === 1
    }),
  )
}

/** Why a value may not stand where it is put in an expression; it is never shown. */
export function misplacedValue(
  piece: Extract<Piece, { readonly kind: 'env' | 'var' }>,
  value: string,
  { scalar, isQuoted }: { readonly scalar: ScalarTree; readonly isQuoted: boolean },
): Diagnostic | undefined {
  const fits = isQuoted ? /^[^'\p{Cc}]*$/u.test(value) : /^(?:[0-9]{1,78}|true|false)$/.test(value)
  if (fits) return undefined
  const message = isQuoted
    ? `the value of \`${piece.name}\` cannot stand in a text of a policy: it holds a quote or a control character`
    : `the value of \`${piece.name}\` cannot stand here: outside of quotes a value is a whole number, \`true\` or \`false\``
  const help = isQuoted ? 'give a value without one' : `put quotes around it: \`'\${${piece.kind}.${piece.name}}'\``
  return diagnostic('definitions/misplaced-value', message, scalar.locate(piece.start, piece.end), { help })
}
