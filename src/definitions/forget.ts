import { type Diagnostic, diagnostic, suggest } from '../diagnostics/index.ts'
import { type Address, formatAddress, KINDS, parseAddress } from '../resources/index.ts'
import type { Draft } from './build.ts'
import { didYouMean } from './check-schema.ts'
import { childOf, type Tree, textOf } from './tree.ts'

/** The addresses under every file's `forget`: what they name is handed back, and so must not be defined. */
export function readForget(
  files: readonly Tree[],
  drafts: readonly Draft[],
): { readonly forget: readonly Address[]; readonly diagnostics: readonly Diagnostic[] } {
  const defined = new Map(drafts.map(({ resource }) => [resource.address, resource]))
  const diagnostics: Diagnostic[] = []
  const forget = new Set<Address>()
  for (const file of files) {
    const list = childOf(file, 'forget')
    for (const item of list?.kind === 'list' ? list.items : []) {
      const text = textOf(item)
      if (text === undefined) continue
      const parsed = parseAddress(text)
      if (!parsed) {
        const message = `expected an address such as \`user.bob\`, got \`${text}\``
        diagnostics.push(diagnostic('definitions/wrong-value', message, item.span, { help: didYouMean(near(text)) }))
        continue
      }
      const address = formatAddress(parsed.kind, ...parsed.names)
      const resource = defined.get(address)
      if (resource) {
        const related = resource.span ? [{ message: 'it is defined here', span: resource.span }] : []
        const message = `\`${address}\` is defined and to be forgotten`
        const help = 'remove one of the two: what is forgotten stays live and is managed no longer'
        diagnostics.push(diagnostic('definitions/forgotten-name', message, item.span, { related, help }))
      }
      forget.add(address)
    }
  }
  return { forget: [...forget].sort(), diagnostics }
}

/** Addresses with a kind that the text may mean. */
function near(text: string): readonly string[] {
  const head = /^[A-Za-z0-9]*/.exec(text)![0]
  const rest = text.slice(head.length)
  return suggest(
    head,
    KINDS.filter((kind) => parseAddress(kind + rest)),
  ).map((kind) => kind + rest)
}
