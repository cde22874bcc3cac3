/** Writes the live state into definitions: new files whole, old files where they differ. */
import { join } from 'node:path'
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { createSource, type Diagnostic, diagnostic, spanAt } from '../diagnostics/index.ts'
import {
  type Address,
  KINDS,
  kinds,
  type Resource,
  referencesOf,
  resolveValue,
  sameValue,
  type Value,
} from '../resources/index.ts'
import { type Described, type Description, liveKey } from './describe.ts'
import type { ImportInput } from './input.ts'
import { FIRST_FILE, fileOf, HEAD } from './layout.ts'
import { TextEdits } from './text-edits.ts'
import { blockPair } from './write-yaml.ts'

/** Where a thing is written: its pair or list element, and what holds that. */
interface Spot {
  readonly file: string
  readonly map?: YAMLMap
  readonly pair?: Pair
  readonly seq?: YAMLSeq
  readonly item?: Node
}

export function writeDefinitions(
  input: ImportInput,
  described: Described,
  declared: ReadonlyMap<string, Resource>,
): { readonly files: ReadonlyMap<string, string>; readonly diagnostics: readonly Diagnostic[] } {
  return new Writer(input, described, declared).write()
}

class Writer {
  readonly #input: ImportInput
  readonly #described: Described
  readonly #declared: ReadonlyMap<string, Resource>
  readonly #edits = new Map<string, TextEdits>()
  readonly #roots = new Map<string, unknown>()
  /** Nodes by file and place: what a span of the loaded definitions leads to. */
  readonly #spots = new Map<string, Spot>()
  readonly #diagnostics: Diagnostic[] = []
  readonly #added = new Map<string, Description[]>()

  constructor(input: ImportInput, described: Described, declared: ReadonlyMap<string, Resource>) {
    this.#input = input
    this.#described = described
    this.#declared = declared
    for (const { path, text } of input.loaded?.sources ?? []) this.#read(path, text)
  }

