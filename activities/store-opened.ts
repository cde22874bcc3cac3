/** The files of a plan store, in its folder or on the server that its place names: who uses them does not know which. */
import { relative } from 'node:path'
import { ApplyError } from './error.ts'
import { claim, list, listNewest, read, remove, versionOf, write } from './store-files.ts'
import type { ObjectStore, StorePlace } from './store-model.ts'
import { openObjectStore } from './store-objects.ts'
import { type KeptPlace, readStorePlace } from './store-place.ts'

/** Paths are those of files in the store's folder, also where none of them is a file. */
export interface StoreFiles {
  read(path: string): Promise<string | undefined>
  /** Writes a whole file or nothing. */
  write(path: string, text: string): Promise<void>
  /** Writes a file unless it exists; of many at once, one wins. */
  claim(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  /** The names on a shelf that are ids. */
  list(shelf: string): Promise<readonly string[]>
  /** Those that were written last, newest first. */
  listNewest(shelf: string, most: number): Promise<readonly string[]>
  /** Another one after each write; undefined when there is no file. */
  versionOf(path: string): Promise<string | undefined>
  /** Where machines share the store: what decides between them. */
  readonly shared?: SharedFiles
}

export interface SharedFiles {
  readonly place: StorePlace
  readonly objects: ObjectStore
}

/**
 * Opens the files of a plan store, wherever they are.
 * @param given where they are, for a data folder that does not say it
 */
export function openStoreFiles(folder: string, given?: StorePlace): StoreFiles {
  const place = readStorePlace(folder) ?? (given && { ...given, isMoving: false })
  if (!place) return filesOfFolder(folder)
  if (place.isMoving) return refusing(() => assertMoved(place))
  return sharedFiles(folder, { place, objects: openObjectStore(place) })
}

/** A process that has opened the folder must not write there what others look for elsewhere by now. */
function filesOfFolder(folder: string): StoreFiles {
  const assertHere = () => {
    const place = readStorePlace(folder)
    if (!place) return
    assertMoved(place)
    throw new ApplyError('apply/store-failed', `the plan store of \`${folder}\` was moved to ${place.shown}`, {
      facts: { written: 'nothing' },
      next: 'end this process and start it again: it still works with the folder',
    })
  }
  const whileHere =
    <Input extends unknown[], Answer>(work: (...input: Input) => Promise<Answer>) =>
    async (...input: Input) => {
      assertHere()
      return work(...input)
    }
  return {
    read: whileHere(read),
    write: whileHere(write),
    claim: whileHere(claim),
    remove: whileHere(remove),
    list: whileHere(list),
    listNewest: whileHere(listNewest),
    versionOf: whileHere(versionOf),
  }
}

function assertMoved(place: KeptPlace): void {
  if (!place.isMoving) return
  throw new ApplyError('apply/store-failed', `the plan store is on its way to ${place.shown}`, {
    facts: { written: 'nothing' },
    next: 'wait until `quorate plan-store use` has ended; if it was ended before, run it again',
  })
}

function refusing(refuse: () => void): StoreFiles {
  const work = async (): Promise<never> => {
    refuse()
    throw new Error('expected a refusal')
  }
  return { read: work, write: work, claim: work, remove: work, list: work, listNewest: work, versionOf: work }
}

const ID = /^[0-9a-f]{64}$/

function sharedFiles(folder: string, shared: SharedFiles): StoreFiles {
  const { objects } = shared
  const nameOf = (path: string) => relative(folder, path).replaceAll('\\', '/')
  const listed = async (shelf: string) => (await objects.list(nameOf(shelf))).filter(({ name }) => ID.test(name))
  return {
    read: async (path) => (await objects.read(nameOf(path)))?.text,
    write: (path, text) => objects.put(nameOf(path), text),
    claim: async (path, text) => {
      await objects.putIfAbsent(nameOf(path), text)
    },
    remove: (path) => objects.remove(nameOf(path)),
    list: async (shelf) => (await listed(shelf)).map(({ name }) => name),
    listNewest: async (shelf, most) =>
      (await listed(shelf))
        .toSorted((a, b) => b.writtenAtMs - a.writtenAtMs)
        .slice(0, most)
        .map(({ name }) => name),
    versionOf: (path) => objects.versionOf(nameOf(path)),
    shared,
  }
}
