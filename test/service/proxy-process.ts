import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { builtMain, compileCache } from '../built.ts'

/** `quorate proxy` as a process of its own. */
export interface ProxyProcess {
  readonly url: string
  readonly pid: number
  /** What it said on stderr up to now. */
  said(): string
  end(signal: NodeJS.Signals): Promise<void>
}

/** Starts a proxy on a folder, and waits until it answers. */
export async function startProxy(
  folder: string,
  baseUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ProxyProcess> {
  const args = ['proxy', '--json', '--folder', folder, '--base-url', baseUrl]
  const child = spawn(process.execPath, [builtMain(), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...compileCache(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (part) => {
    said += part
  })
  const exit = once(child, 'exit')
  const [line] = await Promise.race([once(child.stdout, 'data'), exit])
  if (!(line instanceof Buffer)) throw new Error(`it did not start: ${said}`)
  const { authProxyUrl, pid } = JSON.parse(String(line)) as { authProxyUrl?: string; pid: number }
  if (authProxyUrl === undefined) throw new Error(`it did not start: ${line}`)
  return {
    ...{ url: authProxyUrl, pid, said: () => said },
    async end(signal) {
      child.kill(signal)
      await exit
    },
  }
}