  write(): { readonly files: ReadonlyMap<string, string>; readonly diagnostics: readonly Diagnostic[] } {
    const { descriptions } = this.#described
    for (const description of descriptions) {
      const old = this.#declared.get(liveKey(description.live))
      if (old) this.#update(description, old)
      else if (description.parent === undefined || this.#isDeclared(description.parent)) this.#collect(description)
    }
    this.#addAll()
    this.#removeGone()
    const files = new Map(
      [...this.#edits].filter(([, edits]) => !edits.isEmpty).map(([path, edits]) => [path, edits.apply()]),
    )
    return { files: new Map([...files, ...this.#newFiles()]), diagnostics: this.#diagnostics }
  }

  #read(path: string, text: string): void {
    const document = parseDocument(text, { uniqueKeys: false, version: '1.2' })
    this.#edits.set(path, new TextEdits(text))
    this.#roots.set(path, document.contents)
    visit(document, {
      Pair: (_, pair, ancestors) => {
        const map = ancestors.at(-1)
        const start = (pair.key as Node | null)?.range?.[0]
        if (isMap(map) && start !== undefined) this.#spots.set(`${path}:${start}`, { file: path, map, pair })
      },
      Node: (_, node, ancestors) => {
        const seq = ancestors.at(-1)
        if (isSeq(seq) && node.range) this.#spots.set(`${path}:${node.range[0]}`, { file: path, seq, item: node })
      },
    })
  }

  #spotOf({ span }: Resource): Spot | undefined {
    return span && this.#spots.get(`${span.source.path}:${span.start}`)
  }

  /** The fields and what else stands under a name; for what is written as a bare value, nothing. */
  #bodyOf(spot: Spot): unknown {
    return spot.item ?? spot.pair?.value
  }

  #update(description: Description, old: Resource): void {
    const spot = this.#spotOf(old)
    const edits = spot && this.#edits.get(spot.file)
    if (!spot || !edits) return
    const { kind, key, fields, live } = description
    const { shape } = kind.form
    if (shape === 'map' && old.name !== key && spot.pair) edits.renameKey(spot.pair, key)
    const changed = Object.keys(kind.fields).filter((field) => this.#differs(description, old, field))
    if (shape === 'values' || shape === 'value') {
      const [field] = Object.keys(kind.fields)
      if (changed.length > 0 || old.tombstone) edits.setValue(spot.map!, spot.pair!, fields[field!] ?? true, 2)
      return
    }
    const body = this.#bodyOf(spot)
    const drops = [
      ...(old.tombstone ? ['delete'] : []),
      ...(old.renamedFrom !== undefined && !(live.name === old.renamedFrom && old.name === key) ? ['renamedFrom'] : []),
    ]
    if (changed.length === 0 && drops.length === 0) return
    if (isAlias(body)) {
      this.#shared(old)
      return
    }
    const pairs = isMap(body) ? body.items : []
    const find = (name: string) =>
      pairs.find((pair) => isScalar(pair.key) && String(pair.key.source ?? pair.key.value) === name)
    const added: [string, Value][] = []
    for (const name of [...drops, ...changed]) {
      const pair = find(name)
      const value = drops.includes(name) ? undefined : fields[name]
      if (pair && value === undefined) edits.removePair(body as YAMLMap, pair)
      else if (pair) edits.setValue(body as YAMLMap, pair, value!, 2)
      else if (value !== undefined) added.push([name, value])
    }
    edits.addPairs(spot.pair, body, added, 2)
  }

  /** Whether a field that definitions say lives otherwise, or names what is called otherwise now. */
  #differs({ kind, live }: Description, old: Resource, field: string): boolean {
    const row = kind.fields[field]!
    const said = old.fields[field]
    const lives = live.fields[field]
    if (!row.schema || said === undefined || (lives === undefined && row.absent === undefined)) return false
    const ids: Record<Address, string> = {}
    for (const address of referencesOf(said)) {
      const meant = [...this.#declared].find(([, one]) => one.address === address)?.[0]
      const now = this.#described.descriptions.find(({ live: one }) => liveKey(one) === meant)
      if (now?.address !== address) return true
      ids[address] = now.live.id!
    }
    return !sameValue(resolveValue(said, ids), lives, row.compare)
  }

  #shared({ address, span }: Resource): void {
    const message = `\`${address}\` differs from what is live, and is written as an alias`
    const help = 'write it out where the alias stands, then import again'
    const place = span ?? spanAt(createSource(address, ''), 0)
    this.#diagnostics.push(diagnostic('import/shared-text', message, place, { help }))
  }

  #isDeclared(address: Address): boolean {
    const holder = this.#described.descriptions.find((one) => one.address === address)
    return holder !== undefined && this.#declared.has(liveKey(holder.live))
  }

