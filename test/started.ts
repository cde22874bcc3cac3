/** A command of the build as a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { builtMain, compileCache } from './built.ts'
import { temporaryFolder } from './scratch.ts'

export interface Started {
  /** Its first words on stdout, as JSON. Throws with what it said on stderr where it ends before them. */
  words(): Promise<unknown>
  /** What it said on stderr up to now. */
  said(): string
  end(signal: NodeJS.Signals): Promise<void>
}

/** Starts one with the environment that is given and nothing of this process's own but what a program needs to run. */
export function startBuilt(args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  const child = spawn(process.execPath, [builtMain(), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...temporaryFolder(), ...compileCache(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (part) => {
    said += part
  })
  const exit = once(child, 'exit')
  const first = Promise.race([once(child.stdout, 'data'), exit])
  return {
    async words() {
      const [line] = await first
      if (!(line instanceof Buffer)) throw new Error(`it did not start: ${said}`)
      return JSON.parse(String(line))
    },
    said: () => said,
    async end(signal) {
      child.kill(signal)
      await exit
    },
  }
}
