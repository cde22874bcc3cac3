/**
 * Names that look alike and are not the same. A person who approves `оps` with a Cyrillic letter believes to have read `ops`.
 * Two names look alike when their skeletons are equal (UTS #39, section 4: decomposed, without what is not seen, each character
 * in place of which another is read put for it), also when their blanks or the case of their letters differ.
 */

import { codePoint } from '../diagnostics/index.ts'
import { CONFUSABLES } from './generated/confusables.gen.ts'

/** A name in its scope: names of two scopes are not compared, since nobody takes a policy for a tag. */
export interface ScopedName<Of> {
  readonly scope: string
  readonly name: string
  readonly of: Of
}

/** A name beside the first one that looks like it. */
export interface LookAlike<Of> {
  readonly one: ScopedName<Of>
  readonly like: ScopedName<Of>
}

/** Names to look others up in. */
export interface LookAlikeIndex<Of> {
  /** Gives what `find` would have found before. */
  add(one: ScopedName<Of>): ScopedName<Of> | undefined
  /** The first name of the scope that looks like this one and is not the same. */
  find(one: Pick<ScopedName<Of>, 'scope' | 'name'>): ScopedName<Of> | undefined
}

/** Makes an index of names by what they look like. */
export function indexLookAlikes<Of>(names: Iterable<ScopedName<Of>>): LookAlikeIndex<Of> {
  // Of several that look the same two suffice: one of them differs from whatever is looked up.
  const byLook = new Map<string, readonly ScopedName<Of>[]>()
  const keysOf = ({ scope, name }: Pick<ScopedName<Of>, 'scope' | 'name'>) =>
    looksOf(name).map((look) => `${scope}\0${look}`)
  const others = (keys: readonly string[], own: string) =>
    keys.flatMap((key) => byLook.get(key) ?? []).find(({ name }) => name !== own)
  const index: LookAlikeIndex<Of> = {
    add(one) {
      const keys = keysOf(one)
      const found = others(keys, one.name)
      for (const key of keys) {
        const known = byLook.get(key) ?? []
        if (known.length < 2 && known.every(({ name }) => name !== one.name)) byLook.set(key, [...known, one])
      }
      return found
    },
    find: (one) => others(keysOf(one), one.name),
  }
  for (const one of names) index.add(one)
  return index
}

/** Each name that looks like one that comes before it in its scope, beside that. Equal names are none. */
export function findLookAlikes<Of>(names: Iterable<ScopedName<Of>>): readonly LookAlike<Of>[] {
  const before = indexLookAlikes<Of>([])
  const found: LookAlike<Of>[] = []
  for (const one of names) {
    const like = before.add(one)
    if (like) found.push({ one, like })
  }
  return found
}

/** In what a name differs from one that looks like it: `U+043E in place of \`o\``. */
export function difference(name: string, like: string): string {
  const [here, there] = [[...name], [...like]]
  const at = here.findIndex((c, index) => c !== there[index])
  const [one, other] = [here[at], there[at === -1 ? here.length : at]]
  const isBlank = (c: string | undefined) => c !== undefined && /^\s$/.test(c)
  if (name.toLowerCase() === like.toLowerCase()) return 'only the case of letters differs'
  if (name.replace(/\s/g, '') === like.replace(/\s/g, '') && (isBlank(one) || isBlank(other)))
    return 'only blanks differ'
  if (one === undefined) return `without the last ${codePoint(other!)}`
  return other === undefined ? `with ${codePoint(one)} at its end` : `${codePoint(one)} in place of ${codePoint(other)}`
}

/**
 * The forms by which a name is compared: its skeleton without regard to case, and that of its small letters, since a capital I
 * looks like an l and is an i.
 */
export function looksOf(name: string): readonly string[] {
  // Most names are ASCII, and thousands are compared: there nothing is decomposed, and nothing but a blank is left out.
  const bare = /^[ -~]*$/.test(name)
    ? name.replaceAll(' ', '')
    : name.normalize('NFD').replace(/[\p{DI}\p{Cc}\p{Cf}\p{Z}\s\u2800]/gu, '')
  const small = bare.toLowerCase()
  const look = skeleton(small).toLowerCase()
  const other = small === bare ? look : skeleton(bare).toLowerCase()
  return other === look ? [look] : [look, other]
}

/** A table of the characters that look like others, with the prototype of each, and the expression that finds such characters. */
interface Table {
  readonly prototypes: ReadonlyMap<string, string>
  readonly found: RegExp
}

/** Read at the first use: what all names are asked for are the few characters of ASCII, and seldom the thousands beyond. */
let [asciiTable, table]: [Table?, Table?] = []

function skeleton(text: string): string {
  const isAscii = /^[\0-\x7f]*$/.test(text)
  if (isAscii) asciiTable ??= readTable(/^([^:\n]*):((?:.* )?00[0-7][0-9a-f](?: .*)?)$/gm)
  else table ??= readTable(/^([^:\n]*):(.*)$/gm)
  const { prototypes, found } = (isAscii ? asciiTable : table)!
  return text.replace(found, (c) => prototypes.get(c) ?? c).normalize('NFD')
}

/** Reads the lines that an expression finds in the data: the prototype, and the characters that look like it. */
function readTable(lines: RegExp): Table {
  const prototypes = readPrototypes(lines)
  const ascii = [...prototypes.keys()].filter((c) => c < '\u0080').map((c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
  return { prototypes, found: new RegExp(`[${ascii.join('')}]|[^\\0-\\x7f]`, 'gu') }
}

function readPrototypes(lines: RegExp): ReadonlyMap<string, string> {
  const characters = (codes: string) => codes.split(' ').map((code) => String.fromCodePoint(Number.parseInt(code, 16)))
  return new Map(
    [...CONFUSABLES.matchAll(lines)].flatMap(([, prototype = '', sources = '']) => {
      // Blanks count for nothing on either side.
      const text = characters(prototype).join('').replaceAll(' ', '')
      return characters(sources).map((source): [string, string] => [source, text])
    }),
  )
}
