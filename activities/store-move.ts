/**
 * Moves a plan store from its folder to a place that machines share (a server or a bucket), or joins one that is there already. However
 * often the move is begun and wherever it dies: no object is there twice, none of the folder is missing, and until every object was read
 * back the data folder works neither with its folder nor with the place.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { readPrivate, writePrivate } from '../src/local/index.ts'
import { ApplyError } from './error.ts'
import { inTurns } from './in-turns.ts'
import { keyFileOf, mark, type OpenedRecord, open } from './record-marks.ts'
import { createRecordNames } from './record-names.ts'
import type { SendOrder } from './send-model.ts'
import { assertSharedKey, isKeptRecord, isRecord, listFiles, loadKey, loadSharedKey, parseKey } from './store-key.ts'
import type { ObjectStore, StorePlace } from './store-model.ts'
import { openObjectStore } from './store-objects.ts'
import { hasOwnRecords, isSamePlace, keepStorePlace, readStorePlace } from './store-place.ts'

export interface MovedStore {
  /** How many objects the folder has; all of them are at the place now. */
  readonly objects: number
  /** How many of them are references of sends. */
  readonly references: number
  /** How many objects this call put there. */
  readonly put: number
  /** SHA-256 over the names and contents of the folder's objects, as they were read back after they were put. */
  readonly digest?: string
}

/** How long a process may write to the folder after it has looked where the store is. */
const SETTLE_MS = 1_000

/** The most requests at once. */
const AT_ONCE = 8

/**
 * @param keyFile of a machine that uses the place, where this data folder has another key or none
 * Throws `apply/store-conflict` where the place says otherwise about something, and then nothing was changed.
 */
export async function movePlanStore(
  folder: string,
  place: StorePlace,
  { keyFile }: { readonly keyFile?: string | undefined } = {},
): Promise<MovedStore> {
  const now = readStorePlace(folder)
  if (now && !isSamePlace(now, place)) {
    throw new ApplyError('apply/store-place', `this data folder works with the plan store at ${now.shown}`, {
      next: 'begin with another data folder for the other place: a plan store is moved from a folder once',
    })
  }
  const objects = openObjectStore(place)
  try {
    await objects.assertConditions()
    const key = await keyOf(folder, { objects, place, keyFile })
    const moved = now && !now.isMoving ? await look(folder, objects) : await moveNow(folder, place, { objects, key })
    // Last, because the folder's records are read with its own key until they have moved.
    if (keyFile !== undefined) writePrivate(keyFileOf(folder), `${key.toString('hex')}\n`)
    return moved
  } finally {
    await objects.close()
  }
}

interface Moving {
  readonly objects: ObjectStore
  readonly key: Buffer
}

async function moveNow(folder: string, place: StorePlace, { objects, key }: Moving): Promise<MovedStore> {
  const own = hasOwnRecords(folder) ? await loadKey(folder) : undefined
  const keys = { own, key, isMine: readStorePlace(folder) !== undefined }
  const conflicts = await differing(folder, objects, keys)
  if (conflicts.length > 0) throw conflict(place, conflicts)
  keepStorePlace(folder, place, { isMoving: true })
  await delay(keys.own ? SETTLE_MS : 0)
  const moved = await copy(folder, objects, keys)
  const records = (await objects.listAll()).filter(isKeptRecord)
  const names = createRecordNames(folder, async () => records)
  for (const name of records) if (!(await names.has(name))) await names.add(name)
  keepStorePlace(folder, place, { isMoving: false })
  return moved
}

/** Checks a plan store that has moved: whether the place still has every object of the folder. */
async function look(folder: string, objects: ObjectStore): Promise<MovedStore> {
  const there = new Set(await objects.listAll())
  const names = listFiles(folder).flatMap(({ name }) => (isKeptRecord(name) || !isRecord(name) ? [name] : []))
  const missing = names.filter((name) => !there.has(name))
  if (missing.length === 0) return { objects: names.length, references: referencesIn(names), put: 0 }
  throw new ApplyError(
    'apply/record-missing',
    `${missing.length} of ${names.length} records that were moved are not there any more`,
    {
      facts: { first: missing[0], submitted: 'nothing' },
    },
  )
}

/**
 * How the shared place of a plan store stands, by reading alone; undefined for one in its folder. Throws where it does not answer, was
 * begun with another key than this data folder has, is being moved, or lacks what was moved there.
 */
export async function readStoreStanding(
  folder: string,
): Promise<{ readonly place: StorePlace; readonly objects: number; readonly references: number } | undefined> {
  const place = readStorePlace(folder)
  if (!place) return undefined
  if (place.isMoving) {
    throw new ApplyError('apply/store-place', `the plan store is half way to ${place.shown}`, {
      next: 'run `quorate plan-store use` again',
    })
  }
  const objects = openObjectStore(place)
  try {
    await assertSharedKey(folder, { objects, place })
    await look(folder, objects)
    const names = await objects.listAll()
    return { place, objects: names.length, references: referencesIn(names) }
  } finally {
    await objects.close()
  }
}

