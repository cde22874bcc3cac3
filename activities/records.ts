/**
 * Records: what the plan store keeps beside contents that prove themselves by their digest (plans and bodies), and what workers
 * therefore believe. Each ends in a line with an HMAC-SHA-256 (RFC 2104) of its name and its text, under a key that stands beside
 * the plan store and not in it. An attacker who writes to the plan store alone can neither change a record, nor make one, nor
 * put one in another's place; they can take one away, or put back one that stood under its name before.
 *
 * A store of before has records without that line. They are believed once, when the key is made: a process that may
 * make the key owns the data folder. From then on each must have it.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { claimPrivate, dropDrafts, readPrivate } from '../src/local/index.ts'
import { ApplyError } from './error.ts'
import { claim as claimFile, guarded, list, read as readFile, remove, write as writeFile } from './store-files.ts'

/** Paths are those of files in the store's folder; each record is for its path alone. */
export interface Records {
  /** Reads a record; undefined when there is none. Throws `apply/record-refused`. */
  read(path: string): Promise<string | undefined>
  /** Writes a whole record or nothing. */
  write(path: string, text: string): Promise<void>
  /** Writes a record unless it exists; of many at once, one wins. */
  claim(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  list(folder: string): Promise<readonly string[]>
}

/** Shelves whose files are what their names say. */
const PROVEN = new Set(['plans', 'bodies'])

const MARK = '\nquorate-mac/1 '
const MAC = /\nquorate-mac\/1 ([0-9a-f]{64})$/

/** Makes the records of a store. Their key is `<folder>.key`, made at first use. */
export function createRecords(folder: string): Records {
  let known: Promise<Buffer> | undefined
  const key = () => {
    known ??= guarded(keyFileOf(folder), () => loadKey(folder)).catch((error: unknown) => {
      known = undefined
      throw error
    })
    return known
  }
  const nameOf = (path: string) => relative(folder, path)
  const marked = async (path: string, text: string) => `${text}${MARK}${macOf(await key(), nameOf(path), text)}`
  return {
    async read(path) {
      // A look makes nothing.
      if (!existsSync(folder)) return undefined
      const known = await key()
      const marked = await readFile(path)
      return marked === undefined ? undefined : open(path, marked, { key: known, name: nameOf(path) })
    },
    write: async (path, text) => writeFile(path, await marked(path, text)),
    claim: async (path, text) => claimFile(path, await marked(path, text)),
    remove,
    list,
  }
}

function open(path: string, marked: string, { key, name }: { readonly key: Buffer; readonly name: string }): string {
  const [line, mac] = MAC.exec(marked) ?? []
  const text = marked.slice(0, marked.length - (line?.length ?? 0))
  if (mac !== undefined && timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(key, name, text)))) return text
  throw new ApplyError('apply/record-refused', `\`${path}\` of the plan store was not written with its key`, {
    facts: { key: keyFileOf(path.slice(0, path.length - name.length - 1)), submitted: 'nothing by this step' },
  })
}

function macOf(key: Buffer, name: string, text: string): string {
  // No line break stands in JSON: where the name ends is clear.
  return createHmac('sha256', key)
    .update(`${JSON.stringify(['quorate.plan-store/1', name])}\n${text}`)
    .digest('hex')
}

const keyFileOf = (folder: string) => `${folder}.key`

/** Processes that begin at once get the same key; if one dies on the way, the next one finishes its work. */
async function loadKey(folder: string): Promise<Buffer> {
  const path = keyFileOf(folder)
  const text = dropDrafts(path) ? readPrivate(path) : undefined
  if (text !== undefined) return parseKey(path, text)
  const draft = `${path}.new`
  claimPrivate(draft, `${randomBytes(32).toString('hex')}\n`)
  const drafted = readPrivate(draft)
  // Another process has just finished this.
  if (drafted === undefined) return loadKey(folder)
  try {
    await adopt(folder, parseKey(draft, drafted))
    linkSync(draft, path)
  } catch (error) {
    // Another process has finished this with the same draft, or with one before it.
    if (!existsSync(path)) throw error
  }
  rmSync(draft, { force: true })
  return loadKey(folder)
}

function parseKey(path: string, text: string): Buffer {
  if (/^[0-9a-f]{64}\n?$/.test(text)) return Buffer.from(text.trim(), 'hex')
  throw new ApplyError('apply/store-failed', `\`${path}\` is not a key of the plan store`, {
    next: 'put back the one that was there',
  })
}

/** Marks what a store of before has. What has another key's mark is refused before anything is marked: its key is missing. */
async function adopt(folder: string, key: Buffer): Promise<void> {
  const unmarked: { readonly path: string; readonly text: string }[] = []
  const shelves = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []
  for (const shelf of shelves) {
    if (!shelf.isDirectory() || PROVEN.has(shelf.name)) continue
    for (const file of readdirSync(join(folder, shelf.name))) {
      const path = join(folder, shelf.name, file)
      // One that a killed process left half written.
      const text = file.endsWith('.new') ? undefined : await readFile(path)
      if (text === undefined) continue
      if (MAC.test(text)) open(path, text, { key, name: relative(folder, path) })
      else unmarked.push({ path, text })
    }
  }
  for (const { path, text } of unmarked) {
    await writeFile(path, `${text}${MARK}${macOf(key, relative(folder, path), text)}`)
  }
}
