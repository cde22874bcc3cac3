import { type Diagnostic, diagnostic, type Span } from '../diagnostics/index.ts'
import {
  type Address,
  type FieldRow,
  formatAddress,
  KINDS,
  type KindName,
  kinds,
  type Resource,
  type ResourceKind,
  type Value,
} from '../resources/index.ts'
import { fieldValue, type NameUse } from './field-value.ts'
import type { NamedFiles } from './files.ts'
import { checkName, checkTaken, type WrittenName } from './names.ts'
import { childOf, entryOf, type MapEntry, type MapTree, type ScalarTree, type Tree, textOf } from './tree.ts'

/** A resource as definitions have it, with what later checks look at. */
export interface Draft {
  readonly resource: Resource & { readonly span: Span; readonly fieldSpans: Readonly<Record<string, Span>> }
  /** Names it refers to, with the place of each. */
  readonly uses: readonly NameUse[]
  readonly expressions: Readonly<Record<string, ScalarTree>>
  readonly renamedFromSpan?: Span
  /** Each written field, for places inside it. */
  readonly trees: Readonly<Record<string, Tree>>
}

/**
 * Builds the resources of all files, which are given sorted by path. What has the wrong shape is reported by the schema's
 * check and left out here, so that the rest can be looked at as well.
 */
export function buildResources(
  files: readonly Tree[],
  texts: NamedFiles = new Map(),
): {
  readonly drafts: readonly Draft[]
  readonly diagnostics: readonly Diagnostic[]
} {
  const builder = new Builder(texts)
  for (const kind of KINDS.map((name) => kinds[name]).filter(({ parent }) => !parent)) {
    const sections = files.flatMap((file) => entryOf(file, kind.form.key) ?? [])
    builder.addSections(kind, sections, undefined)
  }
  return builder
}

/** The section a resource stands in, for one parent. */
interface Parent {
  /** The names in its address. */
  readonly names: readonly string[]
  readonly address: Address
  readonly fields: Readonly<Record<string, Value>>
}

class Builder {
  readonly drafts: Draft[] = []
  readonly diagnostics: Diagnostic[] = []
  readonly #texts: NamedFiles

  constructor(texts: NamedFiles) {
    this.#texts = texts
  }

  addSections(kind: ResourceKind, sections: readonly MapEntry[], parent: Parent | undefined): void {
    const taken = new Map<string, WrittenName>()
    for (const section of sections) {
      for (const { written, body, flag } of this.#entries(kind, section)) {
        const name = kind.form.nameOf?.(written.name) ?? written.name
        const here = { name, span: written.span }
        const named = kind.form.shape === 'map' || kind.form.shape === 'values'
        const fault =
          (named ? checkName(written) : undefined) ??
          checkTaken(here, taken, named || kind.form.shape === 'list' ? `${kind.one} \`${name}\`` : `the ${kind.one}`)
        if (fault) this.diagnostics.push(fault)
        else this.#add(kind, here, body, parent, flag)
      }
    }
  }

