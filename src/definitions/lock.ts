import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { createSource, type Diagnostic, diagnostic, hasErrors, QuorateError, spanAt } from '../diagnostics/index.ts'
import { decodeUtf8 } from '../encoding/index.ts'
import { type Address, formatAddress, parseAddress } from '../resources/index.ts'
import { LOCK_FILE, reason } from './folder.ts'
import { parseYaml } from './parse.ts'
import { type MapEntry, textOf } from './tree.ts'

/** Which live thing a name means: organization id → address → live id. */
export type Lock = Readonly<Record<string, Readonly<Record<Address, string>>>>

const HEAD = '# Which live thing each name means. Written by quorate; review it, commit it, do not edit it.\n'

/** Reads the lock beside the definitions; none is an empty one. A lock that cannot be used gives diagnostics. */
export async function readLock(
  folder: string,
): Promise<{ readonly lock: Lock; readonly diagnostics: readonly Diagnostic[] }> {
  const path = join(folder, LOCK_FILE)
  let text: string
  try {
    text = decodeUtf8(await readFile(path))
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return { lock: {}, diagnostics: [] }
    const why = cause instanceof TypeError ? 'it is not UTF-8 text' : reason(cause)
    const span = spanAt(createSource(path, ''), 0)
    return { lock: {}, diagnostics: [diagnostic('definitions/unreadable', `\`${path}\` cannot be read: ${why}`, span)] }
  }
  return parseLock(path, text)
}

function parseLock(path: string, text: string): { readonly lock: Lock; readonly diagnostics: readonly Diagnostic[] } {
  const { tree, source, diagnostics } = parseYaml(createSource(path, text))
  const faults = [...diagnostics]
  const wrong = (message: string, span = spanAt(source, 0)) =>
    faults.push(
      diagnostic('definitions/malformed-lock', message, span, {
        help: 'restore it from version control, or delete it',
      }),
    )
  const empty = tree?.kind === 'scalar' && tree.value === null
  if (tree && tree.kind !== 'map' && !empty) wrong('expected a map of organization ids', tree.span)
  const organizations = tree?.kind === 'map' ? tree.entries : []
  const lock = organizations.map(({ key, keySpan, value }): [string, Lock[string]] => {
    if (value.kind !== 'map') wrong(`expected a map of addresses under \`${key}\``, keySpan)
    const rows = value.kind === 'map' ? value.entries : []
    const ids = rows.flatMap(({ key: address, keySpan: at, value: id }: MapEntry): [Address, string][] => {
      const parsed = parseAddress(address)
      const text = textOf(id)
      if (!parsed) wrong(`expected an address such as \`policy.treasury\`, got \`${address}\``, at)
      else if (!text) wrong(`expected the id of \`${address}\``, id.span)
      else return [[formatAddress(parsed.kind, ...parsed.names), text]]
      return []
    })
    const seen = new Set<string>()
    const twice = ids.find(([, id]) => seen.size === seen.add(id).size)
    if (twice)
      wrong(
        `\`${twice[1]}\` stands for two addresses`,
        rows.findLast(({ value: id }) => textOf(id) === twice[1])!.value.span,
      )
    return [key, Object.fromEntries(ids)]
  })
  return hasErrors(faults) ? { lock: {}, diagnostics: faults } : { lock: Object.fromEntries(lock), diagnostics: [] }
}

/**
 * Writes the lock, sorted, by way of a new file, so that a reader sees the old one or the new one and never half of one.
 * Throws `QuorateError`.
 */
export async function writeLock(folder: string, lock: Lock): Promise<void> {
  const path = join(folder, LOCK_FILE)
  const sorted = sortMembers(Object.fromEntries(Object.entries(lock).map(([id, ids]) => [id, sortMembers(ids)])))
  const text = HEAD + stringify(sorted, { lineWidth: 0, aliasDuplicateObjects: false })
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    await writeFile(draft, text, { flag: 'wx', flush: true })
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw new QuorateError('definitions/unwritable-lock', `\`${path}\` cannot be written: ${reason(cause)}`, {
      cause,
      next: 'make room or get write access, then plan again: the lock is made again from what is live',
    })
  }
}

function sortMembers<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
