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
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ApplyError } from './error.ts'
import { keyFileOf, mark, open } from './record-marks.ts'
import { createRecordNames, namesFolderOf } from './record-names.ts'
import { guarded } from './store-files.ts'
import { isKeptRecord, listRecords, loadKey, loadSharedKey } from './store-key.ts'
import type { StoreFiles } from './store-opened.ts'

/** Paths are those of files in the store's folder; each record is for its path alone. */
export interface Records {
  /** Reads a record; undefined when there never was one. Throws `apply/record-refused` and `apply/record-missing`. */
  read(path: string): Promise<string | undefined>
  /**
   * Writes a whole record or nothing.
   * @param mayReplace says whether it may take the place of what is there; where machines share the store, of just that
   */
  write(path: string, text: string, mayReplace?: (before: string | undefined) => boolean): Promise<void>
  /** Writes a record unless it exists; of many at once, one wins. */
  claim(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  list(folder: string): Promise<readonly string[]>
}

/** How often a record with a lower number than its last is looked at again, and after what time. */
const LOOKS = 3
const LOOK_MS = 30

/** Makes the records of a store. Their key is `<folder>.key`, made at first use. */
export function createRecords(folder: string, files: StoreFiles): Records {
  const { shared } = files
  let known: Promise<Buffer> | undefined
  const key = () => {
    known ??= guarded(keyFileOf(folder), () => (shared ? loadSharedKey(folder, shared) : loadKey(folder))).catch(
      (error: unknown) => {
        known = undefined
        throw error
      },
    )
    return known
  }
  const nameOf = (path: string) => relative(folder, path)
  const marked = async (path: string, text: string, version = 0) =>
    mark(text, { key: await key(), name: nameOf(path), version })
  const names = createRecordNames(folder, async () => {
    await key()
    if (shared) return (await shared.objects.listAll()).filter((name) => isKeptRecord(name))
    return listRecords(folder).map(({ name }) => name)
  })
  /**
   * Looks a second time for a record that was not there, if its name is: a name is written after its record, so that a writer
   * may have come between the two looks. Throws for one that was there and is not: the attacker who took it away wants what it
   * stands for to be done again.
   */
  const lookAgain = async <Found>(path: string, look: (path: string) => Promise<Found | undefined>) => {
    if (!isKeptRecord(nameOf(path)) || !(await names.has(nameOf(path)))) return undefined
    const found = await look(path)
    if (found === undefined) throw missing(path, folder)
    return found
  }
  /** After a death between a record and its name, the next one who meets the record adds it. */
  const assertNamed = async (path: string, version = 0) => {
    const name = nameOf(path)
    if (!isKeptRecord(name)) return
    const known = await names.versionOf(name)
    if (known === undefined || known < version) await names.add(name, version)
  }
  /** Throws for a record from before. Its number is looked up first: a writer writes the record, and then the number. */
  const readLast = async (path: string, key: Buffer) => {
    const name = nameOf(path)
    for (let looks = 0; ; looks++) {
      const known = isKeptRecord(name) ? ((await names.versionOf(name)) ?? 0) : 0
      const marked = (await files.read(path)) ?? (await lookAgain(path, files.read))
      if (marked === undefined) return undefined
      const found = open(path, marked, { key, name })
      if (found.version >= known) return found
      // Of two who write at once one may have written the lower number last; it takes a higher one at once.
      if (looks === LOOKS) throw older(path, folder)
      await delay(LOOK_MS)
    }
  }
  /** Replaces just the version that it has read, so that of two machines neither undoes what it has not seen. */
  const writeShared = async (
    path: string,
    text: string,
    mayReplace: (before: string | undefined) => boolean = () => true,
  ) => {
    const { objects } = shared!
    const name = nameOf(path)
    for (;;) {
      const known = (await names.versionOf(name)) ?? 0
      const found = await objects.read(name)
      const before = found && open(path, found.text, { key: await key(), name })
      if (before && before.version < known) throw older(path, folder)
      if (!mayReplace(before?.text)) return
      const version = Math.max(before?.version ?? 0, known) + 1
      const record = await marked(path, text, version)
      const isDone = found
        ? await objects.replace(name, record, found.version)
        : await objects.putIfAbsent(name, record)
      // Done too where the answer to a first try was lost, and the second found what the first has written.
      if (isDone || (await objects.read(name))?.text === record) return names.add(name, version)
    }
  }
  return {
    async read(path) {
      // A look makes nothing.
      if (!shared && !existsSync(folder) && !existsSync(namesFolderOf(folder))) return undefined
      const known = await key()
      const last = await readLast(path, known)
      if (last) await assertNamed(path, last.version)
      return last?.text
    },
    async write(path, text, mayReplace) {
      if (!isKeptRecord(nameOf(path))) return files.write(path, await marked(path, text))
      if (shared) return writeShared(path, text, mayReplace)
      if (mayReplace && !mayReplace((await readLast(path, await key()))?.text)) return
      // Another process that writes at the same moment may have taken a higher number: the last to write takes the next.
      for (let last = -1; ; ) {
        const known = (await names.versionOf(nameOf(path))) ?? 0
        if (known === last) return
        last = known + 1
        await files.write(path, await marked(path, text, last))
        await names.add(nameOf(path), last)
      }
    },
    async claim(path, text) {
      const record = await marked(path, text)
      if ((await files.versionOf(path)) === undefined) await lookAgain(path, files.versionOf)
      await files.claim(path, record)
      await assertNamed(path)
    },
    remove: files.remove,
    async list(shelf) {
      const found = await files.list(shelf)
      const name = nameOf(shelf)
      if (existsSync(namesFolderOf(folder)) && isKeptRecord(`${name}/`)) {
        const there = new Set(found)
        for (const one of await names.ofShelf(name)) {
          // Made since the shelf was looked at, or gone.
          if (!there.has(one) && (await files.versionOf(join(shelf, one))) === undefined)
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
