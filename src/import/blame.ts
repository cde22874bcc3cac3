import { isMap, isScalar, type Node, type Pair, parseDocument } from 'yaml'
import type { Span } from '../diagnostics/index.ts'
import { type Address, KINDS, kinds, type Resource, type ResourceKind } from '../resources/index.ts'
import type { Description } from './describe.ts'

/** The resource that is defined at a place of a text: the innermost one with a name. */
export function blame({ start }: Span, text: string, descriptions: readonly Description[]): Resource | undefined {
  const document = parseDocument(text, { uniqueKeys: false })
  const top = KINDS.map((kind) => kinds[kind]).filter(({ parent }) => !parent)
  return within(document.contents, top, undefined)

  function within(body: unknown, rows: readonly ResourceKind[], parent: Address | undefined): Resource | undefined {
    const section = pairAt(body, start)
    const row = rows.find(({ form }) => form.key === keyText(section))
    if (!row) return undefined
    const { shape } = row.form
    const entry = shape === 'map' || shape === 'values' ? pairAt(section!.value, start) : undefined
    const mine = descriptions.filter(({ kind, parent: holder }) => kind === row && holder === parent)
    const found = shape === 'one' || shape === 'value' ? mine[0] : mine.find(({ key }) => key === keyText(entry))
    if (!found) return undefined
    const children = KINDS.map((kind) => kinds[kind]).filter((one) => one.parent === row.kind)
    const inner = within(entry ? entry.value : section!.value, children, found.address)
    return inner ?? found.live
  }
}

/** The pair whose key or value a place is in. */
function pairAt(body: unknown, offset: number): Pair | undefined {
  if (!isMap(body)) return undefined
  return body.items.findLast((pair) => ((pair.key as Node).range?.[0] ?? Number.POSITIVE_INFINITY) <= offset)
}

function keyText(pair: Pair | undefined): string | undefined {
  return pair && isScalar(pair.key) ? String(pair.key.source ?? pair.key.value) : undefined
}
