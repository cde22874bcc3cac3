import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { lockFolder } from '../../service/index.ts'
import { askBackground } from '../background/control.ts'
import { stopLeftOverTemporal } from '../background/embedded-temporal.ts'
import type { CommandInput } from '../command.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** Every file that quorate itself writes into a data folder; anything else in it stays. */
const OWN = [
  /^service\/(quorate\.db|lock\.db)(-wal|-shm|-journal|\.new)?$/,
  /^service\/(lock\.pid|(master\.key|bootstrap\.json|operator\.json)(\.new)?)$/,
  /^temporal\/(state\.db(-wal|-shm)?|server\.log|config\/(quorate|dynamic)\.yaml|certificates(\.new)?\/[a-z]+\.(pem|key))$/,
  /^temporal\.json$/,
  /^(former-)?temporal(-\d+)?\.db(-wal|-shm|\.log|\.open-runs\.txt)?$/,
  /^plans\/(plans|bodies|outcomes|spent)\/[^/]+$/,
  /^keys\/[^/]+\.json$/,
  /^(values\.json|quorate\.lock\.yaml|background\.log)$/,
]

/** Deletes the state in the data folder, after naming it, so that the next `up` begins anew. */
export async function reset(input: CommandInput): Promise<ExitCode> {
  const { io, json, settings } = input
  const { dataDir } = settings
  await assertNothingRuns(dataDir)
  const files = existsSync(dataDir) ? listFiles(dataDir) : []
  const own = files.filter((name) => OWN.some((pattern) => pattern.test(name)))
  const kept = files.filter((name) => !own.includes(name))
  if (own.length > 0) {
    io.say(line`This deletes from ${dataDir}: ${summarize(own)}.\n`)
    await assertConfirmed(input, { question: 'Delete it?', otherwise: 'nothing was deleted' })
    await removeAll(dataDir, own)
  }
  if (json) writeJson(io, { dataDir, deleted: own, kept })
  else {
    io.out(own.length === 0 ? `There is nothing to delete in ${dataDir}.\n` : line`Deleted ${own.length} files.\n`)
    if (kept.length > 0) io.say(line`Not quorate's, and still there: ${summarize(kept)}.\n`)
  }
  return EXIT.done
}

function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

/** Files by what stands at the top: `keys/ (2 files), values.json`. */
function summarize(names: readonly string[]): string {
  const tops = Map.groupBy(names, (name) => (name.includes('/') ? `${name.split('/')[0]}/` : name))
  return [...tops]
    .map(([top, all]) => (top.endsWith('/') ? `${top} (${all.length} ${all.length === 1 ? 'file' : 'files'})` : top))
    .join(', ')
}

async function assertNothingRuns(dataDir: string): Promise<void> {
  const background = await askBackground(dataDir, 'status')
  if (!background) return
  throw new QuorateError('cli/background-runs', `process ${background.pid} works in \`${dataDir}\``, {
    facts: { pid: background.pid, folder: dataDir },
    next: 'stop it with `quorate down`; nothing was deleted',
  })
}

/** The service's lock is held all the while, so that none starts on what is half gone. */
async function removeAll(dataDir: string, names: readonly string[]): Promise<void> {
  const service = join(dataDir, 'service')
  const lock = existsSync(service) ? await lockFolder(service) : undefined
  try {
    await stopLeftOverTemporal(dataDir)
    for (const name of names) rmSync(join(dataDir, name), { force: true })
  } finally {
    lock?.release()
  }
  for (const name of [
    'plans/plans',
    'plans/bodies',
    'plans/outcomes',
    'plans/spent',
    'plans',
    'keys',
    'service',
    'temporal/config',
    'temporal/certificates',
    'temporal/certificates.new',
    'temporal',
    '.',
  ]) {
    removeIfEmpty(join(dataDir, name))
  }
}

function removeIfEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
}
