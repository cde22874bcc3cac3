/**
 * What becomes of a log is no reason to hold up or to end the service: a full disk, a pipe without a reader, a reader that
 * has stopped. What could not be written is counted, and said once when it can be again.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { createLogSink } from '../../src/telemetry/index.ts'
import { builtMain } from '../built.ts'
import { testFolder } from '../cli/harness.ts'
import { createSmallDisk } from '../service/small-disk.ts'

/** Serves a folder with this as stderr, and waits until it answers. */
async function serve(stderr: number | 'pipe', args: readonly string[] = []) {
  const child = spawn(
    process.execPath,
    [builtMain(), 'serve', '--json', '--folder', join(testFolder(), 'service'), ...args],
    {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      stdio: ['ignore', 'pipe', stderr],
    },
  )
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  const [line] = (await Promise.race([once(child.stdout!, 'data'), exit])) as [Buffer]
  const { baseUrl } = JSON.parse(String(line)) as { baseUrl: string }
  return {
    child,
    /** Asks so often that what is logged of it fits into no pipe; gives how many were answered. */
    async ask(times: number): Promise<number> {
      let answered = 0
      const one = async () => {
        for (let i = 0; i < times / 20; i++) {
          const response = await fetch(`${baseUrl}/public/v1/query/whoami`, { method: 'POST', body: '{}' })
          await response.text()
          if (response.status === 401) answered += 1
        }
      }
      await Promise.all(Array.from({ length: 20 }, one))
      return answered
    },
    /** Ends it as an operator would; gives its exit code. */
    async end(): Promise<number | null> {
      child.kill('SIGTERM')
      return (await exit)[0]
    },
  }
}

/** A named pipe that is held open, and read only when asked. */
function makePipe() {
  const path = join(testFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(fd))
  const read = () => {
    const bytes = Buffer.alloc(65_536)
    try {
      return bytes.toString('utf8', 0, readSync(fd, bytes))
    } catch {
      return ''
    }
  }
  return { path, fd, read }
}

describe('logs: the service goes on answering, and hears SIGTERM', () => {
  test('logs: with stderr on a full disk', async () => {
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const serving = await serve(full)
    expect(await serving.ask(200)).toBe(200)
    expect(await serving.end()).toBe(0)
  })

  test('logs: with a file on a full disk', async () => {
    const serving = await serve('pipe', ['--log-file', '/dev/full'])
    expect(await serving.ask(200)).toBe(200)
    expect(await serving.end()).toBe(0)
  })

  test('logs: with a pipe whose reader has gone', async () => {
    const serving = await serve('pipe')
    serving.child.stderr!.destroy()
    expect(await serving.ask(200)).toBe(200)
    expect(await serving.end()).toBe(0)
  })

  test('logs: with a socket that nobody reads', async () => {
    const serving = await serve('pipe')
    serving.child.stderr!.pause()
    expect(await serving.ask(2_000)).toBe(2_000)
    expect(await serving.end()).toBe(0)
  })

  test('logs: with a pipe that nobody reads', async () => {
    const serving = await serve(makePipe().fd)
    expect(await serving.ask(1_000)).toBe(1_000)
    expect(await serving.end()).toBe(0)
  })

  test('logs: with a file that is a named pipe which nobody has opened', async () => {
    const path = join(testFolder(), 'pipe')
    execFileSync('mkfifo', [path])
    const serving = await serve('pipe', ['--log-file', path])
    expect(await serving.ask(200)).toBe(200)
    expect(await serving.end()).toBe(0)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'logs: while their disk is full, and lines come again when it has room (needs root)',
    async () => {
      const disk = createSmallDisk('64k')
      onTestFinished(() => disk.remove())
      const path = join(disk.folder, 'service.log')
      const serving = await serve('pipe', ['--log-file', path])
      expect(await serving.ask(1_000)).toBe(1_000)
      disk.grow()
      expect(await serving.ask(20)).toBe(20)
      expect(await serving.end()).toBe(0)
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
      expect(lines.map((line) => JSON.parse(line).msg).filter((said) => said === 'request')).toHaveLength(1_020)
    },
  )

  test('logs: a file that cannot be opened is refused by name', async () => {
    const folder = testFolder()
    const child = spawn(process.execPath, [
      builtMain(),
      'serve',
      '--folder',
      folder,
      '--log-file',
      join(folder, 'no/such.log'),
    ])
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (part) => {
      said += part
    })
    const [exit] = await once(child, 'close')
    expect([exit, said]).toEqual([1, expect.stringContaining('--log-file')])
    expect(said).toContain('ENOENT')
  })

  test('logs: with --json they are on stderr, and stdout has its one line alone', async () => {
    const serving = await serve('pipe')
    let [data, log] = ['', '']
    serving.child.stdout!.on('data', (part) => {
      data += part
    })
    serving.child.stderr!.on('data', (part) => {
      log += part
    })
    await serving.ask(20)
    expect(await serving.end()).toBe(0)
    expect(data).toBe('')
    expect(log.split('\n').filter((line) => line.includes('"msg":"request"'))).toHaveLength(20)
  })
})

