import { type Document, isScalar, type Node, visit } from 'yaml'
import { type Diagnostic, diagnostic, keyPlaces, type Source, spanAt } from '../diagnostics/index.ts'

/** Keys under which people paste what must stay secret. */
export const SECRET_KEY =
  /^(api|wallet|my)?[-_ ]?private[-_ ]?key$|^(mnemonic|seed|seed[-_ ]?phrase|secret|secret[-_ ]?key|pass(word|phrase))$/i

/** The text with the values under such keys made of asterisks, of the same length, so that offsets still fit. */
export function blankSecrets(text: string, document: Document): string {
  let blanked = text
  visit(document, {
    Pair(_, { key, value }) {
      const range = (value as Node | null)?.range
      if (!isScalar(key) || !SECRET_KEY.test(String(key.value)) || !range) return
      const hidden = text.slice(range[0], range[1]).replace(/[^\r\n]/g, '*')
      blanked = blanked.slice(0, range[0]) + hidden + blanked.slice(range[1])
    },
  })
  return blanked
}

/** Key material wherever it stands in a file, comments included. */
export function secretsIn(source: Source): readonly Diagnostic[] {
  return keyPlaces(source.text).map(({ name, start, end }) =>
    diagnostic('definitions/secret', `this is ${name}, which no definition may hold`, spanAt(source, start, end), {
      help: 'remove it, also from the history of this file, and make a new key: this one is no secret any more',
    }),
  )
}
