import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createDiskReader, isTestFile, LOCK_FILE, readLock, writeLock } from '../../definitions/index.ts'
import { type Diagnostic, EXIT, type ExitCode, hasErrors, QuorateError } from '../../diagnostics/index.ts'
import { type Imported, type ImportInput, importDefinitions } from '../../import/index.ts'
import { kindsMentioned, readActual } from '../../live/index.ts'
import { reader, wantedOf } from '../../operations/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { assertNoKeys, writeText } from '../files.ts'
import { importInside, joinLocks } from '../importing-inside.ts'
import { writeJson } from '../io.ts'
import { signLock } from '../lock-signature.ts'
import { loadFolder, outsideOf } from '../planning.ts'
import { line } from '../screen.ts'
import { showDiagnostics } from '../views/diagnostics.ts'

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
  const lockFolder = place.embedded ? settings.dataDir : folder
  const oldLock = await readLock(lockFolder)
  if (hasErrors(oldLock.diagnostics)) return refuse(input, oldLock.diagnostics)
  const client = reader(place)
  const mentioned = desired ? { mentioned: kindsMentioned(desired) } : {}
  const subOrganizations = desired ? wantedOf(desired, oldLock.lock) : []
  const actual = await readActual(client, {
    everything: true,
    ...mentioned,
    ...(subOrganizations.length > 0 ? { subOrganizations } : {}),
  })
  const common = { reader: createDiskReader(folder), ...outsideOf(input, place.embedded), baseUrl: place.baseUrl }
  const own: ImportInput = {
    ...common,
    folder,
    ...(loaded && desired ? { loaded: { ...loaded, desired } } : {}),
    actual,
    lock: oldLock.lock,
    now: new Date().toISOString(),
  }
  const outer = await importDefinitions(own)
  const inside: Imported[] = []
  if (input.options['subOrganizations'])
    for await (const one of importInside({ ...own, loaded, client })) inside.push(one)
  const imports = [outer, ...inside]
  const diagnostics = imports.flatMap((one) => one.diagnostics)
  if (hasErrors(diagnostics)) return refuse(input, diagnostics)
  for (const [path, text] of imports.flatMap(({ files }) => [...files])) {
    mkdirSync(dirname(path), { recursive: true })
    writeText(path, text)
  }
  const locks = inside.map(({ lock }) => lock)
  const lock = joinLocks(outer.lock, locks, place.organizationId)
  const signature = place.embedded ? undefined : await signLock(lock, place)
  await writeLock(lockFolder, lock, { check: assertNoKeys, signature })
  present(input, imports)
  return EXIT.done
}

function hasDefinitions(folder: string): boolean {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.some((name) => /\.ya?ml$/.test(name) && !name.startsWith('.') && name !== LOCK_FILE && !isTestFile(name))
}

function refuse(input: CommandInput, diagnostics: readonly Diagnostic[]): ExitCode {
  showDiagnostics(input, diagnostics)
  return EXIT.error
}

function present({ io, json, args }: CommandInput, imports: readonly Imported[]): void {
  const written = imports.flatMap(({ files }) => [...files.keys()])
  const leftOut = imports.flatMap((one) => one.leftOut)
  if (json) {
    writeJson(io, { written, leftOut })
    return
  }
  for (const file of written) io.out(line`${file}\n`)
  if (leftOut.length > 0) io.say('Live and in no definition:\n')
  for (const { address, id, reason } of leftOut) {
    io.say(line`  ${address}  ${io.style.dim(id)}${reason === undefined ? '' : `  ${reason}`}\n`)
  }
  const next = `\`quorate plan ${args[0]}\` has nothing to change.`
  io.say(written.length === 0 ? line`Nothing differs; ${next}\n` : line`Review and commit these; ${next}\n`)
}
