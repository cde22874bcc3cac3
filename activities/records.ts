/**
 * Records: what the plan store keeps beside contents that prove themselves by their digest (plans and bodies), and what workers
 * therefore believe. Each ends in a line with an HMAC-SHA-256 (RFC 2104) of its name and its text, under a key that stands beside
 * the plan store and not in it. An attacker who writes to the plan store alone can neither change a record, nor make one, nor
 * put one in another's place; one that they take away is missed by its name, and one that they put back from before is known by
 * its number (`record-names.ts`).
 *
 * A store of before has records without that line. They are believed once, when the key is made: a process that may
 * make the key owns the data folder. From then on each must have it.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { claimPrivate, dropDrafts, readPrivate } from '../src/local/index.ts'
import { ApplyError } from './error.ts'
import { createRecordNames, namesFolderOf } from './record-names.ts'
import {
  claim as claimFile,
  guarded,
  list,
  read as readFile,
  remove,
  versionOf,
  write as writeFile,
} from './store-files.ts'

/** Paths are those of files in the store's folder; each record is for its path alone. */
export interface Records {
  /** Reads a record; undefined when there never was one. Throws `apply/record-refused` and `apply/record-missing`. */
  read(path: string): Promise<string | undefined>
  /** Writes a whole record or nothing. */
  write(path: string, text: string): Promise<void>
  /** Writes a record unless it exists; of many at once, one wins. */
  claim(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  list(folder: string): Promise<readonly string[]>
}

/** Shelves whose files are what their names say. */
const PROVEN = new Set(['plans', 'bodies', 'definitions'])
/** Shelves whose records come and go: that one is not there says nothing. */
const PASSING: ReadonlySet<string> = new Set([
  'run-unlocked',
  'send-gates',
  'send-batch-stops',
  'watch-states',
  'watch-notices',
  'watch-events',
])

/** How often a record with a lower number than its last is looked at again, and after what time. */
const LOOKS = 3
const LOOK_MS = 30

/** Of a record that is written once `/1`, and the MAC; of another `/2`, its number and the MAC, which covers the number. */
const MAC = /\nquorate-mac\/(?:1|2 ([1-9][0-9]{0,14})) ([0-9a-f]{64})$/

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
  const marked = async (path: string, text: string, version = 0) =>
    mark(text, { key: await key(), name: nameOf(path), version })
  const names = createRecordNames(folder, async () => {
    await key()
    return listRecords(folder).map(({ name }) => name)
  })
  const isKept = (name: string) => !PASSING.has(dirname(name))
  /**
   * Looks a second time for a record that was not there, if its name is: a name is written after its record, so that a writer
   * may have come between the two looks. Throws for one that was there and is not: the attacker who took it away wants what it
   * stands for to be done again.
   */
  const lookAgain = async <Found>(path: string, look: (path: string) => Promise<Found | undefined>) => {
    if (!isKept(nameOf(path)) || !(await names.has(nameOf(path)))) return undefined
    const found = await look(path)
    if (found === undefined) throw missing(path, folder)
    return found
  }
  /** After a death between a record and its name, the next one who meets the record adds it. */
  const assertNamed = async (path: string, version = 0) => {
    const name = nameOf(path)
    if (!isKept(name)) return
    const known = await names.versionOf(name)
    if (known === undefined || known < version) await names.add(name, version)
  }
  /** Throws for a record from before. Its number is looked up first: a writer writes the record, and then the number. */
  const readLast = async (path: string, key: Buffer) => {
    const name = nameOf(path)
    for (let looks = 0; ; looks++) {
      const known = isKept(name) ? ((await names.versionOf(name)) ?? 0) : 0
      const marked = (await readFile(path)) ?? (await lookAgain(path, readFile))
      if (marked === undefined) return undefined
      const found = open(path, marked, { key, name })
      if (found.version >= known) return found
      // Of two who write at once one may have written the lower number last; it takes a higher one at once.
      if (looks === LOOKS) throw older(path, folder)
      await delay(LOOK_MS)
    }
  }
  return {
    async read(path) {
      // A look makes nothing.
      if (!existsSync(folder) && !existsSync(namesFolderOf(folder))) return undefined
      const known = await key()
      const last = await readLast(path, known)
      if (last) await assertNamed(path, last.version)
      return last?.text
    },
    async write(path, text) {
      if (!isKept(nameOf(path))) return writeFile(path, await marked(path, text))
      // Another process that writes at the same moment may have taken a higher number: the last to write takes the next.
      for (let last = -1; ; ) {
        const known = (await names.versionOf(nameOf(path))) ?? 0
        if (known === last) return
        last = known + 1
        await writeFile(path, await marked(path, text, last))
        await names.add(nameOf(path), last)
      }
    },
    async claim(path, text) {
      const record = await marked(path, text)
      if ((await versionOf(path)) === undefined) await lookAgain(path, versionOf)
      await claimFile(path, record)
      await assertNamed(path)
    },
    remove,
    async list(shelf) {
      const found = await list(shelf)
      const name = nameOf(shelf)
      if (existsSync(namesFolderOf(folder)) && !PASSING.has(name)) {
        const there = new Set(found)
        for (const one of await names.ofShelf(name)) {
          // Made since the shelf was looked at, or gone.
          if (!there.has(one) && (await versionOf(join(shelf, one))) === undefined)
            throw missing(join(shelf, one), folder)
        }
      }
      return found
    },
  }
}

