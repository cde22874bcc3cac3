import { type Diagnostic, diagnostic, suggest, toSpanJson } from '../diagnostics/index.ts'
import { type Address, kinds, parseAddress } from '../resources/index.ts'
import type { Draft } from './build.ts'
import { didYouMean } from './check-schema.ts'

/** Checks that every name that is used is defined and stays. */
export function checkUses(drafts: readonly Draft[]): readonly Diagnostic[] {
  const byAddress = new Map(drafts.map((draft) => [draft.resource.address, draft.resource]))
  const goes = (address: Address) => byAddress.get(address)?.tombstone === true
  return drafts.flatMap(({ resource, uses }) =>
    uses.flatMap(({ address, span }) => {
      const { kind, names } = parseAddress(address)!
      const { one, many } = kinds[kind]
      if (!byAddress.has(address)) {
        const known = drafts.filter((draft) => draft.resource.kind === kind).map((draft) => draft.resource.name)
        const help = didYouMean(suggest(names[0]!, known)) ?? listKnown(many, known)
        return [diagnostic('definitions/unknown-name', `no ${one} \`${names[0]}\` is defined`, span, { help })]
      }
      if (goes(address) && !resource.tombstone) {
        const related = [{ message: 'it is to be deleted here', span: byAddress.get(address)!.span! }]
        const message = `${one} \`${names[0]}\` is to be deleted and still used`
        return [
          diagnostic('definitions/deleted-name', message, span, { related, help: 'remove its use first, or keep it' }),
        ]
      }
      return []
    }),
  )
}

function listKnown(many: string, names: readonly string[]): string {
  if (names.length === 0) return `no ${many} are defined`
  const shown = names
    .toSorted()
    .slice(0, 8)
    .map((name) => `\`${name}\``)
  return `defined ${many}: ${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`
}

/** Checks that the old name of a rename is free and claimed once, and that renames lead nowhere back. */
export function checkRenames(drafts: readonly Draft[]): readonly Diagnostic[] {
  const renamed = drafts.filter(({ renamedFromSpan }) => renamedFromSpan)
  return renamed.flatMap((draft) => {
    const { kind, name, renamedFrom } = draft.resource
    const ofKind = drafts.filter(({ resource }) => resource.kind === kind)
    const find = (wanted: string | undefined) => ofKind.find(({ resource }) => resource.name === wanted)?.resource
    const span = draft.renamedFromSpan!
    const seen = new Set<string>()
    for (let at = find(renamedFrom); at; at = find(at.renamedFrom)) {
      if (at.name === name) {
        const message = `\`${name}\` is renamed from \`${renamedFrom}\`, and that in turn from \`${name}\``
        const help = 'rename through a name that is not in use, one apply after the other'
        return [diagnostic('definitions/rename-cycle', message, span, { help })]
      }
      if (seen.has(at.name)) break
      seen.add(at.name)
    }
    const old = find(renamedFrom)
    const rival = renamed.find(
      (other) => other !== draft && other.resource.kind === kind && other.resource.renamedFrom === renamedFrom,
    )
    if (old) {
      const related = [{ message: `\`${renamedFrom}\` is defined here`, span: old.span! }]
      const message = `\`${name}\` is renamed from \`${renamedFrom}\`, which is still defined`
      return [diagnostic('definitions/rename-clash', message, span, { related, help: 'remove the old definition' })]
    }
    if (rival) {
      const related = [{ message: `\`${rival.resource.name}\` claims it here`, span: rival.renamedFromSpan! }]
      const message = `\`${name}\` and \`${rival.resource.name}\` are both renamed from \`${renamedFrom}\``
      return [
        diagnostic('definitions/rename-clash', message, span, {
          related,
          help: 'one thing keeps its identity in one other',
        }),
      ]
    }
    return []
  })
}

/** Checks that no two credentials are one: the API would take the two for one. */
export function checkSharedCredentials(drafts: readonly Draft[]): readonly Diagnostic[] {
  const first = new Map<string, Draft>()
  return drafts.flatMap((draft) => {
    const { address, kind, fields, fieldSpans, tombstone } = draft.resource
    const { credential, identity, one } = kinds[kind]
    if (!credential || tombstone || !fields[credential.field]) return []
    const key = `${kind} ${identity(draft.resource)}`
    const other = first.get(key)
    if (!other) {
      first.set(key, draft)
      return []
    }
    const there = other.resource.fieldSpans[credential.field]!
    const { path, line, column } = toSpanJson(there)
    const message = `\`${address}\` has the ${credential.words} of \`${other.resource.address}\` at ${path}:${line}:${column}`
    const isKey = kind === 'apiKey'
    const related = [{ message: isKey ? 'the same key is here' : `the same ${one} is here`, span: there }]
    const help = isKey
      ? 'make a key pair for each: with a shared key two people are one'
      : 'register one for each: with a shared one two people are one'
    return [diagnostic('definitions/shared-key', message, fieldSpans[credential.field]!, { related, help })]
  })
}
