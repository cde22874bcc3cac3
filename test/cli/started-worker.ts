import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { builtMain, compileCache } from '../built.ts'

export interface StartedWorker {
  /** Ends it as a machine that is switched off would. */
  kill(): Promise<void>
  /** What it has logged so far. */
  log(): string
}

/** Starts `quorate worker` as a process of its own, which is killed with the test at the latest; resolves once it has said something. */
export async function startWorker(env: Readonly<Record<string, string>>): Promise<StartedWorker> {
  const worker = spawn(process.execPath, [builtMain(), 'worker', '--json'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...compileCache(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  worker.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
    process.stderr.write(text)
  })
  const exit = once(worker, 'exit')
  const kill = async () => {
    worker.kill('SIGKILL')
    await exit
  }
  onTestFinished(kill)
  await once(worker.stdout, 'data')
  return { kill, log: () => log }
}
