import { type CST, type Document, isMap, isScalar, type Pair, parseDocument, type Scalar, type YAMLMap } from 'yaml'
import type { PolicyField } from '../policy/index.ts'
import { kinds } from '../resources/index.ts'

/** The scalar of an expression in a file, with its policy, its field and its columns. */
export interface PolicyScalar {
  readonly policy: string
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

/** The expressions that are written out under `policies`; an alias is met where its anchor is. */
export function policyScalars(document: Document, text: string): readonly PolicyScalar[] {
  const found: PolicyScalar[] = []
  for (const section of pairsOf(document.contents, 'policies')) {
    for (const policy of pairsOf(section.value)) {
      for (const pair of pairsOf(policy.value)) {
        const field = fieldOf(pair)
        const scalar = pair.value
        if (field === undefined || !isScalar(scalar) || typeof scalar.value !== 'string') continue
        const token = scalar.srcToken
        if (token === undefined || !isScalarToken(token)) continue
        const keyStart = (pair.key as Scalar).range?.[0] ?? 0
        found.push({
          policy: keyText(policy),
          field,
          value: scalar.value,
          token,
          keyColumn: keyStart - (text.lastIndexOf('\n', keyStart - 1) + 1),
          inFlow: [document.contents, section.value, policy.value].some((map) => isMap(map) && map.flow === true),
        })
      }
    }
  }
  return found
}

function pairsOf(node: unknown, key?: string): readonly Pair[] {
  if (!isMap(node)) return []
  const pairs = (node as YAMLMap).items
  return key === undefined ? pairs : pairs.filter((pair) => keyText(pair) === key)
}

function keyText({ key }: Pair): string {
  return isScalar(key) ? String(key.source ?? key.value) : ''
}

function fieldOf(pair: Pair): PolicyField | undefined {
  const { fields } = kinds.policy
  const key = keyText(pair)
  return Object.hasOwn(fields, key) ? fields[key]!.expression : undefined
}

function isScalarToken(token: CST.Token): token is CST.FlowScalar | CST.BlockScalar {
  return token.type === 'block-scalar' || token.type === 'scalar' || token.type.endsWith('-quoted-scalar')
}
