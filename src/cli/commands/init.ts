import { readdirSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { renderSchema } from '../../definitions/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { SCHEMA_FILE } from '../../import/index.ts'
import { readActual } from '../../live/index.ts'
import { ensureFolder } from '../../local/index.ts'
import { reader } from '../../operations/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { assertNoKeys, writeNew } from '../files.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { firstDefinitions } from '../views/first-definitions.ts'

/** Writes first definitions for the live organization: its id, its quorum and a place for everything else. */
export async function init(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const folder = args[0]!
  const there = statSync(folder, { throwIfNoEntry: false })
  if (there && !(there.isDirectory() && readdirSync(folder).length === 0)) {
    throw new QuorateError('cli/exists', `expected \`${folder}\` not to exist or to be an empty folder`, {
      next: 'choose another folder',
    })
  }
  // Before the API is asked: that it cannot be made needs no answer.
  ensureFolder(folder)
  const actual = await readActual(reader(await findPlace(input))).catch((error: unknown) => {
    // Nothing was written: no folder is left either.
    if (!there) rmdirSync(folder)
    throw error
  })
  const file = join(folder, 'organization.yaml')
  const text = firstDefinitions(actual)
  assertNoKeys(file, text)
  writeNew(file, text)
  const schema = join(folder, SCHEMA_FILE)
  writeNew(schema, renderSchema())
  if (json) writeJson(io, { written: [file, schema], organizationId: actual.organizationId })
  else
    io.say(
      line`Wrote ${file}, and ${schema} for your editor. Add users, policies and wallets, then run \`quorate plan ${folder}\`.\n`,
    )
  return EXIT.done
}
