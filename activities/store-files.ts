import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { link, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { QuorateError } from '../src/diagnostics/index.ts'
import { ensurePrivateFolder, exposureOf } from '../src/local/index.ts'
import { ApplyError } from './error.ts'

/** Digests become file names, so anything that is not one is refused: it could name a path. */
export function fileNameOf(digest: string): string {
  const match = /^(?:sha256:)?([0-9a-f]{64})$/.exec(digest)
  if (!match) throw new ApplyError('apply/plan-missing', `expected a SHA-256 digest, got \`${digest}\``)
  return match[1]!
}

/** Writes a whole file or nothing: a crash between any two lines leaves the old file or none, and fsync makes it stay. */
export async function write(path: string, text: string): Promise<void> {
  await guarded(path, async () => {
    const temporary = await writeTemporary(path, text)
    await rename(temporary, path)
    await syncFolder(path)
  })
}

/** Writes a file unless it exists; of many at once, one wins. */
export async function claim(path: string, text: string): Promise<void> {
  await guarded(path, async () => {
    const temporary = await writeTemporary(path, text)
    try {
      await link(temporary, path)
      await syncFolder(path)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    } finally {
      await unlink(temporary)
    }
  })
}

async function writeTemporary(path: string, text: string): Promise<string> {
  ensurePrivateFolder(join(path, '..'))
  const temporary = `${path}.${randomUUID()}.new`
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  } finally {
    await file.close()
  }
  return temporary
}

/** A rename survives a power loss only when the folder is on disk too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(join(path, '..'), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes a file, if it is there. */
export async function remove(path: string): Promise<void> {
  await guarded(path, async () => {
    try {
      await unlink(path)
      await syncFolder(path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  })
}

/** Reads a file that must be its owner's alone; undefined when there is none. */
export async function read(path: string): Promise<string | undefined> {
  return guarded(path, async () => {
    try {
      const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
      try {
        refuseExposed(path, await file.stat())
        return await file.readFile('utf8')
      } finally {
        await file.close()
      }
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  })
}

/** The names of a shelf's files, which are ids: one that is being written has a longer name. */
export async function list(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => /^[0-9a-f]{64}$/.test(name))
}

/** The names of the files of a shelf that were written last, newest first. */
export async function listNewest(folder: string, most: number): Promise<readonly string[]> {
  const names = await list(folder)
  const times = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  const rows = names.map((name, index) => ({ name, at: times[index]! }))
  return rows
    .toSorted((a, b) => b.at - a.at)
    .slice(0, most)
    .map(({ name }) => name)
}

/** A version of a file: another one after each write or replacement; undefined when there is no file. */
export async function versionOf(path: string): Promise<string | undefined> {
  return guarded(path, async () => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
      return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  })
}

function refuseExposed(path: string, stats: Stats): void {
  const exposure = exposureOf(path, stats, { mayBeLinked: true })
  if (!exposure) return
  throw new ApplyError('apply/store-failed', `refusing \`${path}\` of the plan store: ${exposure.reason}`, {
    next: exposure.next,
  })
}

/** Does something with a file of the store; what the system refuses is told in words. */
export async function guarded<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApplyError) throw error
    const told = error instanceof QuorateError ? error : undefined
    const code = told?.facts['system'] ?? (error instanceof Error && 'code' in error ? error.code : String(error))
    const reason = told ? `${told.message} (${code})` : String(code)
    throw new ApplyError('apply/store-failed', `cannot use \`${path}\` of the plan store: ${reason}`, {
      ...(told?.next === undefined ? {} : { next: told.next }),
      cause: error,
    })
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