function missing(path: string, folder: string): ApplyError {
  return new ApplyError('apply/record-missing', `\`${path}\` of the plan store was taken away`, {
    facts: { 'its name stands in': namesFolderOf(folder), submitted: 'nothing by this step' },
  })
}

function older(path: string, folder: string): ApplyError {
  return new ApplyError('apply/record-refused', `\`${path}\` of the plan store is one from before, put back`, {
    facts: { 'its last number stands in': namesFolderOf(folder), submitted: 'nothing by this step' },
  })
}

interface MarkOf {
  readonly key: Buffer
  readonly name: string
}

function mark(text: string, { key, name, version }: MarkOf & { readonly version: number }): string {
  const form = version === 0 ? '1' : `2 ${version}`
  return `${text}\nquorate-mac/${form} ${macOf(key, name, text, version)}`
}

function open(
  path: string,
  marked: string,
  { key, name }: MarkOf,
): { readonly text: string; readonly version: number } {
  const [line, number = '0', mac] = MAC.exec(marked) ?? []
  const text = marked.slice(0, marked.length - (line?.length ?? 0))
  const version = Number(number)
  if (mac !== undefined && timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(key, name, text, version))))
    return { text, version }
  throw new ApplyError('apply/record-refused', `\`${path}\` of the plan store was not written with its key`, {
    facts: { key: keyFileOf(path.slice(0, path.length - name.length - 1)), submitted: 'nothing by this step' },
  })
}

function macOf(key: Buffer, name: string, text: string, version: number): string {
  const of = version === 0 ? ['quorate.plan-store/1', name] : ['quorate.plan-store/2', name, version]
  // No line break stands in JSON: where the name ends is clear.
  return createHmac('sha256', key)
    .update(`${JSON.stringify(of)}\n${text}`)
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
  for (const { path, name } of listRecords(folder)) {
    const text = await readFile(path)
    if (text === undefined) continue
    if (MAC.test(text)) open(path, text, { key, name })
    else unmarked.push({ path, text })
  }
  for (const { path, text } of unmarked) {
    await writeFile(path, mark(text, { key, name: relative(folder, path), version: 0 }))
  }
}

/** The files on the shelves of records, without those that a killed process left half written. */
function listRecords(folder: string): readonly { readonly path: string; readonly name: string }[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((shelf) => shelf.isDirectory() && !PROVEN.has(shelf.name))
    .flatMap((shelf) => readdirSync(join(folder, shelf.name)).map((file) => join(shelf.name, file)))
    .filter((name) => !name.endsWith('.new'))
    .map((name) => ({ path: join(folder, name), name }))
}
