/**
 * The names of a plan store's records. They stand in `<folder>.names`, beside the store as its key does: an attacker who writes to
 * the store alone can take a record away, but not its name, so that it is missed. A file holds the names of a shelf that begin with
 * the same two digits, one a line; lines are only added. Behind the name of a record that is written more than once stands how
 * often it was: one that was put back from before is known by its lower number.
 *
 * A name is added after its record is on disk: after a death in between the record is there without its name, which the next reader
 * adds. The other order would call a record missing that was never made.
 */
import { existsSync } from 'node:fs'
import { appendFile, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ensurePrivateFolder } from '../src/local/index.ts'
import { guarded } from './store-files.ts'

export interface RecordNames {
  has(name: string): Promise<boolean>
  /** The highest number that a record has had; 0 for one that is written once, undefined for a name that is not there. */
  versionOf(name: string): Promise<number | undefined>
  add(name: string, version?: number): Promise<void>
  /** The names on a shelf, without the shelf's. */
  ofShelf(shelf: string): Promise<readonly string[]>
}

/** Where the names of a store's records are kept. */
export const namesFolderOf = (folder: string) => `${folder}.names`

/** @param listAll gives the names of the records that lie in the store, for one of before that has no names yet */
export function createRecordNames(folder: string, listAll: () => Promise<readonly string[]>): RecordNames {
  const names = namesFolderOf(folder)
  const fileOf = (name: string) => join(names, `${dirname(name)}-${basename(name).slice(0, 2)}`)
  const linesOf = async (file: string) => (await readIfThere(file)).split('\n').filter((line) => line !== '')
  let ready: Promise<void> | undefined
  const prepare = () => {
    ready ??= begin(names, fileOf, listAll).catch((error: unknown) => {
      ready = undefined
      throw error
    })
    return ready
  }
  const versionOf = (name: string) =>
    guarded(names, async () => {
      await prepare()
      const own = basename(name)
      let highest: number | undefined
      for (const line of await linesOf(fileOf(name))) {
        if (line !== own && !line.startsWith(`${own} `)) continue
        highest = Math.max(highest ?? 0, Number(line.slice(own.length + 1)))
      }
      return highest
    })
  return {
    has: async (name) => (await versionOf(name)) !== undefined,
    versionOf,
    add: (name, version = 0) =>
      guarded(names, async () => {
        await prepare()
        // A line this short is added whole (POSIX: O_APPEND).
        await appendFile(fileOf(name), `${basename(name)}${version === 0 ? '' : ` ${version}`}\n`, { mode: 0o600 })
      }),
    ofShelf: (shelf) =>
      guarded(names, async () => {
        await prepare()
        const files = (await readdir(names)).filter((file) => file.slice(0, -3) === shelf)
        const lines = (await Promise.all(files.map((file) => linesOf(join(names, file))))).flat()
        return [...new Set(lines.map((line) => line.split(' ', 1)[0]!))]
      }),
  }
}

/** Writes the names of a store of before, all at once: of many processes that begin together, one succeeds. */
async function begin(names: string, fileOf: (name: string) => string, listAll: () => Promise<readonly string[]>) {
  if (existsSync(names)) return ensurePrivateFolder(names)
  ensurePrivateFolder(dirname(names))
  const draft = await mkdtemp(`${names}.`)
  try {
    const files = Map.groupBy(await listAll(), fileOf)
    for (const [file, within] of files) {
      await writeFile(join(draft, basename(file)), within.map((name) => `${basename(name)}\n`).join(''), {
        mode: 0o600,
      })
    }
    await rename(draft, names)
  } catch (error) {
    if (!existsSync(names)) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
