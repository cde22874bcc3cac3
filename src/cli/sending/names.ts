import type { Place } from '../../operations/index.ts'
import type { SendNames } from '../../sending/index.ts'
import type { CommandInput } from '../command.ts'
import { loadGivenFolder } from '../given.ts'
import { showDiagnostics } from '../views/diagnostics.ts'

/**
 * Reads the names of a folder of definitions, which has been said when it is wrong; without a folder there are none. Whoever pays or votes
 * needs no value that names do not want, such as the public keys of others.
 */
export async function readNames(
  input: CommandInput,
  place: Place,
  folder: string | undefined,
): Promise<SendNames | undefined> {
  if (folder === undefined) return { addressBook: {}, assets: {} }
  const { addressBook, assets, diagnostics } = await loadGivenFolder(input, folder, place.embedded, { namesOnly: true })
  return showDiagnostics(input, diagnostics) ? { addressBook, assets } : undefined
}
