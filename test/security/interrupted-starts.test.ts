/** A start that somebody ends half way, at whatever point: nothing is left running, and the next start finds a whole folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { builtMain, compileCache } from '../built.ts'
import { quorate, testFolder } from '../cli/harness.ts'

/** Starts a command, ends it by a signal as soon as a file is there, and gives what became of it. */
async function interrupted(args: readonly string[], { when, by }: { when: string; by: NodeJS.Signals }) {
  const child = spawn(process.execPath, [builtMain(), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], CI: 'true', ...compileCache() },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part))
  while (!existsSync(when) && child.exitCode === null) await delay(1)
  child.kill(by)
  await once(child, 'close')
  return { said, exit: child.exitCode, signal: child.signalCode }
}

const isAlive = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** What a start must never make anew. */
function keyOf(folder: string) {
  const file = join(folder, 'bootstrap.json')
  if (!existsSync(file)) return undefined
  const { organizationId, apiPrivateKey } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  return [organizationId, apiPrivateKey]
}

describe('serve', () => {
  test.each([
    ['lock.pid', 'SIGTERM'],
    ['master.key', 'SIGINT'],
    ['quorate.db', 'SIGTERM'],
    ['bootstrap.json', 'SIGINT'],
  ] as const)('ended when `%s` has just been made, by %s, leaves a folder that starts', async (name, by) => {
    const folder = join(testFolder(), 'data')
    await interrupted(['serve', '--json', '--folder', folder], { when: join(folder, name), by })
    const before = keyOf(folder)
    const ready = await interrupted(['serve', '--json', '--folder', folder], {
      when: join(folder, 'run/operator.json'),
      by,
    })
    // It was let go on to its end, which is to close: a start that was refused would say why.
    expect(ready.said).not.toContain('"error"')
    expect(keyOf(folder)).toEqual(before ?? keyOf(folder))
  })
})

describe('up', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('ended by %s while it comes up leaves nothing that runs', async (by) => {
    const dataDir = join(testFolder(), 'data')
    onTestFinished(async () => void (await quorate(['down', '--data-dir', dataDir])))
    const up = ['up', '--json', '--data-dir', dataDir]
    const { said, exit } = await interrupted(up, { when: join(dataDir, 'temporal.json'), by })
    const pids = [join(dataDir, 'lock.pid'), join(dataDir, 'temporal.json')].flatMap((file) =>
      existsSync(file)
        ? [Number(/\d+/.exec(/"pid":\s*(\d+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? readFileSync(file, 'utf8'))![0])]
        : [],
    )
    expect(pids.filter(isAlive)).toEqual([])
    expect(exit).toBe(1)
    expect(said).toContain('was stopped while it came up')
    expect(JSON.parse((await quorate(['down', '--json', '--data-dir', dataDir])).stdout)).toEqual({ stopped: false })
    // Once is enough: it is the same folder whichever signal came.
    if (by === 'SIGINT') expect((await quorate(up)).exit).toBe(0)
  })
})

describe.skipIf(process.platform === 'win32')('a service without a file descriptor left', () => {
  test('goes on: who is connected is answered, and everybody once there is room again', async () => {
    const folder = join(testFolder(), 'data')
    const serve = `ulimit -n 60; exec "$0" "$@"`
    const args = ['-c', serve, process.execPath, builtMain(), 'serve', '--json', '--folder', folder]
    const child: ChildProcess = spawn('/bin/sh', args, {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...compileCache() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'exit')
    onTestFinished(async () => {
      child.kill('SIGTERM')
      await ended
    })
    const [line] = await Promise.race([once(child.stdout!, 'data'), ended])
    const { baseUrl } = JSON.parse(String(line)) as { baseUrl: string }
    const { hostname, port } = new URL(baseUrl)
    const ask = (socket: Socket) =>
      new Promise<string>((resolve) => {
        socket.once('data', (part) => resolve(String(part).split('\r\n')[0]!))
        socket.once('close', () => resolve('closed'))
        socket.write(`GET /healthz HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
      })
    const open = () => {
      const socket = connect(Number(port), hostname).on('error', () => {})
      return new Promise<Socket>((resolve) => socket.once('connect', () => resolve(socket)))
    }
    const first = await open()
    expect(await ask(first)).toBe('HTTP/1.1 200 OK')
    const many = await Promise.all(Array.from({ length: 100 }, open))
    const answers = await Promise.all(many.map(ask))
    // More were refused than its limit leaves, and none of them hangs.
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 200 OK', 'closed']))
    expect(await ask(first)).toBe('HTTP/1.1 200 OK')
    for (const socket of many) socket.destroy()
    await expect.poll(async () => ask(await open())).toBe('HTTP/1.1 200 OK')
    first.destroy()
    expect(child.exitCode).toBeNull()
  })
})
