import { type Diagnostic, diagnostic, toSpanJson } from '../diagnostics/index.ts'
import { checkName } from './names.ts'
import { entryOf, type MapEntry, type Tree, textOf } from './tree.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Which organization the files describe: `organization` and, but for a nested one, `id`, each once in one of them. */
export function readOrganization(
  files: readonly Tree[],
  { isNested = false }: { readonly isNested?: boolean } = {},
): {
  readonly name: string | undefined
  readonly id: string | undefined
  readonly diagnostics: readonly Diagnostic[]
} {
  const diagnostics: Diagnostic[] = []
  const name = single('organization', files, diagnostics)
  if (isNested) return { name: textOf(name?.value), id: undefined, diagnostics }
  const written = textOf(name?.value)
  // An empty one is the schema's to report.
  const wrong = written ? checkName({ name: written, span: name!.value.span }) : undefined
  if (wrong) diagnostics.push(wrong)
  const id = single('id', files, diagnostics)
  const idText = textOf(id?.value)
  if (idText !== undefined && !UUID.test(idText) && !missing(id)) {
    const span = id!.value.span
    // The value of a variable is not repeated: it may be another than was meant.
    const isOutside = span.source.text.slice(span.start, span.end).includes('${')
    const message = `expected \`id\` to be a UUID, got ${isOutside ? `${idText.length} characters that are none` : `\`${idText}\``}`
    const help = 'write the id that the API shows, or `${env.…}` with a variable that holds it'
    diagnostics.push(diagnostic('definitions/bad-id', message, id!.value.span, { help }))
  }
  return { name: written, id: idText?.toLowerCase(), diagnostics }
}

/** The one entry of a key over all files; a second one is reported, and so is none. */
function single(key: 'organization' | 'id', files: readonly Tree[], diagnostics: Diagnostic[]): MapEntry | undefined {
  const first = onlyEntry(key, files, diagnostics)
  if (!first && files[0]) {
    const { source } = files[0].span
    const help =
      key === 'organization'
        ? 'add `organization: <name>` to one of the files'
        : 'add `id: ${env.…}` to one of the files'
    diagnostics.push(
      diagnostic('definitions/missing-key', `no file has \`${key}:\``, { source, start: 0, end: 0 }, { help }),
    )
  }
  return first
}

/** The entry of a key that may stand in one of the files; a second one is reported. */
export function onlyEntry(key: string, files: readonly Tree[], diagnostics: Diagnostic[]): MapEntry | undefined {
  const [first, ...others] = files.flatMap((file) => entryOf(file, key) ?? [])
  for (const other of others) diagnostics.push(definedTwice(key, first!, other))
  return first
}

export function definedTwice(key: string, first: MapEntry, other: MapEntry): Diagnostic {
  const { path, line, column } = toSpanJson(first.keySpan)
  const related = [{ message: `\`${key}\` is here first`, span: first.keySpan }]
  const message = `\`${key}\` is already defined at ${path}:${line}:${column}`
  return diagnostic('definitions/defined-twice', message, other.keySpan, { related, help: 'remove one of the two' })
}

function missing(entry: MapEntry | undefined): boolean {
  return entry?.value.kind === 'scalar' && entry.value.missing === true
}

/** Defaults of variables from every file's `vars`; one that is written twice is reported. */
export function readVars(files: readonly Tree[]): {
  readonly vars: Readonly<Record<string, string>>
  readonly diagnostics: readonly Diagnostic[]
} {
  const diagnostics: Diagnostic[] = []
  const entries = new Map<string, MapEntry>()
  for (const file of files) {
    const section = entryOf(file, 'vars')?.value
    for (const entry of section?.kind === 'map' ? section.entries : []) {
      const first = entries.get(entry.key)
      if (first) diagnostics.push(definedTwice(entry.key, first, entry))
      else entries.set(entry.key, entry)
    }
  }
  const texts = [...entries].flatMap(([name, { value }]): [string, string][] => {
    const text = textOf(value)
    return text === undefined ? [] : [[name, text]]
  })
  return { vars: Object.fromEntries(texts), diagnostics }
}
