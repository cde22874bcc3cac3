import { constants } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { QuorateError, unreadWords } from '../diagnostics/index.ts'
import { exposureOf } from '../local/index.ts'
import { keyExposed, keyUnreadable } from './key-errors.ts'
import type { StampingKey } from './stamper.ts'

/** Far above any key; keeps a wrong path such as a disk image out of memory. */
const LARGEST_FILE = 64 * 1024

/**
 * Reads a private key file as ssh does: only an ordinary file of the effective user's own, by its only name, that nobody else
 * may read or write. The checks are made on the open file, so it cannot be swapped between check and read.
 * Throws `stamp/key-unreadable` and `stamp/key-exposed`.
 */
export async function readKeyFile(path: string, effectiveUser: number | undefined): Promise<string> {
  const where = `key file \`${path}\``
  const file = await openKeyFile(path, where)
  try {
    let stats = await file.stat()
    if (stats.nlink > 1) {
      // One that is being made has a second name for a moment: it gets its own by a link, so that it is never half there.
      await delay(100)
      stats = await file.stat()
    }
    if (!stats.isFile()) throw keyUnreadable(where, 'it is not an ordinary file', 'name the file that holds the key')
    const exposure = exposureOf(path, stats, { effectiveUser })
    if (exposure) throw keyExposed(where, exposure.reason, exposure.next)
    const { size } = stats
    if (size > LARGEST_FILE) {
      throw keyUnreadable(where, `it has ${size} bytes, too many for a key`, 'name the file that holds the key')
    }
    return await file.readFile('utf8').catch((error: unknown) => {
      throw keyUnreadable(where, unreadWords(error), 'name the file that holds the key')
    })
  } finally {
    await file.close()
  }
}

/**
 * Creates a private key file (mode 0600, JSON) and makes it durable. Never overwrites: a lost key cannot be had back.
 * Throws `stamp/key-unwritable`.
 */
export async function writePrivateKey(path: string, key: StampingKey): Promise<void> {
  let file: FileHandle
  try {
    file = await open(path, 'wx', 0o600)
  } catch (error) {
    throw unwritable(path, error)
  }
  try {
    const { publicKey, privateKey, curve = 'p256' } = key
    await file.writeFile(`${JSON.stringify({ curve, publicKey, privateKey: privateKey.reveal() }, undefined, 2)}\n`)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw unwritable(path, error)
  } finally {
    await file.close()
  }
}

async function openKeyFile(path: string, where: string): Promise<FileHandle> {
  try {
    // Not following a link, and not waiting for the other end of a pipe.
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ELOOP') {
      throw keyExposed(where, 'it is a symbolic link, which others may point elsewhere', 'name the file itself')
    }
    if (code === 'ENOENT')
      throw keyUnreadable(
        where,
        'there is no such file',
        'correct the path, or make a key with `quorate key new FILE` and have it added to your user',
      )
    if (code === 'EACCES') throw keyUnreadable(where, 'permission denied', `check who owns it: \`ls -l ${path}\``)
    throw keyUnreadable(where, code, 'check the path')
  }
}

function unwritable(path: string, error: unknown): QuorateError {
  const code = systemCode(error)
  const reasons: Readonly<Record<string, string>> = {
    EEXIST: 'there is a file already, and a key is never overwritten',
    ENOENT: 'its folder does not exist',
    EACCES: 'permission denied',
    ENOSPC: 'the disk is full',
  }
  return new QuorateError('stamp/key-unwritable', `cannot create key file \`${path}\`: ${reasons[code] ?? code}`, {
    next: code === 'EEXIST' ? 'choose another path, or move the old key away' : 'choose a folder you may write to',
  })
}

function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
