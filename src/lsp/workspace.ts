import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Diagnostic as LspDiagnostic, TextDocuments } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import {
  createDiskReader,
  type FolderReader,
  LINT_FILE,
  lintDefinitions,
  loadDefinitions,
  readLintFile,
} from '../definitions/index.ts'
import { createSource, type Diagnostic, hasErrors, messageOf, type Span } from '../diagnostics/index.ts'
import type { Address } from '../resources/index.ts'
import { toLspDiagnostic } from './positions.ts'

/** The names of a folder, and the place of each definition. */
export type Names = ReadonlyMap<Address, Span>

export interface Workspace {
  /** A document was opened, changed or closed: its folder is looked at again. */
  changed(uri: string): void
  /** The names in the folder of a document, as it was last without errors. */
  namesBeside(uri: string): Names
}

interface Options {
  readonly documents: TextDocuments<TextDocument>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly vars: Readonly<Record<string, string>>
  readonly publish: (uri: string, diagnostics: readonly LspDiagnostic[]) => void
  readonly say: (text: string) => void
}

/** Follows the folders of open documents; what an editor has open outweighs what is on disk. */
export function createWorkspace({ documents, env, vars, publish, say }: Options): Workspace {
  const names = new Map<string, Names>()
  const shown = new Map<string, ReadonlySet<string>>()
  /** Folders that are being looked at, and whether one has changed meanwhile. */
  const busy = new Map<string, 'looking' | 'again'>()

  const readerOf = (root: string): FolderReader => ({
    async list(folder) {
      const entries = [...(await createDiskReader(root).list(folder))]
      for (const { uri } of documents.all()) {
        const path = pathOf(uri)
        const name = path?.slice(folder.length + 1)
        if (path !== undefined && dirname(path) === folder && !entries.some((entry) => entry.name === name))
          entries.push({ name: name!, kind: 'file' })
      }
      return entries
    },
    async read(path) {
      const open = documents.all().find(({ uri }) => pathOf(uri) === path)
      return open === undefined ? createDiskReader(root).read(path) : new TextEncoder().encode(open.getText())
    },
  })

  async function look(folder: string): Promise<void> {
    const readFolder = readerOf(folder)
    const loaded = await loadDefinitions(folder, { env, vars, readFolder, policiesOnly: true })
    const configured = await readConfiguration(folder, readFolder)
    const advice = hasErrors(loaded.diagnostics) ? [] : lintDefinitions(loaded, configured.severities).diagnostics
    if (loaded.desired !== undefined) {
      const found = loaded.desired.resources.flatMap(({ address, span }) =>
        span === undefined ? [] : [[address, span] as const],
      )
      names.set(folder, new Map(found))
    }
    const byUri = new Map<string, LspDiagnostic[]>()
    for (const one of [...loaded.diagnostics, ...configured.diagnostics, ...advice]) {
      const uri = pathToFileURL(one.span.source.path).href
      byUri.set(uri, [...(byUri.get(uri) ?? []), toLspDiagnostic(one)])
    }
    // A file whose last mistake is gone is told so.
    for (const uri of new Set([...(shown.get(folder) ?? []), ...byUri.keys()])) publish(uri, byUri.get(uri) ?? [])
    shown.set(folder, new Set(byUri.keys()))
  }

  async function follow(folder: string): Promise<void> {
    do {
      busy.set(folder, 'looking')
      try {
        await look(folder)
      } catch (error) {
        say(`\`${folder}\` cannot be looked at: ${messageOf(error)}`)
      }
    } while (busy.get(folder) === 'again')
    busy.delete(folder)
  }

  return {
    changed(uri) {
      const path = pathOf(uri)
      if (path === undefined) return
      const folder = dirname(path)
      if (busy.has(folder)) busy.set(folder, 'again')
      else void follow(folder)
    },
    namesBeside(uri) {
      const path = pathOf(uri)
      return (path === undefined ? undefined : names.get(dirname(path))) ?? new Map()
    },
  }
}

async function readConfiguration(folder: string, reader: FolderReader) {
  const path = join(folder, LINT_FILE)
  const none = { severities: {}, diagnostics: [] as readonly Diagnostic[] }
  try {
    return readLintFile(createSource(path, new TextDecoder().decode(await reader.read(path))))
  } catch {
    // There is none; most folders have no need of one.
    return none
  }
}

/** The path of a file; documents that are not on disk have none. */
function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? resolve(fileURLToPath(uri)) : undefined
  } catch {
    return undefined
  }
}
