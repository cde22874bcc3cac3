/** Starts that fail: told as what they are, with a next step, and nothing that was started is left. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { quorate, type Ran, testFolder } from '../cli/harness.ts'
import { createSmallDisk } from '../service/small-disk.ts'
import { noOtherQuorate, otherUserHome, quorateScript, runAsOtherUser } from './other-user.ts'

const asRoot = process.getuid?.() === 0

/** What a command said of why it did not start. */
function errorOf({ stdout, exit }: Pick<Ran, 'stdout' | 'exit'>): { code: string; message: string; next?: string } {
  expect(exit).toBe(1)
  return JSON.parse(stdout).error
}

const serveIn = (folder: string, ...more: string[]) => quorate(['serve', '--json', '--folder', folder, ...more])

describe('what the system refuses', () => {
  test.skipIf(!asRoot)('a full disk is a full disk, and the start goes on once there is room', async () => {
    const disk = createSmallDisk('64k')
    onTestFinished(() => disk.remove())
    writeFileSync(join(disk.folder, 'filling'), Buffer.alloc(56 * 1024))
    const folder = join(disk.folder, 'data')
    const error = errorOf(await serveIn(folder))
    expect(error).toMatchObject({ code: 'local/disk-full', next: expect.stringContaining('make room') })
    expect(error.message).toContain(folder)
  })

  test.skipIf(!asRoot)('a file system that can only be read is named as that', async () => {
    const disk = createSmallDisk()
    onTestFinished(() => disk.remove())
    execFileSync('mount', ['-o', 'remount,ro', disk.folder])
    expect(errorOf(await serveIn(join(disk.folder, 'data')))).toMatchObject({ code: 'local/read-only' })
    expect(errorOf(await serveIn(disk.folder))).toMatchObject({ code: 'local/read-only' })
  })

  test('a port that is taken is named, and nothing is left of the start', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(async () => void taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const folder = testFolder()
    const error = errorOf(await serveIn(folder, '--port', String(port)))
    expect(error).toMatchObject({ code: 'local/address-in-use', next: expect.stringContaining('give another port') })
    expect(readdirSync(folder).filter((name) => name.startsWith('run'))).toEqual(['run'])
    expect(readdirSync(join(folder, 'run'))).toEqual([])
  })

  test.skipIf(noOtherQuorate)('a folder in which this user may not write is named', async () => {
    const folder = testFolder()
    chmodSync(folder, 0o755)
    const home = otherUserHome()
    onTestFinished(() => rmSync(home, { recursive: true }))
    const at = join(folder, 'data')
    for (const args of [
      ['serve', '--json', '--folder', at],
      ['up', '--json', '--data-dir', at],
    ]) {
      const { stdout, status } = await runAsOtherUser(quorateScript, { home, args })
      expect(errorOf({ stdout, exit: status })).toMatchObject({ code: 'local/denied', next: expect.any(String) })
    }
  })

  test('a path that cannot be a folder is named at once, also where it does not exist and cannot be made', async () => {
    const file = join(testFolder(), 'file')
    writeFileSync(file, '')
    const places = ['/dev/full', file, join(file, 'data'), ...(process.platform === 'linux' ? ['/proc/quorate'] : [])]
    for (const place of places) {
      expect(errorOf(await serveIn(place))).toMatchObject({ code: 'local/no-folder', next: expect.any(String) })
    }
    const up = await quorate(['up', '--json', '--data-dir', places.at(-1)!])
    expect(errorOf(up)).toMatchObject({ code: 'local/no-folder' })
  })
})

describe('the plan store', () => {
  test('a file of it that others may write, or that is a link, is not believed', async () => {
    const folder = testFolder()
    const store = createPlanStore(join(folder, 'plans'))
    const fingerprint = await store.putBody('{"type":"…"}')
    expect(await store.getBody(fingerprint)).toBe('{"type":"…"}')
    const [name] = readdirSync(join(folder, 'plans', 'bodies'))
    const path = join(folder, 'plans', 'bodies', name!)
    chmodSync(path, 0o666)
    await expect(store.getBody(fingerprint)).rejects.toMatchObject({ code: 'apply/store-failed' })
    chmodSync(path, 0o600)
    execFileSync('sh', ['-c', `mv ${path} ${path}.elsewhere && ln -s ${path}.elsewhere ${path}`])
    await expect(store.getBody(fingerprint)).rejects.toMatchObject({ code: 'apply/store-failed' })
  })

  test('a shelf that others may write takes nothing', async () => {
    const folder = testFolder()
    mkdirSync(join(folder, 'plans', 'bodies'), { recursive: true })
    chmodSync(join(folder, 'plans', 'bodies'), 0o777)
    await expect(createPlanStore(join(folder, 'plans')).putBody('{}')).rejects.toMatchObject({
      code: 'apply/store-failed',
      next: expect.stringContaining('chmod 700'),
    })
  })
})

describe('the background process', () => {
  test('two commands at once end with one, and down leaves nothing', async () => {
    const dataDir = testFolder()
    const up = () => quorate(['up', '--json', '--data-dir', dataDir])
    onTestFinished(async () => void (await quorate(['down', '--data-dir', dataDir])))
    const both = await Promise.all([up(), up()])
    const [first, second] = both.map(({ stdout }) => JSON.parse(stdout))
    expect(second.pid).toBe(first.pid)
    const down = await quorate(['down', '--json', '--data-dir', dataDir])
    expect(JSON.parse(down.stdout)).toEqual({ stopped: true, pid: first.pid })
    expect(() => process.kill(first.pid, 0)).toThrow('ESRCH')
    expect(JSON.parse((await quorate(['down', '--json', '--data-dir', dataDir])).stdout)).toEqual({ stopped: false })
  })
})
