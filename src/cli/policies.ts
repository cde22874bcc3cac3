import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  createDiskReader,
  type FolderReader,
  isTestFile,
  type LoadedDefinitions,
  loadDefinitions,
} from '../definitions/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import type { CommandInput } from './command.ts'
import { parseVars } from './values.ts'
import { showDiagnostics } from './views/diagnostics.ts'

/**
 * Loads a folder of definitions, or one file of them, for what their policies decide. Neither an id nor public keys are
 * needed, and nothing is asked of anybody. `defaults` are those of the outer folder, for that of a sub-organization.
 */
export async function readPolicies(
  { environment, options }: CommandInput,
  path: string,
  defaults: LoadedDefinitions['vars'] = {},
): Promise<LoadedDefinitions> {
  if (!existsSync(path)) {
    throw new QuorateError(
      'cli/no-definitions',
      `expected \`${path}\` to be a folder of definitions or one of its files`,
      {
        next: 'name the folder, or make one with `quorate init FOLDER`',
      },
    )
  }
  const isFolder = statSync(path).isDirectory()
  return loadDefinitions(isFolder ? path : dirname(path), {
    env: environment,
    vars: { ...defaults, ...parseVars((options['var'] as string[] | undefined) ?? []) },
    policiesOnly: true,
    ...(isFolder ? {} : { readFolder: oneFile(path) }),
  })
}

/** Loads them and shows what is wrong; gives nothing when any of it is an error. */
export async function loadPolicies(input: CommandInput, path: string): Promise<LoadedDefinitions | undefined> {
  const loaded = await readPolicies(input, path)
  return showDiagnostics(input, loaded.diagnostics) ? loaded : undefined
}

/** The files of scenarios in a folder, sorted. */
export function listTestFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => isTestFile(name) && !name.startsWith('.'))
    .sort()
    .map((name) => join(folder, name))
}

function oneFile(path: string): FolderReader {
  return { ...createDiskReader(dirname(path)), list: async () => [{ name: basename(path), kind: 'file' }] }
}
