import { type CST, type Document, isMap, isScalar, type Pair, parseDocument, type Scalar, type YAMLMap } from 'yaml'
import type { PolicyField } from '../policy/index.ts'
import { type ExpressionKind, expressionKinds } from './expression-kinds.ts'

/** The scalar of an expression in a file, with its field and its columns. */
export interface PolicyScalar {
  readonly field: PolicyField
  readonly value: string
  readonly token: CST.FlowScalar | CST.BlockScalar
  /** Columns before its key. */
  readonly keyColumn: number
  /** Whether it stands between `{` and `}`, where no block may. */
  readonly inFlow: boolean
}

/** Parses a file the way definitions are, keeping where everything stands. */
export function parsePolicyFile(text: string): Document.Parsed {
  return parseDocument(text, { keepSourceTokens: true, prettyErrors: false, uniqueKeys: false, version: '1.2' })
}

/** The expressions that are written out in the sections of kinds that have any; an alias is met where its anchor is. */
export function policyScalars(document: Document, text: string): readonly PolicyScalar[] {
  return expressionKinds.flatMap(({ path, fields }) => {
    // Each with the maps that it stands in.
    let found: readonly (readonly [node: unknown, ...within: unknown[]])[] = [[document.contents]]
    for (const key of path) {
      found = found.flatMap(([node, ...within]) =>
        pairsOf(node, key).flatMap(({ value: section }) =>
          pairsOf(section).map(({ value }) => [value, section, node, ...within] as const),
        ),
      )
    }
    return found.flatMap((within) => {
      const inFlow = within.some((map) => isMap(map) && map.flow === true)
      return pairsOf(within[0]).flatMap((pair) => scalarOf(pair, fields, text, inFlow) ?? [])
    })
  })
}

function scalarOf(
  pair: Pair,
  fields: ExpressionKind['fields'],
  text: string,
  inFlow: boolean,
): PolicyScalar | undefined {
  const field = fields.get(keyText(pair))
  const scalar = pair.value
  if (field === undefined || !isScalar(scalar) || typeof scalar.value !== 'string') return undefined
  const token = scalar.srcToken
  if (token === undefined || !isScalarToken(token)) return undefined
  const keyStart = (pair.key as Scalar).range?.[0] ?? 0
  const keyColumn = keyStart - (text.lastIndexOf('\n', keyStart - 1) + 1)
  return { field, value: scalar.value, token, keyColumn, inFlow }
}

function pairsOf(node: unknown, key?: string): readonly Pair[] {
  if (!isMap(node)) return []
  const pairs = (node as YAMLMap).items
  return key === undefined ? pairs : pairs.filter((pair) => keyText(pair) === key)
}

function keyText({ key }: Pair): string {
  return isScalar(key) ? String(key.source ?? key.value) : ''
}

function isScalarToken(token: CST.Token): token is CST.FlowScalar | CST.BlockScalar {
  return token.type === 'block-scalar' || token.type === 'scalar' || token.type.endsWith('-quoted-scalar')
}
