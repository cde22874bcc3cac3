import type { FolderReader, LoadedDefinitions } from '../definitions/index.ts'
import type { Lock } from '../plan/index.ts'
import type { Actual, Desired } from '../resources/index.ts'

/** The live state, the definitions so far, and their files. */
export interface ImportInput {
  readonly folder: string
  /** Reads the folder, which may not exist yet. */
  readonly reader: FolderReader
  readonly env: Readonly<Record<string, string | undefined>>
  readonly vars: Readonly<Record<string, string>>
  /** The definitions so far, without an error; absent for a folder without definitions. */
  readonly loaded?: LoadedDefinitions & { readonly desired: Desired }
  readonly actual: Actual
  /** The folder is that of a sub-organization. @default false */
  readonly isNested?: boolean
  readonly lock: Lock
  readonly baseUrl: string
  /** ISO 8601. */
  readonly now: string
}
