/** Toxiproxy: a network between two processes that cuts, holds, limits and slows what passes, as it is told. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { choosePorts } from '../../src/loopback/index.ts'

const binary = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'quorate/toxiproxy-2.5.0/server')

/** Whether `.ci/run`, or somebody, has put it into the cache folder. */
export const hasToxiproxy = existsSync(binary)

/** One fault of a network; its attributes are Toxiproxy's. */
export interface Toxic {
  readonly type: 'latency' | 'timeout' | 'reset_peer' | 'limit_data' | 'slow_close' | 'bandwidth'
  readonly stream: 'upstream' | 'downstream'
  readonly attributes: Readonly<Record<string, number>>
}

/** A request is carried out, and its answer breaks off. */
export const LOSES_ANSWERS: Toxic = { type: 'limit_data', stream: 'downstream', attributes: { bytes: 300 } }

/** What networks do. */
export const CUTS: readonly Toxic[] = [
  { type: 'reset_peer', stream: 'downstream', attributes: { timeout: 0 } },
  { type: 'reset_peer', stream: 'upstream', attributes: { timeout: 20 } },
  { type: 'limit_data', stream: 'downstream', attributes: { bytes: 700 } },
  { type: 'timeout', stream: 'downstream', attributes: { timeout: 300 } },
  { type: 'slow_close', stream: 'downstream', attributes: { delay: 300 } },
  { type: 'latency', stream: 'upstream', attributes: { latency: 200, jitter: 150 } },
]

export interface ToxicLink {
  /** `127.0.0.1:port`, which stays. */
  readonly address: string
  /** Does so for a while. */
  suffer(toxic: Toxic, ms: number): Promise<void>
}

export interface Toxiproxy {
  link(name: string, upstream: string): Promise<ToxicLink>
  close(): Promise<void>
}

export async function startToxiproxy(): Promise<Toxiproxy> {
  const [port] = await choosePorts(1)
  const child = spawn(binary, ['-host', '127.0.0.1', '-port', String(port)], { stdio: 'ignore' })
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(`toxiproxy: ${method} ${path}: ${response.status} ${await response.text()}`)
    return response
  }
  while (!(await ask('GET', '/version').catch(() => undefined))) await delay(20)
  return {
    async link(name, upstream) {
      const listen = `127.0.0.1:${(await choosePorts(1))[0]}`
      await ask('POST', '/proxies', { name, listen, upstream, enabled: true })
      let toxics = 0
      return {
        address: listen,
        async suffer(toxic, ms) {
          const called = `${toxic.type}-${toxics++}`
          await ask('POST', `/proxies/${name}/toxics`, { ...toxic, name: called, toxicity: 1 })
          await delay(ms)
          await ask('DELETE', `/proxies/${name}/toxics/${called}`)
        },
      }
    },
    close: () => end(child),
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
