/** Local sockets: who else lives on this machine neither answers for us nor stops us. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { askPrivately, listenPrivately } from '../../src/local/index.ts'
import { quorate, testFolder } from '../cli/harness.ts'
import {
  noOtherQuorate,
  noOtherUser,
  otherUserHome,
  quorateScript,
  runAsOtherUser,
  startAsOtherUser,
} from './other-user.ts'

/** Listens at a path for everybody, answers every line with the same text, and writes what it was told. */
const SQUATTER = `
import { appendFileSync, chmodSync } from 'node:fs'
import { createServer } from 'node:net'
const [path, text, heard] = process.argv.slice(2)
createServer((socket) => {
  socket.on('error', () => {})
  socket.on('data', (part) => {
    appendFileSync(heard, part)
    socket.end(text + '\\n')
  })
}).listen(path, () => {
  chmodSync(path, 0o777)
  console.log('squats')
})`

/** Another user listens at a path until the test ends; returns what it has heard so far. */
async function squat(path: string, text: object): Promise<() => string> {
  const home = otherUserHome()
  const heard = join(home, 'heard')
  const child = startAsOtherUser(SQUATTER, { home, args: [path, JSON.stringify(text), heard] })
  await once(child.stdout!, 'data')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
    rmSync(path, { force: true })
    rmSync(home, { recursive: true })
  })
  return () => (existsSync(heard) ? readFileSync(heard, 'utf8') : '')
}

/** The name that a data folder's socket had: anybody could work it out. */
const foreseeable = (prefix: string, dataDir: string) =>
  join(tmpdir(), `${prefix}${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}.sock`)

const evil = {
  pid: 4_000_000,
  startedAt: '2026-01-01T00:00:00Z',
  baseUrl: 'http://127.0.0.1:9',
  organizationId: '00000000-0000-4000-8000-000000000000',
  temporalAddress: '127.0.0.1:9',
}

describe('sockets of another user', () => {
  test.skipIf(noOtherUser)('one at the foreseeable name of the background process is not believed', async () => {
    const dataDir = testFolder()
    const heard = await squat(foreseeable('quorate-', dataDir), evil)
    const { stdout } = await quorate(['doctor', '--json', '--data-dir', dataDir])
    const findings = JSON.parse(stdout).findings as { check: string; found: string }[]
    expect(findings.find(({ check }) => check === 'background')!.found).toBe(`nothing runs for ${dataDir}`)
    expect(stdout).not.toContain(evil.baseUrl)
    expect(heard()).toBe('')
  })

  test.skipIf(noOtherQuorate)(
    'one at the foreseeable name of the operator stops no service and is not asked',
    async () => {
      const home = otherUserHome()
      const dataDir = join(home, 'data')
      // This test squats as root, whose socket nobody else can take away; the service is the other user's.
      let heard = ''
      const path = foreseeable('quorate-operator-', dataDir)
      const squatter = createServer((socket) =>
        socket.on('data', (part) => {
          heard += part
          socket.end(`${JSON.stringify({ state: { now: 1, aheadMs: 1, faults: [] } })}\n`)
        }),
      ).listen(path)
      await once(squatter, 'listening')
      chmodSync(path, 0o777)
      const service = startAsOtherUser(quorateScript, { home, args: ['serve', '--json', '--folder', dataDir] })
      const gone = once(service, 'exit')
      onTestFinished(async () => {
        squatter.close()
        service.kill()
        await gone
        rmSync(home, { recursive: true })
      })
      let said = ''
      service.stderr!.on('data', (part) => {
        said += part
      })
      const [ready] = await Promise.race([once(service.stdout!, 'data'), gone])
      expect(said).toBe('')
      expect(JSON.parse(String(ready))).toMatchObject({ ready: true })
      const clock = await runAsOtherUser(quorateScript, { home, args: ['clock', '--json', '--folder', dataDir] })
      expect(JSON.parse(clock.stdout)).toMatchObject({ aheadMs: 0 })
      expect(heard).toBe('')
    },
  )

  test.skipIf(noOtherUser)('a socket of another user is refused by name, also where the note leads to it', async () => {
    const dataDir = testFolder()
    const listener = await listenPrivately(dataDir, 'background', () => 'answered')
    const note = join(dataDir, 'run/background.json')
    const { secret } = JSON.parse(readFileSync(note, 'utf8'))
    await listener.close()
    const path = join(tmpdir(), `quorate-squatted-${process.pid}.sock`)
    const heard = await squat(path, evil)
    writeFileSync(note, JSON.stringify({ socket: path, secret }), { mode: 0o600 })
    await expect(askPrivately(dataDir, 'background', 'status')).rejects.toMatchObject({ code: 'local/exposed' })
    expect(heard()).toBe('')
  })

  test.skipIf(noOtherUser)('it cannot enter the folder of a socket, nor read the secret', async () => {
    const dataDir = testFolder()
    chmodSync(dataDir, 0o755)
    const listener = await listenPrivately(dataDir, 'background', () => 'answered')
    onTestFinished(() => listener.close())
    const home = otherUserHome()
    const child = startAsOtherUser(
      `import { readFileSync } from 'node:fs'
       import { createConnection } from 'node:net'
       try { readFileSync(process.argv[2] + '/background.json') } catch (error) { console.log(error.code) }
       createConnection(process.argv[2] + '/background.sock').on('error', (error) => console.log(error.code))`,
      { home, args: [join(dataDir, 'run')] },
    )
    let said = ''
    child.stdout!.on('data', (part) => {
      said += part
    })
    await once(child, 'close')
    rmSync(home, { recursive: true })
    expect(said).toBe('EACCES\nEACCES\n')
  })
})