describe('the sink of a log', () => {
  let end: (() => Promise<void>) | undefined
  afterEach(async () => {
    await end?.()
    end = undefined
  })
  const open = (target: number | string, maxBytes = 4_000) => {
    const sink = createLogSink(target, { tellLost: (count) => `lost ${count}\n`, maxBytes, retryMs: 5 })
    end = () => sink.close()
    return sink
  }
  const soon = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms))

  test('logs: lines keep their order and come whole, whatever the pipe takes at once', async () => {
    const pipe = makePipe()
    const sink = open(pipe.path, 1_000_000)
    const lines = Array.from({ length: 3_000 }, (_, index) => `${index} ${'x'.repeat(index % 200)}\n`)
    let got = ''
    for (const line of lines) {
      sink.write(line)
      if (Number(line.split(' ', 1)) % 10 > 0) continue
      await soon(0)
      if (Number(line.split(' ', 1)) % 100 === 0) got += pipe.read()
    }
    while (!got.endsWith(lines.at(-1)!)) {
      got += pipe.read()
      await soon(1)
    }
    expect(sink.lost()).toBe(0)
    expect(got === lines.join('')).toBe(true)
  })

  test('logs: what does not fit is counted, and said once when there is room', async () => {
    const pipe = makePipe()
    // As much as the pipe takes: the sink finds it full.
    const stuffed = writeUntilFull(pipe.path)
    const sink = open(pipe.path)
    const line = `${'y'.repeat(99)}\n`
    for (let i = 0; i < 100; i++) sink.write(line)
    await soon()
    expect(sink.lost()).toBe(60)
    let got = ''
    while (!got.includes('lost')) {
      got += pipe.read()
      await soon(5)
    }
    sink.write('after\n')
    while (!got.includes('after')) {
      got += pipe.read()
      await soon(5)
    }
    expect(got.slice(stuffed)).toBe(`${line.repeat(40)}lost 60\nafter\n`)
  })

  test('logs: a disk that is full for ever costs memory up to the bound', async () => {
    const sink = open('/dev/full')
    for (let i = 0; i < 1_000; i++) sink.write(`${'z'.repeat(99)}\n`)
    await soon()
    expect(sink.lost()).toBe(960)
  })

  test('logs: a file is added to, never written over', async () => {
    const path = join(testFolder(), 'log')
    writeFileSync(path, 'before\n')
    const sink = open(path)
    sink.write('after\n')
    await sink.close()
    expect(readFileSync(path, 'utf8')).toBe('before\nafter\n')
  })
})

/** Gives how many bytes a pipe took until it was full. */
function writeUntilFull(path: string): number {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  let written = 0
  try {
    for (;;) written += writeSync(fd, 'p'.repeat(4_096))
  } catch {
    closeSync(fd)
    return written
  }
}
