import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { QuorateError } from '../diagnostics/index.ts'
import { ensurePrivateFolder, readPrivate, writePrivate } from '../local/index.ts'
import { Secret } from '../telemetry/index.ts'
import { type Keychain, openKeychain } from './keychain.ts'

/** A session of a person: who they are in which organization, and the key that proves it until it expires. */
export interface Session {
  readonly baseUrl: string
  /** The organization that the user lives in. */
  readonly organizationId: string
  readonly userId: string
  readonly userName: string
  /** Lower-case hex of the compressed P-256 point. */
  readonly publicKey: string
  /** Hex. */
  readonly privateKey: Secret
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** Which session: there is one of an organization at an API. */
export type SessionPlace = Pick<Session, 'baseUrl' | 'organizationId'>

/** The sessions that are kept on this machine. */
export interface Sessions {
  /** Keeps a session in place of the one before. Says where its key is. */
  keep(session: Session): Promise<'keychain' | 'file'>
  /** Undefined when nobody is logged in there. Throws `session/damaged`, or `local/exposed` for a file that others can read. */
  find(place: SessionPlace): Promise<Session | undefined>
  /** Forgets a session; nothing happens when there is none. */
  forget(place: SessionPlace): Promise<void>
}

/**
 * Opens the sessions of a folder. The key of a session is in the keychain of the system where there is one, otherwise in the
 * session's file; the files are their owner's alone. Where there is no file, the keychain is not asked.
 * @param open opens the keychain of the system
 */
export function openSessions(
  { folder, keychain: uses }: { readonly folder: string; readonly keychain: boolean },
  open: () => Keychain = openKeychain,
): Sessions {
  const keychain = uses ? open() : undefined
  const pathOf = ({ baseUrl, organizationId }: SessionPlace) => {
    const name = createHash('sha256').update(`${baseUrl} ${organizationId}`).digest('hex').slice(0, 32)
    return join(folder, `${name}.json`)
  }
  return {
    async keep({ privateKey, ...session }) {
      ensurePrivateFolder(folder)
      const inKeychain = (await keychain?.write(accountOf(session), privateKey)) ?? false
      const file = inKeychain ? session : { ...session, privateKey: privateKey.reveal() }
      writePrivate(pathOf(session), `${JSON.stringify(file, null, 2)}\n`)
      return inKeychain ? 'keychain' : 'file'
    },
    async find(place) {
      const path = pathOf(place)
      const text = readPrivate(path)
      if (text === undefined) return undefined
      const session = readSession(text, place)
      if (!session) throw damaged(path, 'its contents are not those of a session')
      const privateKey = session.privateKey ?? (await keychain?.read(accountOf(place)))
      if (!privateKey) throw damaged(path, 'the keychain does not have its key')
      return { ...session, privateKey }
    },
    async forget(place) {
      await keychain?.delete(accountOf(place))
      rmSync(pathOf(place), { force: true })
    },
  }
}

function accountOf({ baseUrl, organizationId }: SessionPlace): string {
  return `${baseUrl} ${organizationId}`
}

function readSession(
  text: string,
  place: SessionPlace,
): (Omit<Session, 'privateKey'> & { readonly privateKey: Secret | undefined }) | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  const { baseUrl, organizationId, userId, userName, publicKey, privateKey, expiresAt } = Object(json) as Record<
    string,
    unknown
  >
  if (baseUrl !== place.baseUrl || organizationId !== place.organizationId) return undefined
  if (typeof userId !== 'string' || typeof userName !== 'string' || typeof publicKey !== 'string') return undefined
  if (typeof expiresAt !== 'number') return undefined
  const key = typeof privateKey === 'string' ? new Secret(privateKey) : undefined
  return { ...place, userId, userName, publicKey, expiresAt, privateKey: key }
}

function damaged(path: string, why: string): QuorateError {
  return new QuorateError('session/damaged', `the session in \`${path}\` cannot be used: ${why}`, {
    facts: { path },
    next: 'end it with `quorate logout`, and log in again',
  })
}
