/** The three places where a plan store may be, each with as many machines as a test asks for. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRecords, type Records } from '../../activities/records.ts'
import type { ObjectStore } from '../../activities/store-model.ts'
import { openObjectStore } from '../../activities/store-objects.ts'
import { openStoreFiles } from '../../activities/store-opened.ts'
import { keepStorePlace, parseStorePlace } from '../../activities/store-place.ts'
import { findPostgres, startPostgres, type TestPostgres } from '../postgres.ts'
import { type S3Server, startS3 } from './s3-server.ts'

/** What Amazon's client looks for; the bucket of the tests takes any. */
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'of-the-test', AWS_SECRET_ACCESS_KEY: 'of-the-test' }

export const PLACES = ['a folder', 'PostgreSQL', 'S3'] as const
export type PlaceName = (typeof PLACES)[number]

export const isThere = (place: PlaceName) => place !== 'PostgreSQL' || findPostgres() !== undefined

/** Servers of one file of tests, begun when they are asked for first. */
export function createPlaces() {
  const closers: (() => unknown)[] = []
  let postgres: Promise<TestPostgres> | undefined
  let s3: Promise<S3Server> | undefined
  const servers = {
    postgres: () => {
      postgres ??= startPostgres().then((server) => {
        closers.push(() => server.close())
        return server
      })
      return postgres
    },
    s3: () => {
      s3 ??= startS3().then((server) => {
        closers.push(() => server.close())
        return server
      })
      return s3
    },
  }
  let made = 0
  /** The URL of a place with nothing in it; undefined for a folder. */
  const urlOf = async (place: PlaceName) => {
    if (place === 'PostgreSQL') return (await (await servers.postgres()).create()).reveal()
    // A server of S3 that stands elsewhere, for a run by hand: `s3://bucket?endpoint=…&region=…`.
    const other = process.env['QUORATE_TEST_S3']
    made += 1
    if (place !== 'S3') return undefined
    return other
      ? other.replace(/(s3:\/\/[^/?]+)\/?/, `$1/p${process.pid}-${made}`)
      : (await servers.s3()).url(`p${made}`)
  }
  const folderOf = () => {
    const folder = mkdtempSync(join(tmpdir(), 'quorate-places-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'plans')
  }

  /** A new store at a place. */
  async function begin(place: PlaceName) {
    const url = await urlOf(place)
    const first = folderOf()
    const folders: string[] = []
    /** The plan store's folder of a machine that uses it. Where all is in the folder, the machines are processes of one. */
    const machine = async (): Promise<string> => {
      if (url === undefined) return first
      const folder = folders.length === 0 ? first : folderOf()
      folders.push(folder)
      keepStorePlace(folder, parseStorePlace(url), { isMoving: false })
      if (folder === first) await recordsOf(folder).read(join(folder, 'spent', '0'))
      else copyFileSync(`${first}.key`, `${folder}.key`)
      return folder
    }
    const objects = url === undefined ? undefined : openObjectStore(parseStorePlace(url))
    if (objects) closers.push(() => objects.close())
    return { url, machine, raw: rawOf(first, objects) }
  }

  return {
    ...servers,
    begin,
    folderOf,
    close: async () => {
      for (const close of closers.reverse()) await close()
    },
  }
}

export const recordsOf = (folder: string): Records => createRecords(folder, openStoreFiles(folder))

/** What an attacker who writes to the place does. */
function rawOf(folder: string, objects: ObjectStore | undefined) {
  return {
    read: async (name: string) =>
      objects
        ? (await objects.read(name))?.text
        : existsSync(join(folder, name))
          ? readFileSync(join(folder, name), 'utf8')
          : undefined,
    write: async (name: string, text: string) => {
      if (objects) await objects.put(name, text)
      else writeFileSync(join(folder, name), text, { mode: 0o600 })
    },
    remove: async (name: string) => {
      if (objects) await objects.remove(name)
      else rmSync(join(folder, name))
    },
  }
}
