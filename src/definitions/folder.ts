import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createSource, type Diagnostic, diagnostic, type Source, spanAt, unreadWords } from '../diagnostics/index.ts'
import { decodeUtf8 } from '../encoding/index.ts'
import { NotReadable, readInside, realInside } from './inside.ts'

/** One thing in a folder. */
export interface FolderEntry {
  readonly name: string
  readonly kind: 'file' | 'folder'
}

/** Where definitions are read from. */
export interface FolderReader {
  readonly list: (folder: string) => Promise<readonly FolderEntry[]>
  readonly read: (path: string) => Promise<Uint8Array>
}

/** Creates a reader of the disk for the folder `root` and what is below it. A link is what it leads to, if that is there, too. */
export function createDiskReader(root: string): FolderReader {
  return {
    async list(folder) {
      const names = await readdir(realInside(root, folder))
      return Promise.all(
        names.map(async (name) => {
          // A link that leads nowhere counts as a file, so that reading it says so.
          const isFolder = await stat(join(folder, name)).then(
            (found) => found.isDirectory(),
            () => false,
          )
          return { name, kind: isFolder ? ('folder' as const) : ('file' as const) }
        }),
      )
    },
    read: async (path) => readInside(root, path),
  }
}

export const LOCK_FILE = 'quorate.lock.yaml'
/** The configuration of the linter. */
export const LINT_FILE = 'quorate.lint.yaml'

/** Files of scenarios stand beside the definitions that they try out, and define nothing. */
export function isTestFile(name: string): boolean {
  return /\.test\.ya?ml$/.test(name)
}

export interface FolderSources {
  readonly sources: readonly Source[]
  /** Paths of the folders in it that hold definitions themselves. */
  readonly folders: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Reads every `*.yaml` and `*.yml` of a folder but the lock file and tests, sorted by name. All or nothing is the caller's:
 * anything that cannot be read is a diagnostic, and must never make a smaller set of definitions.
 */
export async function readSources(folder: string, reader: FolderReader): Promise<FolderSources> {
  const diagnostics: Diagnostic[] = []
  const report = (code: `definitions/${string}`, path: string, message: string, help?: string) =>
    diagnostics.push(diagnostic(code, message, spanAt(createSource(path, ''), 0), { help }))
  const unreadable = (path: string, cause: unknown) =>
    report('definitions/unreadable', path, `\`${path}\` cannot be read: ${reason(cause)}`)

  let entries: readonly FolderEntry[] = []
  try {
    entries = await reader.list(folder)
  } catch (cause) {
    unreadable(folder, cause)
    return { sources: [], folders: [], diagnostics }
  }
  const sources: Source[] = []
  const folders: string[] = []
  for (const { name, kind } of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, name)
    if (name.startsWith('.')) continue
    try {
      if (kind === 'folder') {
        if ((await reader.list(path)).some(isDefinition)) folders.push(path)
      } else if (isDefinition({ name, kind })) {
        const text = decode(await reader.read(path))
        if (text === undefined) report('definitions/not-text', path, `\`${path}\` is not UTF-8 text`)
        else sources.push(createSource(path, text))
      }
    } catch (cause) {
      unreadable(path, cause)
    }
  }
  if (sources.length === 0 && diagnostics.length === 0) {
    report(
      'definitions/empty-folder',
      folder,
      `\`${folder}\` holds no .yaml file`,
      `name the folder that holds \`organization:\`${await nearby(folder, reader)}, or make a first file with \`quorate init\``,
    )
    // Files in folders below it are somebody else's: without an organization there is no sub-organization.
    return { sources, folders: [], diagnostics }
  }
  return { sources, folders, diagnostics }
}

/** How deep definitions are looked for below a folder that has none. */
const NEARBY_DEPTH = 2
const MOST_NEARBY = 5

/** The folders below this one that hold an organization, as `, such as …`; empty where there are none, or none can be read. */
async function nearby(folder: string, reader: FolderReader): Promise<string> {
  const found = (await organizationsBelow(folder, reader, NEARBY_DEPTH)).slice(0, MOST_NEARBY)
  return found.length === 0 ? '' : `, such as ${found.map((path) => `\`${path}\``).join(' or ')}`
}

async function organizationsBelow(folder: string, reader: FolderReader, depth: number): Promise<readonly string[]> {
  const entries = await reader.list(folder).catch(() => [])
  const found: string[] = []
  for (const { name, kind } of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, name)
    if (kind === 'folder' && depth > 0 && !name.startsWith('.') && name !== 'node_modules')
      found.push(...(await organizationsBelow(path, reader, depth - 1)))
    else if (isDefinition({ name, kind }) && !found.includes(folder)) {
      const text = await reader.read(path).then(decode, () => undefined)
      if (text !== undefined && /^organization:/m.test(text)) found.push(folder)
    }
  }
  return found
}

const OTHER_FILES: readonly string[] = [LOCK_FILE, LINT_FILE]

function isDefinition({ name, kind }: FolderEntry): boolean {
  return (
    kind === 'file' &&
    /\.ya?ml$/.test(name) &&
    !name.startsWith('.') &&
    !OTHER_FILES.includes(name) &&
    !isTestFile(name)
  )
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decodeUtf8(bytes)
  } catch {
    return undefined
  }
}

/** The system's word for what went wrong, without the path that it repeats. */
export function reason(cause: unknown): string {
  return cause instanceof NotReadable ? cause.message : unreadWords(cause)
}
