/** What every place of a plan store keeps, whichever it is: its folder, PostgreSQL, S3. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { programFile } from '../programs.ts'
import { createPlaces, isThere, PLACES, recordsOf, S3_CREDENTIALS } from './store-places.ts'

const places = createPlaces()
beforeAll(() => {
  for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value)
})
afterAll(async () => {
  await places.close()
  vi.unstubAllEnvs()
})

const id = (n: number) => String(n).padStart(64, '0')
const MACHINES = 8
const NAMES = 6

/** Runs a machine as a process; `go` lets it begin. */
async function startMachine(folder: string, mine: string) {
  const child = spawn(
    process.execPath,
    [programFile('test/activities/store-process.ts'), folder, mine, String(NAMES)],
    {
      env: { ...process.env, ...S3_CREDENTIALS },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return async () => {
    child.stdin.write('go\n')
    const { value } = await lines.next()
    if (child.exitCode === null) await once(child, 'exit')
    return JSON.parse(value as string) as readonly string[]
  }
}

describe.each(PLACES.filter(isThere))('a plan store in %s', (place) => {
  test('of eight machines that claim the same at once one wins, for all of them; what each writes is kept or replaced, never lost', async () => {
    const store = await places.begin(place)
    const folders = [await store.machine()]
    for (let more = 1; more < MACHINES; more++) folders.push(await store.machine())
    const machines = await Promise.all(folders.map((folder, at) => startMachine(folder, `machine ${at}`)))
    const found = await Promise.all(machines.map((go) => go()))
    for (let name = 0; name < NAMES; name++) {
      expect(new Set(found.map((names) => names[name])).size).toBe(1)
      expect(found[0]![name]).toMatch(/^machine [0-7]$/)
    }
    const records = recordsOf(folders[0]!)
    for (let name = 0; name < NAMES; name++) {
      expect(await records.read(join(folders[0]!, 'send-progress', id(name)))).toMatch(/^machine [0-7]$/)
      const written = await store.raw.read(`send-progress/${id(name)}`)
      // Where machines share it, each replaced just what it had read: eight writes are eight versions.
      if (store.url !== undefined) expect(written).toMatch(/\nquorate-mac\/2 8 /)
    }
  })

  test('a shelf is listed whole, over its pages, and what was taken away by its machine is not on it', async () => {
    const store = await places.begin(place)
    const folder = await store.machine()
    const records = recordsOf(folder)
    const shelf = join(folder, 'run-unlocked')
    for (let n = 0; n < 7; n++) await records.claim(join(shelf, id(n)), String(n))
    await records.claim(join(folder, 'runs', id(9)), 'on another shelf')
    expect([...(await recordsOf(folder).list(shelf))].sort()).toEqual([0, 1, 2, 3, 4, 5, 6].map(id))
    await records.remove(join(shelf, id(3)))
    await records.remove(join(shelf, id(3)))
    expect(await records.read(join(shelf, id(3)))).toBeUndefined()
    expect([...(await recordsOf(folder).list(shelf))].sort()).toEqual([0, 1, 2, 4, 5, 6].map(id))
    await records.claim(join(shelf, id(3)), 'again')
    expect(await recordsOf(folder).read(join(shelf, id(3)))).toBe('again')
  })

  test('what may replace a record is decided by what it replaces, and not by what was there before', async () => {
    const store = await places.begin(place)
    const [one, other] = [await store.machine(), await store.machine()]
    const pathOf = (folder: string) => join(folder, 'send-progress', id(1))
    await recordsOf(one).write(pathOf(one), 'broadcasting')
    const [first, second] = [recordsOf(one), recordsOf(other)]
    const isOpen = (before: string | undefined) => before === 'broadcasting'
    expect(await second.read(pathOf(other))).toBe('broadcasting')
    await first.write(pathOf(one), 'included', isOpen)
    await second.write(pathOf(other), 'submitting', isOpen)
    expect(await second.read(pathOf(other))).toBe('included')
    expect(await first.read(pathOf(one))).toBe('included')
  })

  test('a record that was changed, taken away or put back from before is told from one that was made', async () => {
    const store = await places.begin(place)
    const folder = await store.machine()
    const [spent, progress] = [`spent/${id(1)}`, `send-progress/${id(1)}`]
    const records = recordsOf(folder)
    await records.claim(join(folder, spent), 'run-1')
    await records.write(join(folder, progress), 'first')
    const before = (await store.raw.read(progress))!
    await records.write(join(folder, progress), 'second')
    await store.raw.write(progress, before)
    await expect(recordsOf(folder).read(join(folder, progress))).rejects.toMatchObject({ code: 'apply/record-refused' })
    await store.raw.write(spent, ((await store.raw.read(spent)) ?? '').replace('run-1', 'run-2'))
    await expect(recordsOf(folder).read(join(folder, spent))).rejects.toMatchObject({ code: 'apply/record-refused' })
    await store.raw.remove(spent)
    const again = recordsOf(folder)
    for (const look of [
      () => again.read(join(folder, spent)),
      () => again.claim(join(folder, spent), 'run-3'),
      () => again.list(join(folder, 'spent')),
    ])
      await expect(look()).rejects.toMatchObject({ code: 'apply/record-missing' })
  })
})

describe.runIf(isThere('PostgreSQL'))('a plan store in PostgreSQL', () => {
  test('a server that is away is not known to lack a record, and once it is back has what was answered', async () => {
    const store = await places.begin('PostgreSQL')
    const folder = await store.machine()
    const records = recordsOf(folder)
    const path = join(folder, 'spent', id(1))
    await records.claim(path, 'run-1')
    const server = await places.postgres()
    const seen = Promise.withResolvers<void>()
    const back = server.crash(seen.promise)
    await expect
      .poll(
        () =>
          records.read(path).then(
            (text) => text,
            (error: unknown) => (error as { code: string }).code,
          ),
        { interval: 20 },
      )
      .toBe('apply/store-failed')
    seen.resolve()
    await back
    expect(await records.read(path)).toBe('run-1')
  })
})

// By hand another server may stand in the bucket's place, and its faults cannot be made.
describe.skipIf(process.env['QUORATE_TEST_S3'])('a plan store in S3', () => {
  test('a write whose answer is lost is done once, and its writer knows that it is its own', async () => {
    const store = await places.begin('S3')
    const folder = await store.machine()
    const records = recordsOf(folder)
    const server = await places.s3()
    const path = join(folder, 'send-progress', id(1))
    await records.write(path, 'first')
    server.losing = 1
    const asked = server.asked.length
    await records.write(path, 'second')
    expect(server.losing).toBe(0)
    expect(server.asked.slice(asked).filter((one) => one.startsWith('PUT')).length).toBeLessThanOrEqual(2)
    expect(await store.raw.read(`send-progress/${id(1)}`)).toMatch(/^second\nquorate-mac\/2 2 /)
    const claimed = join(folder, 'spent', id(1))
    server.losing = 1
    await records.claim(claimed, 'run-1')
    expect(await records.read(claimed)).toBe('run-1')
  })

  test.each([
    { name: 'is busy', code: 'SlowDown', status: 503 },
    { name: 'breaks', code: 'InternalError', status: 500 },
    { name: 'has no such bucket', code: 'NoSuchBucket', status: 404 },
    { name: 'refuses', code: 'AccessDenied', status: 403 },
  ])('a server that $name says nothing about what is there', async ({ code, status }) => {
    const store = await places.begin('S3')
    const folder = await store.machine()
    const records = recordsOf(folder)
    const path = join(folder, 'spent', id(1))
    expect(await records.read(path)).toBeUndefined()
    const server = await places.s3()
    server.failing = { count: 100, code, status }
    try {
      await expect(records.read(path)).rejects.toMatchObject({ code: 'apply/store-failed' })
      await expect(records.claim(path, 'run-1')).rejects.toMatchObject({ code: 'apply/store-failed' })
    } finally {
      server.failing.count = 0
    }
    await records.claim(path, 'run-1')
    expect(await records.read(path)).toBe('run-1')
  })

  test('a server that does not answer leaves it unknown whether a record was written', async () => {
    const store = await places.begin('S3')
    const folder = await store.machine()
    const records = recordsOf(folder)
    const server = await places.s3()
    const path = join(folder, 'spent', id(1))
    expect(await records.read(path)).toBeUndefined()
    server.hangs = true
    try {
      await expect(records.read(path)).rejects.toMatchObject({
        code: 'apply/store-failed',
        facts: { reason: expect.stringContaining('no answer') },
      })
    } finally {
      server.hangs = false
    }
  })

  test('a server that ignores the conditions of writes is refused before a record is written', async () => {
    const store = await places.begin('S3')
    const server = await places.s3()
    server.ignoresConditions = true
    try {
      const before = server.objects.size
      await expect(store.machine()).rejects.toMatchObject({ code: 'apply/store-place' })
      expect(server.objects.size - before).toBe(1)
    } finally {
      server.ignoresConditions = false
    }
  })

  test('a listing that breaks off on its second page is no short listing', async () => {
    const store = await places.begin('S3')
    const folder = await store.machine()
    const records = recordsOf(folder)
    const shelf = join(folder, 'run-unlocked')
    for (let n = 0; n < 5; n++) await records.claim(join(shelf, id(n)), String(n))
    const server = await places.s3()
    expect(await records.list(shelf)).toHaveLength(5)
    server.onAsked = (asked) => {
      if (asked.includes('continuation-token')) server.failing = { count: 100, status: 500, code: 'InternalError' }
    }
    try {
      await expect(records.list(shelf)).rejects.toMatchObject({ code: 'apply/store-failed' })
    } finally {
      server.onAsked = undefined
      server.failing.count = 0
    }
  })
})
