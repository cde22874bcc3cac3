/** The key of a plan store's records: made at first use, in `<folder>.key`; machines that share a store have the same. */
import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { claimPrivate, dropDrafts, readPrivate } from '../src/local/index.ts'
import { ApplyError } from './error.ts'
import { keyFileOf, MAC, mark, open } from './record-marks.ts'
import { read as readFile, write as writeFile } from './store-files.ts'
import type { StorePlace } from './store-model.ts'
import type { SharedFiles } from './store-opened.ts'

/** Shelves whose files prove themselves: they are what their names say, or carry a signature. */
const PROVEN = new Set(['plans', 'bodies', 'definitions', 'pushes'])
/** Shelves whose records come and go: that one is not there says nothing. */
const PASSING: ReadonlySet<string> = new Set([
  'run-unlocked',
  'send-gates',
  'send-batch-stops',
  'watch-states',
  'watch-reads',
  'watch-notices',
  'watch-news',
  'watch-events',
])
/** What a shared store says of itself. */
const ABOUT = 'about'

/** Whether it is a record whose absence says something. */
export function isKeptRecord(name: string): boolean {
  return isRecord(name) && !PASSING.has(name.slice(0, name.indexOf('/')))
}

/** Whether the object of this name is a record: it ends in its mark. */
export function isRecord(name: string): boolean {
  const shelf = name.slice(0, name.indexOf('/'))
  return !PROVEN.has(shelf) && shelf !== ABOUT
}

/** Processes that begin at once get the same key; if one dies on the way, the next one finishes its work. */
export async function loadKey(folder: string): Promise<Buffer> {
  const path = keyFileOf(folder)
  const own = readKey(folder)
  if (own) return own
  const draft = `${path}.new`
  claimPrivate(draft, `${randomBytes(32).toString('hex')}\n`)
  const drafted = readDraft(draft, path)
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

/** The draft; undefined once another process has finished this, which for a moment gives the draft the name of the key as well. */
function readDraft(draft: string, path: string): string | undefined {
  try {
    return readPrivate(draft)
  } catch (error) {
    if (existsSync(path)) return undefined
    throw error
  }
}

/** The key as it lies beside the folder; undefined where there is none. */
export function readKey(folder: string): Buffer | undefined {
  const path = keyFileOf(folder)
  const text = dropDrafts(path) ? readPrivate(path) : undefined
  return text === undefined ? undefined : parseKey(path, text)
}

/** Throws `apply/store-failed`. */
export function parseKey(path: string, text: string): Buffer {
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

interface FileOfFolder {
  readonly path: string
  readonly name: string
}

/** The files on the shelves of records, without those that a killed process left half written. */
export function listRecords(folder: string): readonly FileOfFolder[] {
  return listFiles(folder).filter(({ name }) => isRecord(name))
}

/** The files on all shelves of a folder. */
export function listFiles(folder: string): readonly FileOfFolder[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((shelf) => shelf.isDirectory())
    .flatMap((shelf) => readdirSync(join(folder, shelf.name)).map((file) => join(shelf.name, file)))
    .filter((name) => !name.endsWith('.new'))
    .map((name) => ({ path: join(folder, name), name }))
}

/** Says which key a shared store has, without saying the key. */
const KEY_OBJECT = `${ABOUT}/key`

/**
 * The key of a shared store: that of this data folder, if it is the one the store was begun with. The machine that begins the store
 * makes it.
 * Throws `apply/store-key`, and `apply/store-place` for a server that cannot decide between machines.
 * @param given takes the place of the data folder's
 */
export async function loadSharedKey(folder: string, { objects, place }: SharedFiles, given?: Buffer): Promise<Buffer> {
  const begun = await objects.read(KEY_OBJECT)
  // Of a store that was begun, the machine that joined it has asked (`movePlanStore`).
  if (begun === undefined) await objects.assertConditions()
  if (begun !== undefined && given === undefined && !existsSync(keyFileOf(folder))) throw lacksKey(folder, place)
  const key = given ?? makeKey(folder)
  if (begun === undefined) await objects.putIfAbsent(KEY_OBJECT, nameOfKey(key))
  const named = begun?.text ?? (await objects.read(KEY_OBJECT))?.text
  if (named === nameOfKey(key)) return key
  throw otherKey(folder, place, given ? 'the one given' : 'this data folder has')
}

/** The same by reading alone. */
export async function assertSharedKey(folder: string, { objects, place }: SharedFiles): Promise<void> {
  const begun = await objects.read(KEY_OBJECT)
  const key = readKey(folder)
  if (!key) throw lacksKey(folder, place)
  if (begun?.text !== nameOfKey(key)) throw otherKey(folder, place, 'this data folder has')
}

const FACTS = { submitted: 'nothing by this step' }

function lacksKey(folder: string, { shown }: StorePlace): ApplyError {
  return new ApplyError('apply/store-key', `this data folder does not have the key of the plan store at ${shown}`, {
    facts: FACTS,
    next: nextForKey(folder),
  })
}

function otherKey(folder: string, { shown }: StorePlace, than: string): ApplyError {
  return new ApplyError('apply/store-key', `the plan store at ${shown} was begun with another key than ${than}`, {
    facts: FACTS,
    next: nextForKey(folder),
  })
}

const nextForKey = (folder: string) =>
  `copy \`plans.key\` from the data folder of a machine that uses it, and run \`quorate plan-store use --store-key FILE\`, which puts it at ${keyFileOf(folder)}`

function makeKey(folder: string): Buffer {
  claimPrivate(keyFileOf(folder), `${randomBytes(32).toString('hex')}\n`)
  return readKey(folder)!
}

/** Who has the key makes the same; nobody comes from it to the key. */
function nameOfKey(key: Buffer): string {
  return createHmac('sha256', key).update('quorate.plan-store/key').digest('hex')
}
