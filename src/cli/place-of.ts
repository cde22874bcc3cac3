/** Where a command works on what somebody has written: a new service has a new organization, and that is not the one of an old plan or definitions. */
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { DATA_DIR } from '../config/index.ts'
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { assertFolder, type Place } from '../operations/index.ts'
import { bootstrapOrganization, bootstrapPath } from './background/bootstrap.ts'
import { findPlace } from './background/connect.ts'
import { askBackground } from './background/control.ts'
import type { CommandInput } from './command.ts'
import { loadGivenFolder } from './given.ts'
import { shellWord } from './views/shell-word.ts'

/**
 * Where a command works on definitions. Before anything is brought up it is told that their folder is not there
 * (`cli/no-definitions`), or that they are of an organization that a new service would not have (`cli/no-service-here`).
 */
export async function findPlaceOf(input: CommandInput, folder: string | undefined): Promise<Place> {
  if (folder === undefined) return findPlace(input)
  assertFolder(folder)
  await assertOwnService(input, async () => (await loadGivenFolder(input, folder, true)).desired?.organizationId)
  return findPlace(input)
}

/**
 * Throws `cli/no-service-here`, before anything is started, where an organization is asked for and the data folder has no service
 * yet: it lives elsewhere, such as in the data folder of a folder above, which is named then.
 */
export async function assertOwnService(
  { settings, environment }: Pick<CommandInput, 'settings' | 'environment'>,
  findWanted: () => Promise<string | undefined>,
): Promise<void> {
  const { baseUrl, dataDir } = settings
  // A database may have a service of which the folder knows nothing.
  if (baseUrl !== undefined || existsSync(bootstrapPath(dataDir)) || environment['DATABASE_URL'] !== undefined) return
  if ((await askBackground(dataDir, 'status')) !== undefined) return
  const wanted = await findWanted()
  if (wanted === undefined) return
  const above = foldersAbove(process.cwd()).find((folder) => organizationIn(join(folder, DATA_DIR)) === wanted)
  throw new QuorateError(
    'cli/no-service-here',
    `no service is in \`${dataDir}\`, and a new one would have a new organization`,
    {
      exit: EXIT.error,
      facts: { organization: wanted, submitted: 'nothing' },
      next:
        above === undefined
          ? 'run this where that organization was made, or give its data folder with --data-dir; for one that lives elsewhere give --base-url and --organization-id'
          : `give --data-dir ${shellWord(relative(process.cwd(), join(above, DATA_DIR)))}, or run this in ${shellWord(above)}`,
    },
  )
}

/** The organization of the service in a data folder; undefined where there is none, or it cannot be trusted or read. */
function organizationIn(dataDir: string): string | undefined {
  try {
    return bootstrapOrganization(dataDir)
  } catch {
    return undefined
  }
}

function foldersAbove(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [] : [above, ...foldersAbove(above)]
}
