/**
 * A plan store that machines share: objects with names `shelf/name`, each a text, in PostgreSQL or in S3-form storage. Four
 * things decide between machines, and all of them in one request: whether an object is there, to put it unless it is, to replace the
 * version that was read, and to take it away. What a server does not answer is unknown: it throws `apply/store-failed`, never
 * says that something is not there, and the caller looks again.
 */
import type { Secret } from '../src/telemetry/index.ts'

export interface StoredObject {
  readonly text: string
  /** Another one after each write. */
  readonly version: string
}

export interface ObjectStore {
  read(name: string): Promise<StoredObject | undefined>
  versionOf(name: string): Promise<string | undefined>
  /**
   * Puts an object unless there is one. True: this call did. False says that one is there, which may be this call's own where the
   * answer to its first try was lost: read it.
   */
  putIfAbsent(name: string, text: string): Promise<boolean>
  /** Puts an object in the place of a version; false where that is not there any more, as above. */
  replace(name: string, text: string, version: string): Promise<boolean>
  /** Puts an object, whatever is there. */
  put(name: string, text: string): Promise<void>
  remove(name: string): Promise<void>
  /** The names on a shelf, without the shelf's, and when each was written, in milliseconds since the epoch. */
  list(shelf: string): Promise<readonly ListedObject[]>
  /** The names of all objects. */
  listAll(): Promise<readonly string[]>
  /** Throws `apply/store-place` unless the server decides conditions as they are said. */
  assertConditions(): Promise<void>
  close(): Promise<void>
}

export interface ListedObject {
  readonly name: string
  readonly writtenAtMs: number
}

/** Where a shared plan store is. */
export interface StorePlace {
  readonly kind: 'postgres' | 's3'
  /** With its password, if it has one. */
  readonly url: Secret
  /** Without. */
  readonly shown: string
}
