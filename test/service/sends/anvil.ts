import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

/** A node of its own, on a free port of this machine; ended with `stop`. */
export interface Anvil {
  readonly url: string
  rpc<Result = unknown>(method: string, ...parameters: readonly unknown[]): Promise<Result>
  /** Gives an address so many ether. */
  fund(address: string, ether: number): Promise<void>
  /** Ends it at once, as a crash would; with a state file it can be started again. */
  kill(): Promise<void>
}

export interface AnvilOptions {
  /** @default 11155111, that of Sepolia: the API has a name for it */
  readonly chainId?: number
  /** @default a block for each transaction, at once */
  readonly mining?: 'on-request' | { readonly everySeconds: number }
  readonly port?: number
  /** Where the chain is kept while the node is not running. */
  readonly stateFile?: string
}

/** The binary itself: ending npm's wrapper would leave the node running. */
export function anvilBinary(): string {
  const platform = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[process.platform as 'linux']
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch
  const require = createRequire(import.meta.url)
  return require.resolve(`@foundry-rs/anvil-${platform}-${cpu}/bin/anvil`)
}

export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const { chainId = 11_155_111, mining, port = 0, stateFile } = options
  const child: ChildProcess = spawn(
    anvilBinary(),
    [
      ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), '--accounts', '1'],
      ...(mining === 'on-request' ? ['--no-mining'] : []),
      ...(typeof mining === 'object' ? ['--block-time', String(mining.everySeconds)] : []),
      ...(stateFile === undefined ? [] : ['--state', stateFile, '--state-interval', '1']),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const url = `http://${await listening(child)}`
  let id = 0
  const rpc = async <Result>(method: string, ...params: readonly unknown[]): Promise<Result> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const answer = (await response.json()) as { result: Result; error?: { message: string } }
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result
  }
  return {
    url,
    rpc,
    async fund(address, ether) {
      await rpc('anvil_setBalance', address, `0x${(BigInt(ether) * 10n ** 18n).toString(16)}`)
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const kept = stateFile === undefined ? undefined : await wholeState(stateFile)
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      // One that dies while it writes leaves a part of its state and would not start again: it is as if it had not begun to write.
      if (kept !== undefined && readState(stateFile!) === undefined) writeFileSync(stateFile!, kept)
    },
  }
}

/** The state as it was last written to its end; undefined where it was never written. */
async function wholeState(path: string): Promise<string | undefined> {
  for (let tries = 0; existsSync(path) && tries < 500; tries++) {
    const text = readState(path)
    if (text !== undefined) return text
    await pause(10)
  }
  return undefined
}

function readState(path: string): string | undefined {
  const text = readFileSync(path, 'utf8')
  try {
    JSON.parse(text)
    return text
  } catch {
    return undefined
  }
}

async function listening(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! })
  for await (const line of lines) {
    const [, address] = /^Listening on (\S+)/.exec(line) ?? []
    if (address !== undefined) {
      child.stdout!.resume()
      return address
    }
  }
  throw new Error('anvil ended before it listened')
}
