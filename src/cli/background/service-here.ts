/** Whether the data folder has a service, which `up` and `serve` alone begin, and where one is that may have been meant. */
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { DATA_DIR } from '../../config/index.ts'
import { EXIT, QuorateError } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { shellWord } from '../shell-word.ts'
import { readValues } from '../values.ts'
import { bootstrapOrganization, bootstrapPath } from './bootstrap.ts'
import { askBackground } from './control.ts'

/** What is looked for above. */
export interface Wanted {
  /** The organization that is asked for. @default any */
  readonly organizationId?: string | undefined
  /** The variable that is to give its id: a data folder that gives it the id of its own organization is meant. */
  readonly idVariable?: string | undefined
  /** The definitions: their folder and those above it are searched after those above the current one. */
  readonly folder?: string
}

/** Whether a command has a service to ask: a named one, or one of the data folder, whether it runs or not. */
export async function isServiceHere({
  settings: { baseUrl, dataDir },
  environment,
}: Pick<CommandInput, 'settings' | 'environment'>): Promise<boolean> {
  // A database may have a service of which the folder knows nothing.
  if (baseUrl !== undefined || existsSync(bootstrapPath(dataDir)) || environment['DATABASE_URL'] !== undefined)
    return true
  return (await askBackground(dataDir, 'status')) !== undefined
}

/** Throws `cli/no-service-here` where the data folder has no service: nothing is started. */
export async function assertServiceHere(
  input: Pick<CommandInput, 'settings' | 'environment'>,
  wanted: Wanted = { organizationId: input.settings.organizationId },
): Promise<void> {
  if (!(await isServiceHere(input))) throw noServiceHere(input, wanted, findAbove(wanted))
}

/** The error that says that no service is here; `above` is the data folder that may have been meant. */
export function noServiceHere(
  { settings: { dataDir } }: Pick<CommandInput, 'settings'>,
  { organizationId, idVariable, folder }: Wanted,
  above: string | undefined,
): QuorateError {
  const elsewhere =
    'run this where that organization was made, or give its data folder with --data-dir; for one that lives elsewhere give --base-url and --organization-id'
  const begin =
    folder !== undefined && idVariable !== undefined
      ? `\`quorate up ${shellWord(folder)}\` begins one; for an organization that is there already set ${idVariable}, or give its data folder with --data-dir`
      : 'give the data folder of the service that you mean with --data-dir, or --base-url and --organization-id; `quorate up` begins a new one'
  return new QuorateError(
    'cli/no-service-here',
    organizationId === undefined
      ? `no service is in \`${dataDir}\``
      : `no service is in \`${dataDir}\`, and a new one would have a new organization`,
    {
      exit: EXIT.error,
      facts: {
        ...(organizationId === undefined ? {} : { organization: organizationId }),
        ...(idVariable === undefined ? {} : { 'not set': idVariable }),
        ...(above === undefined ? {} : { 'a service is in': above }),
        started: 'nothing',
        submitted: 'nothing',
      },
      next:
        above !== undefined
          ? `give --data-dir ${shellWord(relative(process.cwd(), above))}, or run this in ${shellWord(dirname(above))}`
          : organizationId === undefined
            ? begin
            : elsewhere,
    },
  )
}

/** The nearest data folder in a folder above with the organization that is wanted. */
export function findAbove({ organizationId, idVariable, folder }: Wanted): string | undefined {
  const places = [
    ...foldersAbove(process.cwd()),
    ...(folder === undefined ? [] : [resolve(folder), ...foldersAbove(resolve(folder))]),
  ]
  const folders = places.map((one) => join(one, DATA_DIR))
  return folders.find((dataDir) => {
    const found = organizationIn(dataDir)
    if (found === undefined) return false
    if (organizationId !== undefined) return found === organizationId
    return idVariable === undefined || valueIn(dataDir, idVariable) === found
  })
}

/** The organization of the service in a data folder; undefined where there is none, or it cannot be trusted or read. */
function organizationIn(dataDir: string): string | undefined {
  try {
    return bootstrapOrganization(dataDir)
  } catch {
    return undefined
  }
}

/** What `up` has given a variable in a data folder. */
function valueIn(dataDir: string, name: string): string | undefined {
  try {
    return readValues(dataDir).env[name]
  } catch {
    return undefined
  }
}

function foldersAbove(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [] : [above, ...foldersAbove(above)]
}
