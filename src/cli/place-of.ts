/** Where a command works on what somebody has written: a new service has a new organization, and that is not the one of an old plan or definitions. */
import { assertFolder, type Place, surveyDefinitions } from '../operations/index.ts'
import { type Doing, findPlace } from './background/connect.ts'
import { assertServiceHere, findAbove, isServiceHere, noServiceHere, type Wanted } from './background/index.ts'
import type { CommandInput } from './command.ts'
import { givenValues, loadGivenFolder } from './given.ts'

/**
 * Where a command works on definitions. It is told first that their folder is not there (`cli/no-definitions`), or that the data
 * folder has no service (`cli/no-service-here`), or, for what only looks, that it does not run (`cli/background-down`).
 */
export async function findPlaceOf(input: CommandInput, folder: string | undefined, doing: Doing = {}): Promise<Place> {
  if (folder === undefined) return findPlace(input, doing)
  assertFolder(folder)
  if (!(await isServiceHere(input))) await assertServiceHere(input, await wantedBy(input, folder))
  return findPlace(input, doing)
}

/**
 * Throws `cli/no-service-here` where `up` would begin a service although the definitions are of one that is in a data folder above.
 * Who names a data folder means that one.
 */
export async function assertNoneAbove(input: CommandInput, folder: string): Promise<void> {
  const isNamed = input.options['dataDir'] !== undefined || Boolean(input.environment['QUORATE_DATA_DIR'])
  if (isNamed || (await isServiceHere(input))) return
  const wanted = await wantedBy(input, folder)
  if (wanted.organizationId === undefined && wanted.idVariable === undefined) return
  const above = findAbove(wanted)
  if (above !== undefined) throw noServiceHere(input, wanted, above)
}

/** The organization that definitions are of, or the variable that does not say so. */
async function wantedBy(input: CommandInput, folder: string): Promise<Wanted> {
  const { idVariable } = surveyDefinitions(folder)
  if (idVariable !== undefined && givenValues(input, true).env[idVariable] === undefined) return { folder, idVariable }
  const { desired } = await loadGivenFolder(input, folder, true)
  return { folder, organizationId: desired?.organizationId ?? input.settings.organizationId }
}
