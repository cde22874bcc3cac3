import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import {
  createSource,
  type Diagnostic,
  diagnostic,
  hasErrors,
  positionAt,
  QuorateError,
  spanAt,
} from '../diagnostics/index.ts'
import { decodeUtf8 } from '../encoding/index.ts'
import { type Address, formatAddress, parseAddress } from '../resources/index.ts'
import { LOCK_FILE, reason } from './folder.ts'
import { readInside } from './inside.ts'
import { parseYaml } from './parse.ts'
import { type MapEntry, textOf } from './tree.ts'

/** Which live thing a name means, and a digest of what was last applied to it: organization id → address → row. */
export type LockFile = Readonly<Record<string, LockRows>>
type LockRows = Readonly<Record<Address, LockRow>>
interface LockRow {
  readonly id?: string
  readonly applied?: string
  readonly managed?: readonly string[]
}

const HEAD =
  '# Which live thing each name means, and what was last applied to it. Written by quorate; review it, commit it, do not edit it.\n'
/** Beside the ids of organizations; none has such an id. */
const SIGNATURE = 'signature'
/**
 * Its id where it has one of its own, the digest where it is known, and which of the fields that may be left out were
 * managed then (`-` for none); older versions kept no fields.
 */
const ROW = /^(?:(?!sha256:)(\S+))?(?:(?:^| )sha256:([0-9a-f]{24})(?: (-|[A-Za-z]+(?:,[A-Za-z]+)*))?)?$/

/** A lock as it was read. */
export interface ReadLock {
  readonly lock: LockFile
  /** Who vouches for it, as it was written; nothing here says that it verifies. */
  readonly signature?: string
  /** Where each row stands (`path:line:column`): organization id → address → place. */
  readonly places: Readonly<Record<string, Readonly<Record<Address, string>>>>
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the lock beside the definitions; none is an empty one. A lock that cannot be used gives diagnostics. */
export async function readLock(folder: string): Promise<ReadLock> {
  const path = join(folder, LOCK_FILE)
  let text: string
  try {
    text = decodeUtf8(readInside(folder, path))
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')
      return { lock: {}, places: {}, diagnostics: [] }
    const why = cause instanceof TypeError ? 'it is not UTF-8 text' : reason(cause)
    const span = spanAt(createSource(path, ''), 0)
    const message = `\`${path}\` cannot be read: ${why}`
    return { lock: {}, places: {}, diagnostics: [diagnostic('definitions/unreadable', message, span)] }
  }
  return parseLock(path, text)
}

/** Reads the text of a lock file; `path` is where it is said to stand. A lock that cannot be used gives diagnostics. */
export function parseLock(path: string, text: string): ReadLock {
  const { tree, source, diagnostics } = parseYaml(createSource(path, text))
  const faults = [...diagnostics]
  const wrong = (message: string, span = spanAt(source, 0)) =>
    faults.push(
      diagnostic('definitions/malformed-lock', message, span, {
        help: 'restore it from version control',
      }),
    )
  const empty = tree?.kind === 'scalar' && tree.value === null
  if (tree && tree.kind !== 'map' && !empty) wrong('expected a map of organization ids', tree.span)
  const entries = tree?.kind === 'map' ? tree.entries : []
  const organizations = entries.filter(({ key }) => key !== SIGNATURE)
  const signed = entries.find(({ key }) => key === SIGNATURE)
  const signature = signed && textOf(signed.value)
  if (signed && !signature) wrong(`expected \`${SIGNATURE}\` to be a text`, signed.value.span)
  const places: Record<string, Record<Address, string>> = {}
  const lock = organizations.map(({ key, keySpan, value }): [string, LockFile[string]] => {
    if (value.kind !== 'map') wrong(`expected a map of addresses under \`${key}\``, keySpan)
    const rows = value.kind === 'map' ? value.entries : []
    const seen = new Set<string>()
    const rowPlaces: Record<Address, string> = {}
    places[key] = rowPlaces
    const read = rows.flatMap(({ key: address, keySpan: at, value }: MapEntry): [Address, LockRow][] => {
      const place = parseAddress(address)
      const row = parseRow(textOf(value) ?? '')
      if (!place) wrong(`expected an address such as \`policy.treasury\`, got \`${address}\``, at)
      else if (!row) wrong(`expected the id of \`${address}\`, or that and \`sha256:\` with 24 hex digits`, value.span)
      else if (row.id !== undefined && seen.size === seen.add(row.id).size)
        wrong(`\`${row.id}\` stands for two addresses`, value.span)
      else {
        const known = formatAddress(place.kind, ...place.names)
        const { line, column } = positionAt(source, at.start)
        rowPlaces[known] = `${path}:${line}:${column}`
        return [[known, row]]
      }
      return []
    })
    return [key, Object.fromEntries(read)]
  })
  if (hasErrors(faults)) return { lock: {}, places: {}, diagnostics: faults }
  return { lock: Object.fromEntries(lock), places, diagnostics: [], ...(signature ? { signature } : {}) }
}

function parseRow(text: string): LockRow | undefined {
  const [found, id, applied, fields] = ROW.exec(text) ?? []
  if (!found) return undefined
  return {
    ...(id === undefined ? {} : { id }),
    ...(applied === undefined ? {} : { applied }),
    ...(fields === undefined ? {} : { managed: fields === '-' ? [] : fields.split(',') }),
  }
}

function rowText({ id, applied, managed }: LockRow): string {
  const digest = applied === undefined ? [] : `sha256:${applied}`
  const fields = applied === undefined || managed === undefined ? [] : managed.join(',') || '-'
  return [id ?? [], digest, fields].flat().join(' ')
}

/**
 * Writes the lock, sorted, by way of a new file, so that a reader sees the old one or the new one and never half of one.
 * `check` throws for a text that must not be written. Throws `QuorateError`.
 */
export async function writeLock(
  folder: string,
  lock: LockFile,
  {
    check,
    signature,
  }: { readonly check: (path: string, text: string) => void; readonly signature?: string | undefined },
): Promise<void> {
  const path = join(folder, LOCK_FILE)
  const sections = sectionsOf(lock)
  const whole = signature === undefined ? sections : { ...sections, [SIGNATURE]: signature }
  const text = HEAD + stringify(whole, { lineWidth: 0, aliasDuplicateObjects: false })
  check(path, text)
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    await writeFile(draft, text, { flag: 'wx', flush: true })
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw new QuorateError('definitions/unwritable-lock', `\`${path}\` cannot be written: ${reason(cause)}`, {
      cause,
      next: 'make room or get write access, then apply again: until it is written, what is taken out of the definitions is not known to be ours',
    })
  }
}

/** What a lock says, as one text: equal for equal locks, and the same when it was written and read. */
export function lockText(lock: LockFile): string {
  return JSON.stringify(sectionsOf(lock))
}

function sectionsOf(lock: LockFile): Readonly<Record<string, Readonly<Record<Address, string>>>> {
  return sortMembers(Object.fromEntries(Object.entries(lock).map(([id, rows]) => [id, textsOf(rows)])))
}

function textsOf(rows: LockRows): Readonly<Record<Address, string>> {
  return sortMembers(Object.fromEntries(Object.entries(rows).map(([address, row]) => [address, rowText(row)])))
}

function sortMembers<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
