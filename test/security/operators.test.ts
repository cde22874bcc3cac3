/** Whoever runs a service sees whether it can do its work, and what it does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ServiceOptions } from '../../src/service/index.ts'
import { quorate, testFolder } from '../cli/harness.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { createSmallDisk, type SmallDisk } from '../service/small-disk.ts'

const WHOAMI = '/public/v1/query/whoami'

async function start(options: Partial<ServiceOptions> = {}): Promise<TestService> {
  const service = await startTestService(options)
  onTestFinished(() => service.close())
  return service
}

async function ready(url: string): Promise<{ readonly status: number; readonly reasons?: readonly string[] }> {
  const response = await fetch(`${url}/readyz`)
  const { reasons } = (await response.json()) as { reasons?: readonly string[] }
  return { status: response.status, ...(reasons && { reasons }) }
}

/** The status of a submit, and of a query, that would be carried out. */
async function ask(service: TestService): Promise<{ readonly submit: number; readonly query: number }> {
  const { path, text } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: newName(), userIds: [] })
  const submitted = await service.root.raw(path, text)
  if (submitted.status !== 200) {
    expect(submitted.body).toMatchObject({ code: 14, message: 'service unavailable', turnkeyErrorCode: '' })
  }
  const body = JSON.stringify({ organizationId: service.organizationId })
  return { submit: submitted.status, query: (await service.root.raw(WHOAMI, body)).status }
}

let names = 0
const newName = () => `tag ${names++}`

/** Runs `quorate serve --json`, and gives what it says when it answers. */
async function serve(args: readonly string[]) {
  const main = join(import.meta.dirname, '../../src/cli/main.ts')
  const child = spawn(process.execPath, [main, 'serve', '--json', '--folder', join(testFolder(), 'service'), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  const [line] = (await Promise.race([once(child.stdout, 'data'), exit])) as [Buffer]
  return JSON.parse(String(line)) as { readonly baseUrl: string }
}

describe('operators: readiness', () => {
  test('operators: a service that takes submits is ready, and asking so often costs one commit in a while', async () => {
    const service = await start()
    expect(await ask(service)).toEqual({ submit: 200, query: 200 })
    for (let i = 0; i < 20; i++) expect(await ready(service.url)).toEqual({ status: 200 })
    expect((await fetch(`${service.url}/readyz`)).headers.get('cache-control')).toBe('no-store')
  })

  test('operators: below the watermark submits are refused to be sent again, queries and liveness go on', async () => {
    const service = await start({ diskWatermark: { percent: 100 } })
    expect(await ask(service)).toEqual({ submit: 503, query: 200 })
    expect(await ready(service.url)).toEqual({ status: 503, reasons: ['disk-below-watermark'] })
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  })

  test('operators: a data folder that is gone takes no submit that nobody would find again', async () => {
    const service = await start()
    expect(await ready(service.url)).toEqual({ status: 200 })
    rmSync(service.dataDir, { recursive: true })
    await expect.poll(() => ask(service)).toEqual({ submit: 503, query: 200 })
    expect((await ready(service.url)).reasons).toContain('data-folder-unreachable')
  })

  test('operators: a service that ends is not ready while it finishes a submit: it takes no connection', async () => {
    const asked = Promise.withResolvers<void>()
    const found = Promise.withResolvers<readonly string[]>()
    const resolveHost = () => {
      asked.resolve()
      return found.promise
    }
    const service = await start({ resolveHost })
    const url = 'https://slow.test/'
    const submitted = service.root.submit('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', { url, name: 'w' })
    await asked.promise
    const closed = service.service.close()
    await expect(fetch(`${service.url}/readyz`)).rejects.toThrow('fetch failed')
    found.resolve(['1.1.1.1'])
    expect((await submitted).status).toBe('ACTIVITY_STATUS_COMPLETED')
    await closed
  })

  test('operators: the watermark is set as bytes or as a share; anything else is no number', async () => {
    const low = await serve(['--disk-watermark', '100%'])
    expect(await ready(low.baseUrl)).toEqual({ status: 503, reasons: ['disk-below-watermark'] })
    for (const wrong of ['101%', '-1', '64m', '%', '']) {
      const { exit, stderr } = await quorate(['serve', '--disk-watermark', wrong, '--folder', join(testFolder(), 'x')])
      expect(exit).toBe(1)
      expect(stderr).toContain('expected --disk-watermark to be bytes or a share such as 5%')
    }
  })
})

describe.skipIf(process.getuid?.() !== 0)('operators: a small disk (needs root for a tmpfs)', () => {
  function smallDisk(): SmallDisk {
    const disk = createSmallDisk('16m')
    onTestFinished(() => disk.remove())
    return disk
  }
  const fill = ({ folder }: SmallDisk, left: number) => {
    const { bavail, bsize } = statfsSync(folder)
    writeFileSync(join(folder, 'filling'), Buffer.alloc(bavail * bsize - left))
  }

  test('operators: submits are refused before the disk is full, and taken again when there is room', async () => {
    const disk = smallDisk()
    const service = await start({ dataDir: join(disk.folder, 'data'), diskWatermark: { bytes: 4_194_304 } })
    expect([await ask(service), await ready(service.url)]).toEqual([{ submit: 200, query: 200 }, { status: 200 }])
    fill(disk, 4_000_000)
    await expect.poll(() => ready(service.url)).toEqual({ status: 503, reasons: ['disk-below-watermark'] })
    expect(await ask(service)).toEqual({ submit: 503, query: 200 })
    // There is room for what the service itself writes.
    const { bavail, bsize } = statfsSync(disk.folder)
    expect(bavail * bsize).toBeGreaterThan(3_000_000)
    rmSync(join(disk.folder, 'filling'))
    await expect.poll(() => ready(service.url)).toEqual({ status: 200 })
    expect(await ask(service)).toEqual({ submit: 200, query: 200 })
  })

  test('operators: a store that cannot be written is not ready while nobody submits, and is again with room', async () => {
    const disk = smallDisk()
    const service = await start({ dataDir: join(disk.folder, 'data'), diskWatermark: { bytes: 0 } })
    fill(disk, 0)
    await expect
      .poll(() => ready(service.url), { timeout: 20_000, interval: 500 })
      .toEqual({ status: 503, reasons: ['store-not-writable'] })
    expect((await ask(service)).submit).toBe(503)
    rmSync(join(disk.folder, 'filling'))
    await expect.poll(() => ready(service.url), { timeout: 20_000, interval: 500 }).toEqual({ status: 200 })
    expect(await ask(service)).toEqual({ submit: 200, query: 200 })
  })
})
