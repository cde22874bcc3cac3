/**
 * One product word has two spellings, `spark` and `layer2` (docs/protocol/README.md#two-spellings-of-one-word). Inside
 * it is always `spark`; this file is the only place that knows the other. What was asked in one spelling is answered in it.
 */
import { activityRows } from './generated/catalogue.gen.ts'
import { isJsonObject, type Json } from './json.ts'

export type Spelling = 'spark' | 'layer2'

const otherWords = { LAYER2: 'SPARK', Layer2: 'Spark', layer2: 'spark' } as const

/**
 * Every identifier with the word in it, as it is written inside. Only these are respelled, so that a name or a policy
 * that a person wrote comes back as it was sent.
 */
const identifiers: ReadonlySet<string> = new Set([
  ...activityRows.flatMap(({ type, family, operation, path, intentKey, resultKey }) =>
    family.startsWith('SPARK_') ? [type, family, operation, path, intentKey, ...(resultKey ? [resultKey] : [])] : [],
  ),
  'ADDRESS_FORMAT_SPARK_MAINNET',
  'ADDRESS_FORMAT_SPARK_REGTEST',
])

/** Turns an identifier into the spelling used inside, and says which one it came in. */
export function fold(text: string): { readonly text: string; readonly spelling: Spelling } {
  // Nearly no text has the word, and every request asks this of several.
  if (!text.includes('ayer2') && !text.includes('AYER2')) return { text, spelling: 'spark' }
  const folded = text.replace(/LAYER2|Layer2|layer2/g, (word) => otherWords[word as keyof typeof otherWords])
  return folded !== text && identifiers.has(folded) ? { text: folded, spelling: 'layer2' } : { text, spelling: 'spark' }
}

/** Writes an identifier in a spelling; any other text comes back as it is. */
export function respellText(text: string, spelling: Spelling): string {
  const inside = fold(text).text
  if (spelling === 'spark' || !identifiers.has(inside)) return inside
  return inside.replace('SPARK', 'LAYER2').replace('Spark', 'Layer2').replace('spark', 'layer2')
}

/** Writes every identifier in a JSON value, member names and texts, in a spelling. */
export function respell(value: Json, spelling: Spelling): Json {
  if (typeof value === 'string') return respellText(value, spelling)
  if (Array.isArray(value)) return value.map((item) => respell(item, spelling))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [respellText(name, spelling), respell(member, spelling)]),
  )
}
