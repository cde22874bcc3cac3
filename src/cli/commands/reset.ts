import { type Dirent, existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { readStorePlace } from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { type FolderLock, lockFolder } from '../../service/index.ts'
import { stopLeftOverTemporal } from '../background/embedded-temporal.ts'
import { askBackground, pidOf } from '../background/index.ts'
import type { CommandInput } from '../command.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** Every file that quorate itself writes into a data folder; anything else in it stays. */
const OWN = [
  /^service\/(quorate\.db|lock\.db)(-wal|-shm|-journal|\.new)?$/,
  /^service\/(lock\.pid|first-start|(master\.key(\.next)?|bootstrap\.json|operator\.json)(\.new)?)$/,
  /^service\/messages\/\d{16}-[0-9a-f-]{36}\.json(\.new)?$/,
  /^temporal\/(state\.db(-wal|-shm)?|server\.log|config\/(quorate|dynamic)\.yaml|certificates(\.new)?\/[a-z]+\.(pem|key))$/,
  /^(temporal|background)\.json$/,
  /^(former-)?temporal(-\d+)?\.db(-wal|-shm|\.log|\.open-runs\.txt)?$/,
  /^lock\.(db(-journal)?|pid)$/,
  /^(service\/)?run\/(background|operator)\.(sock|json(\.new)?)$/,
  // The shelves of the plan store, and what its records are known by.
  /^plans\.(key|place)(\.new)?$/,
  /^plans\/[a-z-]+\/[^/]+$/,
  /^plans\.names(\.\w+)?\/[^/]+$/,
  // A host or an organization whose processes take turns, and a slot of time, or how long the slots are to be.
  /^turns\/[\w.%-]+\/(\d+|every-\d+-\d+)$/,
  /^keys\/[^/]+\.json$/,
  // Private keys of rotations under way.
  /^rotation-keys\/[0-9a-f]+\.(new|old)\.key$/,
  // Copies of repositories that organizations are watched from.
  /^git\/[0-9a-f]{64}\/.+$/,
  /^incidents\/[0-9a-f]+-[0-9TZ]+\.md$/,
  /^(values\.json|compromised\.json|vote-reasons\.ndjson|command-orders\.ndjson|quorate\.lock\.yaml|background\.log|payload\.key)$/,
  // URLs of nodes may hold keys.
  /^(chains\.json|codec\.token)(\.new)?$/,
  /^\.gitignore$/,
]

/** Folders that are deleted once they are empty. */
const OWN_FOLDERS =
  /^(run|keys|incidents|rotation-keys|service(\/(run|messages))?|temporal(\/(config|certificates(\.new)?))?|plans(\/[a-z-]+|\.names(\.\w+)?)?|turns(\/[\w.%-]+)?|git(\/[0-9a-f]{64}(\/.+)?)?)$/

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
    const shared = readStorePlace(join(dataDir, 'plans'))
    if (shared) io.say(line`The plan store at ${shared.shown} stays as it is, for the machines that use it.\n`)
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
  return listEntries(folder, (entry) => !entry.isDirectory())
}

function listEntries(folder: string, which: (entry: Dirent) => boolean): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(which)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

/** Files by their top folder: `keys/ (2 files), values.json`. */
function summarize(names: readonly string[]): string {
  const tops = Map.groupBy(names, (name) => (name.includes('/') ? `${name.split('/')[0]}/` : name))
  return [...tops]
    .map(([top, all]) => (top.endsWith('/') ? `${top} (${all.length} ${all.length === 1 ? 'file' : 'files'})` : top))
    .join(', ')
}

async function assertNothingRuns(dataDir: string): Promise<void> {
  const background = await askBackground(dataDir, 'status')
  if (!background) return
  const pid = pidOf(background)
  throw new QuorateError('cli/background-runs', `process ${pid} works in \`${dataDir}\``, {
    facts: { pid, folder: dataDir },
    next: 'stop it with `quorate down`; nothing was deleted',
  })
}

/** Both locks are held all the while, so that nothing starts on what is half gone. */
async function removeAll(dataDir: string, names: readonly string[]): Promise<void> {
  const folders = [join(dataDir, 'service'), dataDir].filter((folder) => existsSync(folder))
  const locks: FolderLock[] = []
  try {
    for (const folder of folders) locks.push(await lockFolder(folder))
    await stopLeftOverTemporal(dataDir)
    for (const name of names) rmSync(join(dataDir, name), { force: true })
    // Made by taking the locks where there were none.
    for (const folder of folders)
      for (const name of ['lock.db', 'lock.pid']) rmSync(join(folder, name), { force: true })
  } finally {
    for (const lock of locks) lock.release()
  }
  const own = listEntries(dataDir, (entry) => entry.isDirectory()).filter((name) => OWN_FOLDERS.test(name))
  // Deepest first: a folder is empty once those in it are gone.
  for (const name of [...own.sort((a, b) => b.length - a.length), '.']) removeIfEmpty(join(dataDir, name))
}

function removeIfEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
}