  #collect(description: Description): void {
    const place = `${description.parent ?? ''} ${description.kind.kind}`
    this.#added.set(place, [...(this.#added.get(place) ?? []), description])
  }

  /** Resources without a section in any file go to new files, unless a file of that name exists. */
  #fresh = new Map<string, Map<string, Value>>()

  #addAll(): void {
    if (!this.#input.loaded) {
      const { organizationName, organizationId } = this.#input.actual
      this.#fresh.set(
        join(this.#input.folder, FIRST_FILE),
        new Map([
          ['organization', organizationName.replaceAll('${', () => '$${')],
          ...(this.#input.isNested ? [] : ([['id', organizationId]] as const)),
        ]),
      )
    }
    const byHolder = new Map<Pair, { spot: Spot; sections: [string, Value][] }>()
    for (const group of this.#added.values()) {
      const [{ kind, parent }] = group as [Description]
      const { key, shape } = kind.form
      const section = parent === undefined ? this.#topSection(key) : this.#childSection(parent, key)
      const edits = section && this.#edits.get(section.file)
      if (section?.pair && edits && (shape === 'map' || shape === 'values')) {
        if (isAlias(section.pair.value)) this.#diagnostics.push(this.#sharedSection(key, section.file))
        else edits.addPairs(section.pair, section.pair.value, this.#entries(group), parent === undefined ? 1 : 3)
      } else if (
        section?.pair &&
        edits &&
        shape === 'list' &&
        isSeq(section.pair.value) &&
        section.pair.value.items.length > 0
      ) {
        edits.addItems(
          section.pair.value,
          group.map((one) => this.#valueOf(one)),
          3,
        )
      } else if (section?.pair && edits) {
        edits.setValue(section.map!, section.pair, this.#sectionValue(group), parent === undefined ? 0 : 2)
      } else if (parent !== undefined) {
        const spot = this.#spotOfAddress(parent)
        const one = byHolder.get(spot!.pair!) ?? { spot: spot!, sections: [] }
        one.sections.push([key, this.#sectionValue(group)])
        byHolder.set(spot!.pair!, one)
      } else {
        const file = join(this.#input.folder, fileOf(kind))
        const old = this.#edits.get(file)
        if (old) old.append(key, this.#sectionValue(group))
        else this.#fresh.set(file, new Map([...(this.#fresh.get(file) ?? []), [key, this.#sectionValue(group)]]))
      }
    }
    for (const { spot, sections } of byHolder.values()) {
      const body = this.#bodyOf(spot)
      if (isAlias(body)) this.#diagnostics.push(this.#sharedSection(sections[0]![0], spot.file))
      else this.#edits.get(spot.file)!.addPairs(spot.pair, body, sections, 2)
    }
  }

  #sharedSection(key: string, file: string): Diagnostic {
    const help = 'write it out where the alias stands, then import again'
    return diagnostic(
      'import/shared-text',
      `\`${key}\` is to hold more, and is written as an alias`,
      spanAt(createSource(file, ''), 0),
      { help },
    )
  }

  #topSection(key: string): Spot | undefined {
    for (const [file, root] of this.#roots) {
      const pair = isMap(root) ? root.items.find((one) => isScalar(one.key) && one.key.value === key) : undefined
      if (pair) return { file, map: root as YAMLMap, pair }
    }
    return undefined
  }

  #childSection(parent: Address, key: string): Spot | undefined {
    const spot = this.#spotOfAddress(parent)
    const body = spot && this.#bodyOf(spot)
    const pair = isMap(body) ? body.items.find((one) => isScalar(one.key) && one.key.value === key) : undefined
    return pair && { file: spot!.file, map: body as YAMLMap, pair }
  }

  #spotOfAddress(address: Address): Spot | undefined {
    const holder = this.#described.descriptions.find((one) => one.address === address)
    const old = holder && this.#declared.get(liveKey(holder.live))
    return old && this.#spotOf(old)
  }

  #entries(group: readonly Description[]): readonly [string, Value][] {
    return group.map((one) => [one.key, this.#valueOf(one)])
  }

  #sectionValue(group: readonly Description[]): Value {
    const [first] = group
    const { shape } = first!.kind.form
    if (shape === 'list') return group.map((one) => this.#valueOf(one))
    return shape === 'one' || shape === 'value' ? this.#valueOf(first!) : Object.fromEntries(this.#entries(group))
  }

  /** A whole definition, with what it holds. */
  #valueOf({ address, kind, fields }: Description): Value {
    const [field] = Object.keys(kind.fields)
    if (kind.form.shape === 'value' || kind.form.shape === 'values') return fields[field!] ?? true
    const sections = KINDS.filter((name) => kinds[name].parent === kind.kind).flatMap((name): [string, Value][] => {
      const held = this.#described.descriptions.filter((one) => one.parent === address && one.kind.kind === name)
      return held.length === 0 ? [] : [[kinds[name].form.key, this.#sectionValue(held)]]
    })
    return Object.fromEntries([...Object.entries(fields), ...sections])
  }

  /** Takes out definitions of what lives no more; a tombstone has done its work and means nothing. */
  #removeGone(): void {
    const alive = new Set([...this.#declared.values()].map(({ address }) => address))
    const gone = (this.#input.loaded?.desired.resources ?? []).filter(
      ({ address, tombstone }) => !tombstone && !alive.has(address),
    )
    const addresses = new Set(gone.map(({ address }) => address))
    for (const one of gone) {
      if (one.parent !== undefined && addresses.has(one.parent)) continue
      const spot = this.#spotOf(one)
      const edits = spot && this.#edits.get(spot.file)
      if (spot?.pair) edits!.removePair(spot.map!, spot.pair)
      else if (spot?.item) edits!.removeItem(spot.seq!, spot.item)
    }
  }

  #newFiles(): readonly [string, string][] {
    return [...this.#fresh].map(([path, sections]) => {
      const parts = [...sections].map(([key, value]) => blockPair(key, value, { indent: 0, depth: 0 }))
      const text = parts.join('\n\n').replace(/^(organization: .*)\n\n(id: )/, '$1\n$2')
      return [path, `${HEAD}\n${text}\n`]
    })
  }
}
