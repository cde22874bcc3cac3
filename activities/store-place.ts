/**
 * Where a plan store is: in its folder, unless `<folder>.place` beside it names a server that machines share. The file is kept with
 * the data folder, so that no command of it can look elsewhere than the others do: a ledger of sends that is looked for in the wrong
 * place is empty, and pays again.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivate, writePrivate } from '../src/local/index.ts'
import { Secret } from '../src/telemetry/index.ts'
import { ApplyError } from './error.ts'
import type { StorePlace } from './store-model.ts'

const placeFileOf = (folder: string) => `${folder}.place`

/** A place, and whether the records of the folder are still on their way there. */
export interface KeptPlace extends StorePlace {
  readonly isMoving: boolean
}

/** The shared place of a plan store; undefined for one in its folder. Throws `apply/store-place`. */
export function readStorePlace(folder: string): KeptPlace | undefined {
  const path = placeFileOf(folder)
  // Asked before each write: most plan stores are in their folder.
  const text = existsSync(path) ? readPrivate(path) : undefined
  if (text === undefined) return undefined
  const [url = '', state] = text.split('\n')
  return { ...parseStorePlace(url), isMoving: state === MOVING }
}

const MOVING = 'moving'

/** Keeps it, for every process that opens the plan store from now on. */
export function keepStorePlace(
  folder: string,
  { url }: StorePlace,
  { isMoving }: { readonly isMoving: boolean },
): void {
  writePrivate(placeFileOf(folder), `${url.reveal()}\n${isMoving ? `${MOVING}\n` : ''}`)
}

/** Whether a folder has plans or records of its own. */
export function hasOwnRecords(folder: string): boolean {
  if (!existsSync(folder)) return false
  return readdirSync(folder, { withFileTypes: true }).some(
    (shelf) => shelf.isDirectory() && readdirSync(join(folder, shelf.name)).length > 0,
  )
}

/** Whether two URLs name the same place, whatever user and password they have. */
export function isSamePlace(one: StorePlace, other: StorePlace): boolean {
  return one.shown === other.shown
}

/** Reads the URL of a place. Throws `apply/store-place`, without the URL, which may hold a password. */
export function parseStorePlace(text: string): StorePlace {
  const url = URL.parse(text)
  const place = { url: new Secret(text) }
  if (url?.protocol === 's3:' && url.hostname !== '' && !url.username) {
    const endpoint = url.searchParams.get('endpoint')
    if (endpoint !== null && !isHttp(endpoint)) throw wrong('the endpoint of an S3 place is no http or https URL')
    const others = [...url.searchParams.keys()].filter((name) => name !== 'endpoint' && name !== 'region')
    if (others.length > 0) throw wrong(`an S3 place has no parameter \`${others[0]}\``)
    const path = url.pathname.replace(/^\/+|\/+$/g, '')
    const at = endpoint === null ? '' : ` at ${new URL(endpoint).host}`
    return { kind: 's3', ...place, shown: `s3://${[url.hostname, path].filter(Boolean).join('/')}${at}` }
  }
  if (url && /^postgres(ql)?:$/.test(url.protocol) && url.pathname.length > 1) {
    const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
    if (!isThisMachine(host) && !url.searchParams.has('sslmode')) {
      throw wrong(
        'the place is PostgreSQL on another machine, and does not say how the way there is protected',
        'add ?sslmode=verify-full, with &sslrootcert=FILE for an authority of your own; ?sslmode=disable where nobody else is on that network',
      )
    }
    const port = url.port === '' || url.port === '5432' ? '' : `:${url.port}`
    return { kind: 'postgres', ...place, shown: `postgres://${host || 'localhost'}${port}${url.pathname}` }
  }
  throw wrong('the place of a plan store is neither PostgreSQL nor S3')
}

const EXPECTED = 'give postgres://user:password@host/name or s3://bucket/prefix?endpoint=https://host&region=name'

function wrong(message: string, next = EXPECTED): ApplyError {
  return new ApplyError('apply/store-place', message, { next })
}

function isHttp(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

/** By a socket in a folder, or on the loopback. */
function isThisMachine(host: string): boolean {
  return host === '' || host.startsWith('/') || /^(localhost|127(\.\d+){3}|\[::1\]|::1)$/.test(host)
}
