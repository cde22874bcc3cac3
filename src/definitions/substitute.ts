import { type Diagnostic, diagnostic, suggest } from '../diagnostics/index.ts'
import { didYouMean } from './check-schema.ts'
import { expressionsIn, misplacedValue, piecesInQuotes } from './policy-values.ts'
import { type Piece, parseTemplate } from './template.ts'
import { mapScalars, type ScalarTree, type Tree } from './tree.ts'
import { idOf, isSecretName, secretVariable, undeclaredVariable } from './variables.ts'

/** The values from outside. */
export interface OutsideValues {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly vars: Readonly<Record<string, string>>
  /** The environment variables that may be referred to. @default those of `id: ${env.NAME}` */
  readonly declared?: ReadonlySet<string>
}

/**
 * Puts the values of `${env.X}` and `${var.x}` into every text of a tree. References to resources stay as they are, and
 * so does everything's place: the new text locates each of its characters where it came from in the file.
 */
export function substitute(
  tree: Tree,
  outside: OutsideValues,
): { readonly tree: Tree; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const id = idOf(tree)
  const expressions = expressionsIn(tree)
  const changed = mapScalars(tree, (scalar) => {
    if (typeof scalar.value !== 'string' || !scalar.value.includes('${')) return scalar
    const pieces = parseTemplate(scalar.value)
    if (!pieces.some(({ kind }) => kind === 'env' || kind === 'var' || kind === 'bad')) return scalar
    const inQuotes = expressions.has(scalar) ? piecesInQuotes(pieces) : undefined
    const misplaced = (piece: Piece) => {
      if (inQuotes === undefined || (piece.kind !== 'env' && piece.kind !== 'var') || isMissing(piece, outside))
        return undefined
      const value = (piece.kind === 'env' ? outside.env : outside.vars)[piece.name]!
      return misplacedValue(piece, value, { scalar, isQuoted: inQuotes.has(piece) })
    }
    const refused = (piece: Piece) =>
      refusal(piece, scalar, scalar === id ? undefined : (outside.declared ?? new Set())) ?? misplaced(piece)
    const parts = pieces.map((piece): Part => {
      const fault = refused(piece) ?? problem(piece, scalar, outside)
      if (fault) diagnostics.push(fault)
      const text = refused(piece) ? undefined : outsideValue(piece, outside)
      return text === undefined
        ? {
            text: scalar.value!.toString().slice(piece.start, piece.end),
            start: piece.start,
            end: piece.end,
            whole: false,
          }
        : { text, start: piece.start, end: piece.end, whole: true }
    })
    const missing = pieces.some((piece) => refused(piece) || isMissing(piece, outside))
    return { ...join(scalar, parts), ...(missing ? { missing } : {}) }
  })
  return { tree: changed, diagnostics }
}

/** Why a variable of the environment may not be looked at; `declared` is undefined where any may but that of a secret. */
function refusal(piece: Piece, scalar: ScalarTree, declared: ReadonlySet<string> | undefined): Diagnostic | undefined {
  if (piece.kind !== 'env') return undefined
  const span = scalar.locate(piece.start, piece.end)
  if (isSecretName(piece.name)) return secretVariable(piece.name, span)
  return declared === undefined || declared.has(piece.name) ? undefined : undeclaredVariable(piece.name, span, declared)
}

function isMissing(piece: Piece, { env, vars }: OutsideValues): boolean {
  if (piece.kind === 'env') return !Object.hasOwn(env, piece.name) || env[piece.name] === undefined
  return piece.kind === 'bad' || (piece.kind === 'var' && !Object.hasOwn(vars, piece.name))
}

/** A stretch of the new text and where it came from; `whole` when its characters have no places of their own. */
interface Part {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly whole: boolean
}

/** A value from outside is text: a `${` in it stands for itself. */
function outsideValue(piece: Piece, { env, vars }: OutsideValues): string | undefined {
  const table = piece.kind === 'env' ? env : piece.kind === 'var' ? vars : undefined
  if (!table || !('name' in piece)) return undefined
  const value = Object.hasOwn(table, piece.name) ? table[piece.name] : undefined
  return (value ?? '').replaceAll('${', () => '$${')
}

function problem(piece: Piece, scalar: ScalarTree, outside: OutsideValues): Diagnostic | undefined {
  const { vars } = outside
  const span = () => scalar.locate(piece.start, piece.end)
  if (piece.kind === 'bad') return diagnostic('definitions/bad-reference', piece.message, span(), { help: piece.help })
  if (!isMissing(piece, outside)) return undefined
  if (piece.kind === 'env') {
    const message = `environment variable \`${piece.name}\` is not set`
    // Names of other variables are not said: what else the environment holds is nobody's business here.
    return diagnostic('definitions/missing-env', message, span(), { help: `set \`${piece.name}\` and run again` })
  }
  if (piece.kind === 'var') {
    const near = didYouMean(suggest(piece.name, Object.keys(vars), 3))
    const help = near ?? `give it with \`--var ${piece.name}=…\`, or a default under \`vars:\``
    return diagnostic('definitions/missing-var', `variable \`${piece.name}\` has no value`, span(), { help })
  }
  return undefined
}

function join(scalar: ScalarTree, parts: readonly Part[]): ScalarTree {
  const value = parts.map(({ text }) => text).join('')
  const back = (offset: number, edge: 'start' | 'end'): number => {
    let before = 0
    for (const { text, start, end, whole } of parts) {
      const inside = edge === 'start' ? offset < before + text.length : offset <= before + text.length
      if (inside) return whole ? (edge === 'start' ? start : end) : start + (offset - before)
      before += text.length
    }
    return parts.at(-1)?.end ?? 0
  }
  return {
    ...scalar,
    value,
    locate: (start, end) => scalar.locate(back(start, 'start'), end > start ? back(end, 'end') : back(start, 'start')),
  }
}
