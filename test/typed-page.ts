/**
 * Pages whose `console` blocks are typed as they stand, in order, into one shell, and answer as they say; a `shell-session` is a second
 * terminal, in which one command stays until the next, and later blocks of it are what it shows next. `…` on a line of its own stands for
 * any lines. Ids, codes, ports, times and durations may be others, but what the page calls by one name must have one name here too.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { builtMain } from './built.ts'
import { anvilBinary } from './service/sends/anvil.ts'

const root = join(import.meta.dirname, '..')

/** A block of code of a page. */
export interface Block {
  readonly language: string
  readonly text: string
}
export const blocksOf = (page: string): readonly Block[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```([\w-]*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }))

/** Types blocks in a folder, and says how many commands and answers they were. */
export async function typeBlocks(
  blocks: readonly Block[],
  folder: string,
  {
    env = {},
    known = {},
    atEnd = async () => {},
  }: {
    /** Added to the environment of both terminals. */
    readonly env?: Readonly<Record<string, string>>
    /** What the page calls something that has another name here. */
    readonly known?: Readonly<Record<string, string>>
    readonly atEnd?: () => Promise<void>
  } = {},
): Promise<number> {
  const shell = startShell(folder, env)
  const second = openSecond(folder, env)
  onTestFinished(async () => {
    await second.end()
    await atEnd()
    shell.end()
  })
  const names = new Names({ '/home/you/quorate': folder, ...known })
  let typed = 0
  for (const { language, text } of blocks) {
    if (language === 'diff') applyDiff(folder, text)
    if (language === 'yaml' && text.startsWith('# request.yaml\n')) writeFileSync(join(folder, 'request.yaml'), text)
    if (language === 'shell-session') {
      const [command, answer] = text.startsWith('$ ') ? splitLine(text.slice(2)) : [undefined, text]
      if (command !== undefined) await second.start(names.fill(command))
      names.learn(await second.says(names.pattern(answer, false), answer))
      typed++
    }
    if (language !== 'console') continue
    for (const { command, answer } of readConsole(text)) {
      const got = await shell.type(names.fill(command))
      const pattern = names.pattern(answer)
      const match = pattern.exec(got)
      // The page's words beside what was said, rather than a pattern.
      if (!match) expect(got, `$ ${command}`).toBe(answer)
      names.learn(match!)
      typed++
    }
  }
  return typed
}

function splitLine(text: string): readonly [line: string, rest: string] {
  const end = text.indexOf('\n')
  return [text.slice(0, end), text.slice(end + 1)]
}

/** The commands of a block, each with what it answers. */
function readConsole(text: string): readonly { readonly command: string; readonly answer: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...answer] = part.split('\n')
      return { command, answer: answer.join('\n') }
    })
}

/** Replaces the one line of a file that a diff takes away by the one that it adds. */
function applyDiff(folder: string, text: string): void {
  const [, path, before, after] = /^--- (.*)\n-(.*)\n\+(.*)\n$/.exec(text)!
  const file = join(folder, path!)
  const old = readFileSync(file, 'utf8')
  const strip = (line: string) => line.trimStart()
  expect(old.split(strip(before!))).toHaveLength(2)
  writeFileSync(file, old.replace(strip(before!), strip(after!)))
}

/** What differs from run to run, by what it looks like. */
const VOLATILE = [
  { name: 'id', looks: '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', bound: true },
  { name: 'time', looks: '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z', bound: false },
  { name: 'code', looks: '\\b[0-9a-f]{4}-[0-9a-f]{4}\\b', bound: true },
  { name: 'port', looks: '(?<=127\\.0\\.0\\.1:|--port )\\d+', bound: true },
  { name: 'batch', looks: '(?<=batch )[0-9a-f]{12}\\b', bound: true },
  { name: 'plan', looks: '(?<=plan {3,9})[0-9a-f]{12}\\b', bound: true },
  { name: 'hash', looks: '0x[0-9a-f]{64}\\b', bound: true },
  { name: 'public key', looks: '\\b0[23][0-9a-f]{64}\\b', bound: true },
  { name: 'digest', looks: '(?<=sha256:)[0-9a-f]{64}\\b', bound: true },
  { name: 'address', looks: '0x[0-9a-fA-F]{40}\\b', bound: true },
  { name: 'pid', looks: '(?<=pid )\\d+', bound: false },
  { name: 'age', looks: '\\b(?:\\d+ (?:second|minute|hour|day)s?\\b(?: ago\\b)?|just now\\b)', bound: false },
  { name: 'folder', looks: '/home/you/quorate\\b', bound: true },
] as const
const volatile = new RegExp(VOLATILE.map(({ looks }) => `(${looks})`).join('|'), 'g')

/** What the README's ids and codes are called in this run. */
class Names {
  readonly #known = new Map<string, string>()
  #learning: string[] = []

  constructor(known: Readonly<Record<string, string>>) {
    for (const [token, here] of Object.entries(known)) this.#known.set(token, here)
  }

  /** A command of the README with this run's names. */
  fill(command: string): string {
    return command.replaceAll(volatile, (token) => this.#known.get(token) ?? token)
  }

  /** What an answer must match, or how what comes begins; a group for each name that is met for the first time. */
  pattern(answer: string, isWhole = true): RegExp {
    this.#learning = []
    const lines = answer.split('\n').map((line) => (line === '…' ? '(?:.*\\n)*?' : `${this.#line(line)}\\n`))
    return new RegExp(`^${lines.join('').replace(/\\n$/, '')}${isWhole ? '$' : ''}`)
  }

  learn(match: RegExpExecArray): void {
    for (const [index, token] of this.#learning.entries()) this.#known.set(token, match[index + 1]!)
  }

  #line(line: string): string {
    let pattern = ''
    let at = 0
    for (const match of line.matchAll(volatile)) {
      pattern += escaped(line.slice(at, match.index)) + this.#token(match)
      at = match.index + match[0].length
    }
    return pattern + escaped(line.slice(at))
  }

  #token([token, ...groups]: RegExpMatchArray): string {
    const { looks, bound } = VOLATILE[groups.findIndex((group) => group !== undefined)]!
    const known = this.#known.get(token)
    if (known !== undefined) return escaped(known)
    if (!bound) return looks
    const met = this.#learning.indexOf(token)
    if (met >= 0) return `\\${met + 1}`
    this.#learning.push(token)
    return `(${looks})`
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** A second terminal, in which one command stays. */
function openSecond(folder: string, env: Readonly<Record<string, string>>) {
  let [text, read]: [string, number] = ['', 0]
  let child: ChildProcess | undefined
  const end = async (signal: 'SIGINT' | 'SIGKILL') => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }
  return {
    /** Types a command, after Ctrl-C has ended the one before. */
    async start(command: string): Promise<void> {
      await end('SIGINT')
      ;[text, read] = ['', 0]
      child = spawn('sh', ['-c', `exec ${command} 2>&1`], {
        cwd: folder,
        env: { PATH: `${join(folder, '../bin')}${delimiter}${process.env['PATH']}`, HOME: process.env['HOME'], ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child.stdout!.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
    },
    /** Waits until what it shows next begins so. */
    async says(pattern: RegExp, answer: string): Promise<RegExpExecArray> {
      await vi
        .waitUntil(() => pattern.test(text.slice(read)))
        .catch(() => {
          expect(text.slice(read), 'in the second terminal').toBe(answer)
        })
      const match = pattern.exec(text.slice(read))!
      // To the end of the line: the next that is awaited begins on one of its own.
      read = text.indexOf('\n', read + match[0].length - 1) + 1
      return match
    },
    end: () => end('SIGKILL'),
  }
}

/** One shell, in which `npm start`, `npx quorate` and `npx anvil` are this repository's. */
function startShell(folder: string, env: Readonly<Record<string, string>>) {
  const bin = join(folder, '../bin')
  const main = join(root, 'src/cli/main.ts')
  const { start } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts
  mkdirSync(bin)
  const chain = join(bin, 'anvil.pid')
  const npx = `#!/bin/sh
case $1 in
  quorate) shift; exec '${process.execPath}' '${builtMain()}' "$@" ;;
  anvil) shift; echo $$ >'${chain}'; exec '${anvilBinary()}' "$@" ;;
esac
exit 127
`
  writeFileSync(join(bin, 'npx'), npx, { mode: 0o755 })
  const up = start.replace('node src/cli/main.ts', `'${process.execPath}' '${main}'`)
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\nexec ${up}\n`, { mode: 0o755 })
  const child: ChildProcess = spawn('sh', [], {
    cwd: folder,
    env: { PATH: `${bin}${delimiter}${process.env['PATH']}`, HOME: process.env['HOME'], ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdout!.setEncoding('utf8')
  return {
    /** Types a command, and returns all that it said. */
    type(command: string): Promise<string> {
      const mark = randomUUID()
      let text = ''
      return new Promise((resolve) => {
        const take = (part: string) => {
          text += part
          if (!text.includes(mark)) return
          child.stdout!.off('data', take)
          resolve(text.slice(0, text.indexOf(mark)))
        }
        child.stdout!.on('data', take)
        child.stdin!.write(`(${command}) 2>&1 </dev/null; echo ${mark}\n`)
      })
    },
    end: () => {
      if (existsSync(chain)) process.kill(Number(readFileSync(chain, 'utf8')))
      child.kill()
    },
  }
}