describe('proof', () => {
  test('proof: who listens at the right place without the secret learns a nonce alone, and is not believed', async () => {
    const dataDir = testFolder()
    const listener = await listenPrivately(dataDir, 'background', () => 'answered')
    const note = readFileSync(join(dataDir, 'run/background.json'), 'utf8')
    await listener.close()
    writeFileSync(join(dataDir, 'run/background.json'), note, { mode: 0o600 })
    let heard = ''
    const squatter = createServer((socket) => {
      socket.on('data', (part) => {
        heard += part
        socket.write(`${JSON.stringify({ nonce: 'ab'.repeat(32), proof: 'cd'.repeat(32), text: '{}' })}\n`)
      })
    }).listen(JSON.parse(note).socket)
    await once(squatter, 'listening')
    chmodSync(JSON.parse(note).socket, 0o600)
    onTestFinished(async () => void squatter.close())
    await expect(askPrivately(dataDir, 'background', 'status')).rejects.toMatchObject({ code: 'local/not-proved' })
    expect(heard).toMatch(/^\{"nonce":"[0-9a-f]{64}"\}\n$/)
  })

  test('proof: who asks without the secret is not answered and moves nothing', async () => {
    const dataDir = testFolder()
    const asked: string[] = []
    const listener = await listenPrivately(dataDir, 'background', (word) => {
      asked.push(word)
      return 'answered'
    })
    onTestFinished(() => listener.close())
    const file = join(dataDir, 'run/background.json')
    const note = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...note, secret: 'ef'.repeat(32) }))
    await expect(askPrivately(dataDir, 'background', 'stop')).rejects.toMatchObject({ code: 'local/not-proved' })
    expect(asked).toEqual([])
    writeFileSync(file, JSON.stringify(note))
    expect(await askPrivately(dataDir, 'background', 'status')).toBe('answered')
    expect(asked).toEqual(['status'])
  })

  test('proof: each start has a secret of its own, and nothing is left when it ends', async () => {
    const dataDir = testFolder()
    const secrets = new Set<string>()
    for (let n = 0; n < 3; n++) {
      const listener = await listenPrivately(dataDir, 'background', () => 'answered')
      secrets.add(JSON.parse(readFileSync(join(dataDir, 'run/background.json'), 'utf8')).secret)
      await listener.close()
    }
    expect(secrets.size).toBe(3)
    expect(readdirSync(join(dataDir, 'run'))).toEqual([])
    expect(await askPrivately(dataDir, 'background', 'status')).toBeUndefined()
  })
})

describe('places', () => {
  test('place: of a folder with a long path, a new folder that its owner alone may enter, and it goes with the socket', async () => {
    const dataDir = join(testFolder(), 'a-long-name-'.repeat(12))
    mkdirSync(dataDir, { mode: 0o700 })
    const listener = await listenPrivately(dataDir, 'background', () => 'answered')
    const { socket } = JSON.parse(readFileSync(join(dataDir, 'run/background.json'), 'utf8'))
    expect(socket.length).toBeLessThan(104)
    expect(dirname(socket)).toMatch(/quorate-\w{6}$/)
    expect(lstatSync(dirname(socket)).mode & 0o777).toBe(0o700)
    expect(await askPrivately(dataDir, 'background', 'status')).toBe('answered')
    await listener.close()
    expect(existsSync(dirname(socket))).toBe(false)
  })

  test('place: sockets, secrets and their folder are their owner’s alone, whatever the umask', async () => {
    const dataDir = testFolder()
    const before = process.umask(0)
    const listener = await listenPrivately(dataDir, 'background', () => 'answered')
    process.umask(before)
    const modes = ['run', 'run/background.json', 'run/background.sock'].map((name) =>
      (lstatSync(join(dataDir, name)).mode & 0o777).toString(8),
    )
    expect(modes).toEqual(['700', '600', '600'])
    await listener.close()
  })

  test('place: who listens closes a folder of sockets that a copy has left open, and is asked there', async () => {
    const dataDir = testFolder()
    mkdirSync(join(dataDir, 'run'), { mode: 0o755 })
    const listener = await listenPrivately(dataDir, 'background', () => 'answered')
    onTestFinished(() => listener.close())
    expect(lstatSync(join(dataDir, 'run')).mode & 0o777).toBe(0o700)
    expect(await askPrivately(dataDir, 'background', 'status')).toBe('answered')
  })

  for (const [name, spoil] of [
    ['others may write the data folder', (dataDir: string) => chmodSync(dataDir, 0o777)],
    ['others may write the folder of sockets', (dataDir: string) => chmodSync(join(dataDir, 'run'), 0o770)],
    ['others may enter the folder of sockets', (dataDir: string) => chmodSync(join(dataDir, 'run'), 0o755)],
    ['others may read the secret', (dataDir: string) => chmodSync(join(dataDir, 'run/background.json'), 0o644)],
  ] as const) {
    test(`place: nobody is asked where ${name}`, async () => {
      const dataDir = mkdtempSync(join(testFolder(), 'data-'))
      const listener = await listenPrivately(dataDir, 'background', () => 'answered')
      onTestFinished(() => listener.close())
      spoil(dataDir)
      const refused = askPrivately(dataDir, 'background', 'stop')
      await expect(refused).rejects.toMatchObject({
        code: 'local/exposed',
        next: expect.stringMatching(/chmod [67]00/),
      })
    })
  }
})
