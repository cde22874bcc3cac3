import { type Diagnostic, diagnostic, toSpanJson } from '../diagnostics/index.ts'
import {
  addressDifference,
  addressesIn,
  difference,
  findLookAlikes,
  indexAddressLookAlikes,
  type ScopedName,
} from '../look-alikes/index.ts'
import { parse, readsOf } from '../policy/index.ts'
import { kinds, scopedNames } from '../resources/index.ts'
import { OWN_WALLET } from './address-book.ts'
import type { Draft } from './build.ts'
import type { WrittenExpression } from './expressions.ts'
import type { WrittenName } from './names.ts'
import { childOf, type MapEntry, textOf } from './tree.ts'

/** A name with its place, and the kind that it names: `wallet`. */
type Named = WrittenName & { readonly what: string }

/** What has addresses of chains in it. */
interface Addressed {
  readonly receivers: readonly MapEntry[]
  readonly assets: readonly MapEntry[]
  readonly expressions: readonly WrittenExpression[]
}

/** Names that look alike: of resources, of the address book and of the assets. Both may be meant, so these are warnings. */
export function checkLookAlikes(
  drafts: readonly Draft[],
  { receivers, assets, expressions }: Addressed,
): readonly Diagnostic[] {
  const resources = drafts.map(({ resource }) => resource).filter(({ tombstone }) => !tombstone)
  const own = scopedNames(resources).map(({ scope, name, of: { kind, span, fieldSpans } }) => {
    const { labelledBy } = kinds[kind].form
    return scoped(scope, { name, span: fieldSpans[labelledBy ?? ''] ?? span, what: kinds[kind].one })
  })
  const named = (entries: readonly MapEntry[], what: string) =>
    entries.map((entry) => scoped(what, { ...written(entry), what }))
  return [
    ...warnings([...own, ...named(receivers, 'receiver'), ...named(assets, 'asset')]),
    ...checkWalletNames(drafts, receivers),
    ...checkAddresses({ receivers, assets, expressions }),
  ]
}

/**
 * Addresses that begin and end alike: of receivers and assets, and those that policies name. One of the two is there to be taken
 * for the other, which a person who reads a change would have to see.
 */
function checkAddresses({ receivers, assets, expressions }: Addressed): readonly Diagnostic[] {
  const inBook = [
    ...receivers.map(({ key, value }) => ({ name: key, what: 'receiver', tree: value })),
    ...assets.map(({ key, value }) => ({ name: key, what: 'asset', tree: childOf(value, 'address') })),
  ].flatMap(({ tree, ...of }) => {
    const address = textOf(tree)
    return tree && address !== undefined ? [{ address, of: { ...of, span: tree.span } }] : []
  })
  const inPolicies = expressions.flatMap(({ address: policy, checked: { text, locate } }) => {
    const written = [...readsOf(parse(text).tree).literals]
    return written.flatMap(addressesIn).map((address) => {
      const at = text.indexOf(address)
      return { address, of: { name: policy, what: 'an address in', span: locate(at, at + address.length) } }
    })
  })
  const known = indexAddressLookAlikes<Named>([])
  return [...inBook, ...inPolicies].flatMap(({ address, of }) => {
    // One that is named once more is told of where it stands first.
    const like = known.has(address) ? undefined : known.find(address)
    known.add({ address, of })
    if (!like) return []
    const owner = `${like.of.what} \`${like.of.name}\`${placeOf(like.of)}`
    const message = `${of.what} \`${of.name}\`: ${addressDifference(address, { address: like.address, of: owner })}`
    const help = 'compare both with their owners, character by character; people compare the ends alone'
    return [
      diagnostic('definitions/look-alike', message, of.span, { severity: 'warning', help, related: related(like.of) }),
    ]
  })
}

/** Sub-organizations, and the organization that holds them. */
export function checkLookAlikeOrganizations(names: readonly WrittenName[]): readonly Diagnostic[] {
  return warnings(names.map((one) => scoped('organization', { ...one, what: 'sub-organization' })))
}

/** A user who pays `treasury` may mean the wallet, and pays the receiver of that name in the address book. */
function checkWalletNames(drafts: readonly Draft[], receivers: readonly MapEntry[]): readonly Diagnostic[] {
  const wallets = drafts.flatMap(({ resource: { kind, name, span } }): readonly Named[] =>
    kind === 'wallet' ? [{ name, span, what: 'wallet' }] : [],
  )
  const byName = new Map(wallets.map((wallet) => [wallet.name, wallet]))
  const book = receivers.map((entry): Named => ({ ...written(entry), what: 'receiver' }))
  const same = book.flatMap((one) =>
    byName.has(one.name) ? [{ one, wallet: byName.get(one.name)!, how: 'is named' }] : [],
  )
  const alike = findLookAlikes([...wallets, ...book].map((one) => scoped('payee', one)))
    .map(({ one: { of: one }, like: { of: wallet } }) => ({ one, wallet, how: 'looks' }))
    .filter(({ one, wallet }) => one.what === 'receiver' && wallet.what === 'wallet' && !byName.has(one.name))
  return [...same, ...alike].map(({ one, wallet, how }) => {
    const message = `receiver \`${one.name}\` ${how} like wallet \`${wallet.name}\`${placeOf(wallet)}, and is another address`
    const help = `rename it; the wallet itself is paid as \`${OWN_WALLET}${wallet.name}\``
    return diagnostic('definitions/look-alike', message, one.span, {
      severity: 'warning',
      help,
      related: related(wallet),
    })
  })
}

function warnings(names: readonly ScopedName<Named>[]): readonly Diagnostic[] {
  return findLookAlikes(names).map(({ one: { of }, like: { of: like } }) => {
    const message = `${of.what} \`${of.name}\` looks like \`${like.name}\`${placeOf(like)}: ${difference(of.name, like.name)}`
    const help = 'rename one, unless both are meant: who approves one may take it for the other'
    return diagnostic('definitions/look-alike', message, of.span, { severity: 'warning', help, related: related(like) })
  })
}

function scoped(scope: string, of: Named): ScopedName<Named> {
  return { scope, name: of.name, of }
}

function written({ key, keySpan }: MapEntry): WrittenName {
  return { name: key, span: keySpan }
}

function placeOf({ span }: WrittenName): string {
  const { path, line, column } = toSpanJson(span)
  return ` at ${path}:${line}:${column}`
}

function related({ name, span }: WrittenName) {
  return [{ message: `\`${name}\` is defined here`, span }]
}
