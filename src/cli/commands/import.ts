import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { type ImportResult, importFolder } from '../../operations/index.ts'
import type { CommandInput } from '../command.ts'
import { assertNoKeys, writeText } from '../files.ts'
import { givenValues } from '../given.ts'
import { writeJson } from '../io.ts'
import { findPlaceOf } from '../place-of.ts'
import { line } from '../screen.ts'
import { showDiagnostics } from '../views/diagnostics.ts'

/** Makes a folder of definitions follow the live organization. */
export async function follow(input: CommandInput): Promise<ExitCode> {
  const { args, settings, options } = input
  const folder = args[0]!
  const place = await findPlaceOf(input, existsSync(folder) ? folder : undefined)
  const result = await importFolder({
    folder: join(folder),
    place,
    given: givenValues(input, place.embedded),
    dataDir: settings.dataDir,
    isWhole: options['subOrganizations'] === true,
    write: writeText,
    check: assertNoKeys,
  })
  if (result.kind === 'refused') {
    showDiagnostics(input, result.diagnostics)
    return EXIT.error
  }
  present(input, result)
  return EXIT.done
}

function present(
  { io, json, args }: CommandInput,
  { files, leftOut }: Extract<ImportResult, { readonly kind: 'written' }>,
): void {
  if (json) {
    writeJson(io, { written: files, leftOut })
    return
  }
  for (const file of files) io.out(line`${file}\n`)
  if (leftOut.length > 0) io.say('Live and in no definition:\n')
  for (const { address, id, reason } of leftOut) {
    io.say(line`  ${address}  ${io.style.dim(id)}${reason === undefined ? '' : `  ${reason}`}\n`)
  }
  const next = `\`quorate plan ${args[0]}\` has nothing to change.`
  io.say(files.length === 0 ? line`Nothing differs; ${next}\n` : line`Review and commit these; ${next}\n`)
}