const referencesIn = (names: readonly string[]) => names.filter((name) => name.startsWith('sends/')).length

async function keyOf(
  folder: string,
  {
    objects,
    place,
    keyFile,
  }: { readonly objects: ObjectStore; readonly place: StorePlace; readonly keyFile: string | undefined },
): Promise<Buffer> {
  if (keyFile === undefined) return loadSharedKey(folder, { objects, place })
  const text = readPrivate(keyFile)
  if (text === undefined) {
    throw new ApplyError('apply/store-key', `there is no key in \`${keyFile}\``, {
      next: 'copy `plans.key` from the data folder of a machine that uses the place',
    })
  }
  return loadSharedKey(folder, { objects, place }, parseKey(keyFile, text))
}

interface Keys {
  /** That of the folder's records; undefined where it has none. */
  readonly own: Buffer | undefined
  /** That of the place's. */
  readonly key: Buffer
  /** Whether the place has had what the folder has before, and may have gone on since. */
  readonly isMine: boolean
}

/** An object of the folder, as it is to stand at the place. */
interface Wanted {
  readonly name: string
  readonly text: string
  readonly record: OpenedRecord | undefined
}

function* wantedOf(folder: string, { own, key }: Keys): Generator<Wanted> {
  for (const { path, name } of listFiles(folder)) {
    const text = readFileSync(path, 'utf8')
    if (!isRecord(name)) yield { name, text, record: undefined }
    else {
      const record = open(path, text, { key: own!, name })
      yield { name, text: mark(record.text, { key, name, version: record.version }), record }
    }
  }
}

/** Whether the object at the place is the folder's, or a later form of it. */
function isThere({ name, text, record }: Wanted, found: string, { key, isMine }: Keys): boolean {
  // Objects that are named by their digest need no comparison, and marks that come and go may have changed.
  if (found === text || !isKeptRecord(name)) return true
  return isMine && open(name, found, { key, name }).version > record!.version
}

/** The error for objects that differ between the folder and the place. */
async function differing(folder: string, objects: ObjectStore, keys: Keys): Promise<readonly Wanted[]> {
  const there = new Set(await objects.listAll())
  const both = [...wantedOf(folder, keys)].filter(({ name }) => there.has(name))
  const found = await inTurns(both, AT_ONCE, async (one) => {
    const object = await objects.read(one.name)
    return object === undefined || isThere(one, object.text, keys) ? [] : [one]
  })
  return found.flat()
}

async function copy(folder: string, objects: ObjectStore, keys: Keys): Promise<MovedStore> {
  const wanted = [...wantedOf(folder, keys)].sort((a, b) => (a.name < b.name ? -1 : 1))
  const put = await inTurns(wanted, AT_ONCE, ({ name, text }) => objects.putIfAbsent(name, text))
  const digest = createHash('sha256')
  const read = await inTurns(wanted, AT_ONCE, async (one) => (await objects.read(one.name))?.text)
  for (const [index, one] of wanted.entries()) {
    const text = read[index]
    if (text === undefined || !isThere(one, text, keys)) throw conflict(undefined, [one])
    digest.update(`${JSON.stringify([one.name, text])}\n`)
  }
  return {
    objects: wanted.length,
    references: referencesIn(wanted.map(({ name }) => name)),
    put: put.filter(Boolean).length,
    digest: `sha256:${digest.digest('hex')}`,
  }
}

/** How many objects an error names; a reader compares no more at once. */
const MOST_SHOWN = 5

function conflict(place: StorePlace | undefined, wanted: readonly Wanted[]): ApplyError {
  const shown = wanted.slice(0, MOST_SHOWN).map(({ name, record }) => referenceOf(name, record) ?? name)
  const rest = wanted.length > shown.length ? ` and ${wanted.length - shown.length} more` : ''
  return new ApplyError(
    'apply/store-conflict',
    `the folder and ${place?.shown ?? 'its place'} say different things of ${shown.join(', ')}${rest}`,
    {
      facts: { changed: place ? 'nothing' : undefined },
      next: 'let this data folder end what it has begun, by itself, and begin with an empty data folder at the place; what this one has sent is found among the activities of the organization',
    },
  )
}

function referenceOf(name: string, record: OpenedRecord | undefined): string | undefined {
  if (!name.startsWith('sends/') || !record) return undefined
  return `reference \`${(JSON.parse(record.text) as SendOrder).reference}\``
}
