/** Data folders: no start destroys a key, two services never share one, and what others may write or own is refused. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createService, lockFolder, restoreSnapshot, type ServiceError, saveSnapshot } from '../../src/service/index.ts'
import { testFolder } from '../cli/harness.ts'
import { startProcess, startRefused } from '../service/process.ts'
import { noOtherUser, otherUid, runAsOtherUser } from './other-user.ts'

/** A folder on which a service has run, and what its root key is. */
async function servedFolder(): Promise<{ readonly folder: string; readonly organizationId: string }> {
  const folder = testFolder()
  const service = await createService({ dataDir: folder })
  await service.close()
  return { folder, organizationId: service.bootstrap.organizationId }
}

/** Starts and ends a service; what it says of the start. */
async function start(folder: string): Promise<string> {
  const service = await createService({ dataDir: folder })
  await service.close()
  return service.bootstrap.organizationId
}

const refusalOf = (folder: string) =>
  start(folder).then(
    () => undefined,
    (error: ServiceError) => error,
  )

/** Every file with its bytes, without the note of who had the lock last. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => name !== 'lock.pid')
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'hex')]))
}

const FILES = ['quorate.db', 'master.key', 'bootstrap.json'] as const
const damaged = 'service/data-folder-damaged'
const incomplete = 'service/data-folder-incomplete'

describe('no start destroys a key', () => {
  const without = (...names: readonly string[]) => ({
    name: `without ${names.join(' and ')}`,
    code: incomplete,
    spoil: (folder: string) => {
      for (const name of names) rmSync(join(folder, name))
    },
  })
  const emptied = (name: string, code: string) => ({
    name: `with an empty ${name}`,
    code,
    spoil: (folder: string) => truncateSync(join(folder, name)),
  })
  const halved = (name: string, code: string) => ({
    name: `with half of ${name}`,
    code,
    spoil: (folder: string) => truncateSync(join(folder, name), Math.floor(lstatSync(join(folder, name)).size / 2)),
  })
  const fromOther = (name: string, code: string) => ({
    name: `with the ${name} of another organization`,
    code,
    spoil: async (folder: string) => copyFileSync(join((await servedFolder()).folder, name), join(folder, name)),
  })
  test.each([
    without('quorate.db'),
    without('master.key'),
    without('bootstrap.json'),
    without('quorate.db', 'master.key'),
    without('quorate.db', 'bootstrap.json'),
    without('master.key', 'bootstrap.json'),
    emptied('quorate.db', damaged),
    emptied('master.key', 'service/master-key-invalid'),
    emptied('bootstrap.json', damaged),
    halved('quorate.db', damaged),
    halved('master.key', 'service/master-key-invalid'),
    halved('bootstrap.json', damaged),
    fromOther('quorate.db', damaged),
    fromOther('master.key', 'service/seal-broken'),
    fromOther('bootstrap.json', damaged),
  ])('a folder $name is refused by name and nothing is written', async ({ spoil, code }) => {
    const { folder } = await servedFolder()
    await spoil(folder)
    const before = contents(folder)
    const refusal = await refusalOf(folder)
    expect(refusal).toMatchObject({ code, next: expect.any(String) })
    expect(contents(folder)).toEqual(before)
  })

  test('what was moved away is found again: the refused folder starts as it was', async () => {
    const { folder, organizationId } = await servedFolder()
    const away = join(testFolder(), 'quorate.db')
    const key = readFileSync(join(folder, 'bootstrap.json'), 'utf8')
    renameSync(join(folder, 'quorate.db'), away)
    rmSync(join(folder, 'lock.db'))
    expect(await refusalOf(folder)).toMatchObject({ code: incomplete })
    expect(existsSync(join(folder, 'lock.db'))).toBe(false)
    renameSync(away, join(folder, 'quorate.db'))
    expect(await start(folder)).toBe(organizationId)
    expect(JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8')).apiPrivateKey).toBe(
      JSON.parse(key).apiPrivateKey,
    )
  })

  for (const last of ['lock.pid', 'first-start', ...FILES]) {
    test(`a first start that was killed when ${last} was there is finished by the next`, async () => {
      const folder = testFolder()
      const starting = startProcess(folder).catch(() => undefined)
      while (!existsSync(join(folder, last)) && !existsSync(join(folder, 'bootstrap.json'))) await delay(1)
      process.kill(await pidIn(folder), 'SIGKILL')
      await starting
      const organizationId = await start(folder)
      expect(existsSync(join(folder, 'first-start'))).toBe(false)
      expect(await start(folder)).toBe(organizationId)
    })
  }

  test('whatever a first start had made when it ended is made anew, as long as its mark is there', async () => {
    const { folder } = await servedFolder()
    for (const kept of [[], ['master.key'], ['master.key', 'bootstrap.json'], ['quorate.db']]) {
      const begun = testFolder()
      writeFileSync(join(begun, 'first-start'), '', { mode: 0o600 })
      // An empty file is what is left where the database was opened and nothing was committed.
      for (const name of kept) {
        if (name === 'quorate.db') writeFileSync(join(begun, name), '', { mode: 0o600 })
        else copyFileSync(join(folder, name), join(begun, name))
      }
      expect(await start(begun)).toMatch(/^[0-9a-f-]{36}$/)
      expect(existsSync(join(begun, 'first-start'))).toBe(false)
    }
  })

  test('a mark beside a committed organization changes nothing of it', async () => {
    const { folder, organizationId } = await servedFolder()
    const key = JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8')).apiPrivateKey
    writeFileSync(join(folder, 'first-start'), '', { mode: 0o600 })
    expect(await start(folder)).toBe(organizationId)
    expect(JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8')).apiPrivateKey).toBe(key)
  })

  test('a snapshot restored over a folder that lacks its database brings everything back', async () => {
    const { folder, organizationId } = await servedFolder()
    const file = join(testFolder(), 'saved')
    await saveSnapshot(folder, file)
    rmSync(join(folder, 'quorate.db'))
    await restoreSnapshot(folder, file)
    expect(await start(folder)).toBe(organizationId)
  })
})

async function pidIn(folder: string): Promise<number> {
  for (;;) {
    const text = existsSync(join(folder, 'lock.pid')) ? readFileSync(join(folder, 'lock.pid'), 'utf8') : ''
    if (/^\d+\n$/.test(text)) return Number(text)
    await delay(1)
  }
}

describe('two services on one folder', () => {
  test('a second one is refused also when the lock’s files were removed, and so is what replaces the data', async () => {
    const folder = testFolder()
    const first = await startProcess(folder)
    try {
      const file = join(testFolder(), 'saved')
      await saveSnapshot(folder, file)
      rmSync(join(folder, 'lock.db'))
      const { exitCode, stderr } = await startRefused(folder)
      expect(stderr).toContain('service/data-folder-in-use')
      expect(stderr).toContain(`in use by process ${first.pid}`)
      expect(exitCode).toBe(1)
      rmSync(join(folder, 'lock.db'))
      await expect(restoreSnapshot(folder, file)).rejects.toMatchObject({ code: 'service/data-folder-in-use' })
    } finally {
      await first.end('SIGTERM')
    }
    await start(folder)
  })

  test('a lock whose file was replaced is no lock', async () => {
    const folder = testFolder()
    const lock = await lockFolder(folder)
    renameSync(join(folder, 'lock.db'), join(folder, 'gone'))
    expect(() => lock.assertHeld()).toThrow('is in use by another process')
    writeFileSync(join(folder, 'lock.db'), '', { mode: 0o600 })
    expect(() => lock.assertHeld()).toThrow('is in use by another process')
    lock.release()
  })

  test.skipIf(noOtherUser)('another user cannot hold the lock', async () => {
    const { folder } = await servedFolder()
    chmodSync(folder, 0o755)
    // As an earlier version left it: readable by everybody.
    chmodSync(join(folder, 'lock.db'), 0o644)
    await start(folder)
    expect(lstatSync(join(folder, 'lock.db')).mode & 0o777).toBe(0o600)
    const { stdout } = await runAsOtherUser(
      `import { DatabaseSync } from 'node:sqlite'
       try { new DatabaseSync(process.argv[2], { readOnly: true }).exec('begin; select 1 from sqlite_schema') }
       catch (error) { console.log(error.message) }`,
      { args: [join(folder, 'lock.db')] },
    )
    expect(stdout).toBe('unable to open database file\n')
  })
})

describe('owner, mode and links', () => {
  const at = (name: string, spoil: (path: string) => void) => (folder: string) => spoil(join(folder, name))
  const linked = (path: string) => {
    renameSync(path, `${path}.elsewhere`)
    symlinkSync(`${path}.elsewhere`, path)
  }
  const master = 'service/master-key-exposed'
  test.each([
    { name: 'a data folder that others may write', spoil: at('.', (path) => chmodSync(path, 0o777)) },
    { name: 'a data folder that its group may write', spoil: at('.', (path) => chmodSync(path, 0o770)) },
    {
      name: 'a master key that others may read',
      spoil: at('master.key', (path) => chmodSync(path, 0o604)),
      code: master,
    },
    { name: 'a master key that is a link', spoil: at('master.key', linked), code: master },
    { name: 'a master key of two names', spoil: at('master.key', (path) => linkSync(path, `${path}.2`)), code: master },
    { name: 'a root key that others may read', spoil: at('bootstrap.json', (path) => chmodSync(path, 0o644)) },
    { name: 'a root key that is a link', spoil: at('bootstrap.json', linked) },
    { name: 'a root key of two names', spoil: at('bootstrap.json', (path) => linkSync(path, `${path}.2`)) },
    { name: 'a database that others may write', spoil: at('quorate.db', (path) => chmodSync(path, 0o666)) },
    { name: 'a database that is a link', spoil: at('quorate.db', linked) },
    { name: 'a lock that others may write', spoil: at('lock.db', (path) => chmodSync(path, 0o622)) },
  ])('$name is refused, and the command that is named mends it', async ({ spoil, code = 'local/exposed' }) => {
    const { folder, organizationId } = await servedFolder()
    spoil(folder)
    const refusal = (await refusalOf(folder))!
    expect(refusal).toMatchObject({ code })
    execFileSync('sh', ['-c', /`([^`]+)`/.exec(refusal.next!)![1]!])
    expect(await start(folder)).toBe(organizationId)
  })

  for (const name of ['.', ...FILES, 'lock.db']) {
    test.skipIf(noOtherUser)(`what another user owns is refused by name: ${name}`, async () => {
      const { folder } = await servedFolder()
      chownSync(join(folder, name), otherUid, otherUid)
      const refusal = await refusalOf(folder)
      expect(refusal).toMatchObject({ code: expect.stringMatching(/exposed$/), next: expect.stringContaining('chown') })
      expect(refusal!.message).toContain(`it belongs to user ${otherUid}`)
    })
  }

  test('what quorate makes is its owner’s alone, whatever the umask', async () => {
    const folder = join(testFolder(), 'new', 'data')
    const process_ = await startProcess(folder, { under: ['sh', '-c', 'umask 0; exec "$@"', 'sh'] })
    try {
      const modes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
        const stats = lstatSync(join(folder, name))
        return [name, (stats.mode & 0o777).toString(8), stats.isDirectory() ? '700' : '600']
      })
      expect(modes.length).toBeGreaterThan(6)
      expect(modes.filter(([, mode, expected]) => mode !== expected)).toEqual([])
      expect(lstatSync(folder).mode & 0o777).toBe(0o700)
    } finally {
      await process_.end('SIGTERM')
    }
  })
})

test('a snapshot is made under names that nobody can foresee: what others put beside it is left alone', async () => {
  const { folder } = await servedFolder()
  const place = testFolder()
  const names = ['copy.new', 'copy.new-journal', 'copy.new-wal', 'copy.new-shm']
  for (const name of names) writeFileSync(join(place, name), 'of somebody else')
  await saveSnapshot(folder, join(place, 'copy'))
  expect(readdirSync(place).sort()).toEqual(['copy', ...names].sort())
  for (const name of names) expect(readFileSync(join(place, name), 'utf8')).toBe('of somebody else')
  expect(lstatSync(join(place, 'copy')).mode & 0o777).toBe(0o600)
})

test('a snapshot that others may read, write or point elsewhere is not restored, and nothing is waited for', async () => {
  const { folder } = await servedFolder()
  const place = testFolder()
  const saved = join(place, 'saved')
  await saveSnapshot(folder, saved)
  const copy = (name: string, mode: number) => {
    copyFileSync(saved, join(place, name))
    chmodSync(join(place, name), mode)
  }
  copy('read', 0o644)
  copy('write', 0o620)
  symlinkSync(saved, join(place, 'link'))
  copy('linked', 0o600)
  linkSync(join(place, 'linked'), join(place, 'other name'))
  execFileSync('mkfifo', ['-m', '600', join(place, 'pipe')])
  const codes = { read: 'local/exposed', write: 'local/exposed', link: 'local/exposed', linked: 'local/exposed' }
  for (const [name, code] of Object.entries({ ...codes, pipe: 'service/snapshot-invalid' })) {
    const target = join(place, `of ${name}`)
    await expect(restoreSnapshot(target, join(place, name))).rejects.toMatchObject({ code })
    expect(existsSync(target)).toBe(false)
  }
  await restoreSnapshot(join(place, 'good'), saved)
})