  /** The resources of one section: name, fields, and whether a `values` section takes it away. */
  #entries(
    kind: ResourceKind,
    { keySpan, value }: MapEntry,
  ): readonly { written: WrittenName; body: MapTree; flag?: 'tombstone' }[] {
    const { shape } = kind.form
    const single = { name: kind.kind, span: keySpan }
    switch (shape) {
      case 'value':
        return [{ written: single, body: asFields(kind, keySpan, value) }]
      case 'one':
        return value.kind === 'map' ? [{ written: single, body: value }] : []
      case 'list':
        if (value.kind !== 'list') return []
        return value.items.flatMap((body) => {
          if (body.kind !== 'map') return []
          const fields = this.#fields(kind, body).values
          const complete = Object.entries(kind.fields).every(
            ([name, row]) => !row.required || Object.hasOwn(fields, name),
          )
          if (!complete) return []
          const nameless: Resource = { address: kind.kind, kind: kind.kind, name: '', fields }
          return [{ written: { name: kind.identity(nameless), span: body.span }, body }]
        })
      case 'values':
        return (value.kind === 'map' ? value.entries : []).map((entry) => {
          const off = entry.value.kind === 'scalar' && entry.value.value === false
          const written = { name: entry.key, span: entry.keySpan }
          return {
            written,
            body: asFields(kind, entry.keySpan, entry.value),
            ...(off ? { flag: 'tombstone' as const } : {}),
          }
        })
      case 'map':
        return (value.kind === 'map' ? value.entries : []).flatMap((entry) => {
          const body = entry.value.kind === 'map' ? entry.value : emptyMap(entry)
          return body ? [{ written: { name: entry.key, span: entry.keySpan }, body }] : []
        })
      case 'folder':
        return []
      default:
        return shape satisfies never
    }
  }

  #add(
    kind: ResourceKind,
    { name, span }: WrittenName,
    body: MapTree,
    parent: Parent | undefined,
    flag?: 'tombstone',
  ): void {
    const { values, spans, uses, expressions, trees } = this.#fields(kind, body, true)
    const names = [
      ...(parent?.names ?? []),
      ...(kind.form.shape === 'one' || kind.form.shape === 'value' ? [] : [name]),
    ]
    const address = formatAddress(kind.kind, ...names)
    const removed = childOf(body, 'delete')
    const tombstone = flag === 'tombstone' || (removed?.kind === 'scalar' && removed.value === true)
    const renamedFrom = entryOf(body, 'renamedFrom')
    const formerName = textOf(renamedFrom?.value)
    const fields = inRowOrder(kind, {
      ...keyField(kind, name),
      ...inheritedFields(kind, parent),
      ...(tombstone ? {} : absentFields(kind, body)),
      ...values,
    })
    this.drafts.push({
      resource: {
        address,
        kind: kind.kind,
        name,
        ...(parent ? { parent: parent.address } : {}),
        fields,
        ...(tombstone ? { tombstone } : {}),
        ...(formerName === undefined ? {} : { renamedFrom: formerName }),
        span,
        fieldSpans: spans,
      },
      uses,
      expressions,
      trees,
      ...(formerName === undefined ? {} : { renamedFromSpan: renamedFrom!.value.span }),
    })
    // What a tombstone holds goes with it.
    if (tombstone) return
    const self = { names, address, fields }
    for (const child of KINDS.map((one) => kinds[one]).filter((one) => one.parent === kind.kind)) {
      const section = entryOf(body, child.form.key)
      if (section) this.addSections(child, [section], self)
    }
  }

  #fields(kind: ResourceKind, body: MapTree, report = false) {
    const values: Record<string, Value> = {}
    const spans: Record<string, Span> = {}
    const uses: NameUse[] = []
    const expressions: Record<string, ScalarTree> = {}
    const trees: Record<string, Tree> = {}
    for (const [name, row] of Object.entries(kind.fields)) {
      const tree = row.schema ? childOf(body, name) : undefined
      if (!tree) continue
      const found = fieldValue(row, tree)
      if (report) this.diagnostics.push(...found.diagnostics)
      spans[name] = tree.span
      trees[name] = tree
      const text = row.fileOf !== undefined && tree.kind === 'scalar' ? this.#texts.get(tree) : undefined
      if (report && row.fileOf !== undefined && trees[row.fileOf]) {
        const message = `\`${name}\` and \`${row.fileOf}\` both say what it is`
        this.diagnostics.push(
          diagnostic('definitions/duplicate-key', message, tree.span, { help: 'remove one of them' }),
        )
      }
      if (text !== undefined) values[row.fileOf!] = kind.fields[row.fileOf!]!.normal?.(text) ?? text
      uses.push(...found.uses)
      if (found.expression) expressions[name] = found.expression
      if (found.value !== undefined) values[name] = row.normal ? row.normal(found.value) : found.value
    }
    return { values, spans, uses, expressions, trees }
  }
}

