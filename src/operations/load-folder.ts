import { existsSync, statSync } from 'node:fs'
import { type LoadedDefinitions, type LoadOptions, loadDefinitions, withHelp } from '../definitions/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import type { Desired } from '../resources/index.ts'
import type { Place } from './place.ts'

/** The values of `${env.…}` and `${var.…}` that the caller gives. */
export type GivenValues = Pick<LoadOptions, 'env' | 'vars'>

/** Throws `cli/no-definitions` where no folder is. */
export function assertFolder(folder: string): void {
  if (existsSync(folder) && statSync(folder).isDirectory()) return
  throw new QuorateError('cli/no-definitions', `expected \`${folder}\` to be a folder of definitions`, {
    next: 'name the folder, or make one with `quorate init FOLDER`',
  })
}

/** Loads a folder of definitions, with what is wrong with them and what to do about each. Throws `cli/no-definitions`. */
export async function loadFolder(
  folder: string,
  given: GivenValues,
  options: Pick<LoadOptions, 'namesOnly'> = {},
): Promise<LoadedDefinitions> {
  assertFolder(folder)
  const loaded = await loadDefinitions(folder, { ...given, ...options })
  return { ...loaded, diagnostics: loaded.diagnostics.map(withHelp) }
}

/** Throws `cli/other-organization` for definitions of another organization than the settings name. */
export function assertSameOrganization(
  desired: Desired,
  { organizationId }: Place,
  { undone, next }: { readonly undone: 'submitted' | 'written'; readonly next: string },
): void {
  if (desired.organizationId === organizationId) return
  throw new QuorateError('cli/other-organization', 'the definitions belong to another organization', {
    facts: { definitions: desired.organizationId, settings: organizationId, [undone]: 'nothing' },
    next,
  })
}
