import { isScalar, type Node, parseDocument, visit } from 'yaml'

/**
 * Puts a new public key in the place of an old one wherever definitions say `publicKey`, and leaves every other byte alone:
 * comments, order and quotes stay. Gives the same text where the old one is not in it.
 */
export function renewPublicKey(text: string, { from, to }: { readonly from: string; readonly to: string }): string {
  const document = parseDocument(text, { uniqueKeys: false, version: '1.2' })
  const starts: number[] = []
  visit(document, {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || key.value !== 'publicKey' || !isScalar(value)) return
      const { range } = value as Node
      const at = range ? text.slice(range[0], range[1]).toLowerCase().indexOf(from.toLowerCase()) : -1
      if (String(value.value).toLowerCase() === from.toLowerCase() && at >= 0) starts.push(range![0] + at)
    },
  })
  return starts
    .toSorted((a, b) => b - a)
    .reduce((renewed, start) => renewed.slice(0, start) + to + renewed.slice(start + from.length), text)
}