/** The only field of a kind that is written as a bare value; `true` and `false` are not values of it. */
function asFields(kind: ResourceKind, keySpan: Span, value: Tree): MapTree {
  const field = Object.keys(kind.fields)[0]!
  const flag = kind.form.shape === 'values' && value.kind === 'scalar' && typeof value.value === 'boolean'
  return { kind: 'map', span: value.span, entries: flag ? [] : [{ key: field, keySpan, value }] }
}

/** `treasury:` with nothing after it is a resource with no fields. */
function emptyMap({ value, keySpan }: MapEntry): MapTree | undefined {
  return value.kind === 'scalar' && value.value === null ? { kind: 'map', span: keySpan, entries: [] } : undefined
}

function absentFields(kind: ResourceKind, body: MapTree): Readonly<Record<string, Value>> {
  const rows: readonly [string, FieldRow][] = Object.entries(kind.fields)
  return Object.fromEntries(
    rows.flatMap(([name, row]) => (row.absent !== undefined && !entryOf(body, name) ? [[name, row.absent]] : [])),
  )
}

/** Fields that the holder says. */
function inheritedFields(kind: ResourceKind, parent: Parent | undefined): Readonly<Record<string, Value>> {
  const names = Object.keys(kind.fields).filter((name) => kind.fields[name]!.inherited)
  return Object.fromEntries(
    names.flatMap((name) => (parent?.fields[name] === undefined ? [] : [[name, parent.fields[name]]])),
  )
}

/** The field `name` of a kind whose name is the key under which a definition stands. */
function keyField(kind: ResourceKind, name: string): Readonly<Record<string, Value>> {
  return kind.fields['name'] && !kind.fields['name'].schema ? { name } : {}
}

/** The fields in the order of the kind's rows. */
function inRowOrder(kind: ResourceKind, fields: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(kind.fields).flatMap(([field]) => (fields[field] === undefined ? [] : [[field, fields[field]]])),
  )
}

/** The kinds that `manage:` names in any file. */
export function managedKinds(files: readonly Tree[]): ReadonlySet<KindName> {
  const keys = new Set(
    files.flatMap((file) => {
      const manage = childOf(file, 'manage')
      return manage?.kind === 'map'
        ? manage.entries.filter(({ value }) => textOf(value) === 'all').map(({ key }) => key)
        : []
    }),
  )
  return new Set(KINDS.filter((kind) => keys.has(kinds[kind].form.key)))
}

/** The problems of single fields, as the kind checks them; a tombstone has no fields to check. */
export function checkDraft({ resource, trees }: Draft): readonly Diagnostic[] {
  const problems = kinds[resource.kind].check?.(resource) ?? []
  return problems.flatMap(({ field, at, code, message, help, severity, isHidden, missing = [] }) => {
    if (missing.length > 0 && (resource.tombstone || missing.some((name) => trees[name]))) return []
    const inside = field === undefined ? undefined : placeIn(trees[field], at ?? [])
    return [
      diagnostic(code, message, inside ?? resource.span, {
        help,
        ...(severity ? { severity } : {}),
        ...(isHidden ? { isHidden } : {}),
      }),
    ]
  })
}

/** Labels that stand beside a name: of a wallet account, and of the organization itself. */
export function checkLabel({ fields, kind, fieldSpans }: Draft['resource']): readonly Diagnostic[] {
  const { name } = fields
  // An empty one is the schema's to report.
  const isLabel = kinds[kind].fields['name']?.schema && typeof name === 'string' && name !== '' && fieldSpans['name']
  return isLabel ? [checkName({ name, span: fieldSpans['name']! }) ?? []].flat() : []
}

/** The place of a part of a field, as far as the definition has it. */
function placeIn(tree: Tree | undefined, at: readonly (string | number)[]): Span | undefined {
  let part = tree
  for (const key of at) {
    const inner: Tree | undefined =
      part?.kind === 'list' && typeof key === 'number' ? part.items[key] : childOf(part, String(key))
    if (!inner) break
    part = inner
  }
  return part?.span
}
