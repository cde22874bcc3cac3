import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { diskReader, isTestFile, LOCK_FILE, readLock, writeLock } from '../../definitions/index.ts'
import {
  type Diagnostic,
  EXIT,
  type ExitCode,
  hasErrors,
  QuorateError,
  renderDiagnostics,
} from '../../diagnostics/index.ts'
import { type Imported, importDefinitions } from '../../import/index.ts'
import { kindsMentioned, readActual } from '../../live/index.ts'
import type { CommandInput } from '../command.ts'
import { findPlace, reader } from '../connect.ts'
import { loadFolder, outsideOf } from '../planning.ts'
import { toDiagnosticJson } from '../views/diagnostics.ts'
import { writeText } from '../views/plan.ts'

/** Makes a folder of definitions follow the live organization. Its client can read and nothing else. */
export async function follow(input: CommandInput): Promise<ExitCode> {
  const { args, settings } = input
  const folder = join(args[0]!)
  const place = await findPlace(input)
  const loaded = hasDefinitions(folder) ? await loadFolder(input, folder, place.embedded) : undefined
  if (loaded && (hasErrors(loaded.diagnostics) || !loaded.desired)) return refuse(input, loaded.diagnostics)
  const desired = loaded?.desired
  if (desired && desired.organizationId !== place.organizationId) {
    throw new QuorateError('cli/other-organization', 'the definitions belong to another organization', {
      facts: { definitions: desired.organizationId, settings: place.organizationId, written: 'nothing' },
      next: 'name another folder, or correct the organization id in the settings',
    })
  }
  const mentioned = desired ? { mentioned: kindsMentioned(desired) } : {}
  const actual = await readActual(reader(place), { everything: true, ...mentioned })
  const lockFolder = place.embedded ? settings.dataDir : folder
  const oldLock = await readLock(lockFolder)
  if (hasErrors(oldLock.diagnostics)) return refuse(input, oldLock.diagnostics)
  const imported = await importDefinitions({
    folder,
    reader: diskReader,
    ...outsideOf(input, place.embedded),
    ...(loaded && desired ? { loaded: { ...loaded, desired } } : {}),
    actual,
    lock: oldLock.lock,
    baseUrl: place.baseUrl,
    now: new Date().toISOString(),
  })
  if (hasErrors(imported.diagnostics)) return refuse(input, imported.diagnostics)
  mkdirSync(folder, { recursive: true })
  for (const [path, text] of imported.files) writeText(path, text)
  await writeLock(lockFolder, imported.lock)
  present(input, imported)
  return EXIT.done
}

function hasDefinitions(folder: string): boolean {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.some((name) => /\.ya?ml$/.test(name) && !name.startsWith('.') && name !== LOCK_FILE && !isTestFile(name))
}

function refuse({ io, json }: CommandInput, diagnostics: readonly Diagnostic[]): ExitCode {
  if (json) io.out(`${JSON.stringify({ diagnostics: diagnostics.map(toDiagnosticJson) }, null, 2)}\n`)
  else io.say(renderDiagnostics(diagnostics, io.style))
  return EXIT.error
}

function present({ io, json, args }: CommandInput, { files, leftOut }: Imported): void {
  const written = [...files.keys()]
  if (json) {
    io.out(`${JSON.stringify({ written, leftOut }, null, 2)}\n`)
    return
  }
  for (const file of written) io.out(`${file}\n`)
  if (leftOut.length > 0) io.say('Live and in no definition:\n')
  for (const { address, id, reason } of leftOut) {
    io.say(`  ${address}  ${io.style.dim(id)}${reason === undefined ? '' : `  ${reason}`}\n`)
  }
  const next = `\`quorate plan ${args[0]}\` has nothing to change.`
  io.say(written.length === 0 ? `Nothing differs; ${next}\n` : `Review and commit these; ${next}\n`)
}
