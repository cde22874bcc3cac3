/** A command on a terminal, which `script` of util-linux gives it. */
import { spawn, spawnSync } from 'node:child_process'
import { builtMain } from '../built.ts'

export const canMakeTerminals = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

/** Runs `quorate` there; at each question, what `answer` gives is typed. */
export async function onTerminal(
  args: readonly string[],
  {
    env = {},
    cwd,
    answer,
  }: {
    readonly env?: Readonly<Record<string, string>>
    readonly cwd?: string
    readonly answer: (shown: string, question: number) => string | Promise<string>
  },
): Promise<{ readonly exit: number | null; readonly shown: string }> {
  const command = [process.execPath, builtMain(), ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let shown = ''
  let questions = 0
  for await (const part of child.stdout) {
    shown += String(part)
    if (shown.split('[y/N]').length - 1 > questions) child.stdin.write(await answer(shown, ++questions))
  }
  return { exit: await ended, shown }
}
