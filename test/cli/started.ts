import { spawn } from 'node:child_process'
import { builtMain, compileCache } from '../built.ts'

/** A command that goes on while the test does something: what it says, and its end. */
export function startCommand(
  args: readonly string[],
  { env, home, cwd }: { readonly env: Readonly<Record<string, string>>; readonly home: string; readonly cwd?: string },
) {
  const child = spawn(process.execPath, [builtMain(), ...args], {
    env: { PATH: process.env['PATH'], HOME: home, CI: 'true', ...compileCache(), ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: 'pipe',
  })
  const said = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part) => {
      said[name] += part
      for (const look of waiting) look()
    })
  }
  const ended = new Promise<{ exit: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (exit) => resolve({ exit, ...said }))
  })
  return {
    type: (text: string) => child.stdin.write(text),
    kill: (signal: NodeJS.Signals = 'SIGINT') => child.kill(signal),
    /** Nobody reads its stdout any more. */
    stopReading: () => void child.stdout.destroy(),
    ended,
    /** All of it so far. */
    said: said as Readonly<typeof said>,
    /** The first match in what is said on stderr, or else on stdout. */
    says: (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(said.stderr) ?? pattern.exec(said.stdout)
          if (found) resolve(found[1] ?? found[0])
        }
        waiting.add(look)
        look()
        void ended.then(({ stderr }) => reject(new Error(`it ended: ${stderr}`)))
      }),
  }
}
