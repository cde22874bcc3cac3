import type { LoadedDefinitions } from '../definitions/index.ts'
import { type GivenValues, loadFolder } from '../operations/index.ts'
import type { CommandInput } from './command.ts'
import { parseVars, readValues } from './values.ts'

/** The values of `${env.…}` and `${var.…}`: what was given, over what `up` made for the embedded organization. */
export function givenValues({ settings, environment, options }: CommandInput, embedded: boolean): GivenValues {
  const made = embedded ? readValues(settings.dataDir) : { env: {}, vars: {} }
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined))
  return {
    env: { ...made.env, ...given },
    vars: { ...made.vars, ...parseVars((options['var'] as string[] | undefined) ?? []) },
  }
}

/** Loads a folder of definitions with the values that the command line gives. */
export function loadGivenFolder(
  input: CommandInput,
  folder: string,
  embedded: boolean,
  options: Parameters<typeof loadFolder>[2] = {},
): Promise<LoadedDefinitions> {
  return loadFolder(folder, givenValues(input, embedded), options)
}
