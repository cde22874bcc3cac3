/**
 * The README and the pages that go on from it are true: every `console` block is typed as it stands, in order, into one shell
 * in a copy of the repository's definitions, and answers as it says; a `shell-session` is a second terminal, in which one command
 * stays, and later blocks of it are what it shows next. `…` on a line of its own stands for any lines. Ids, codes, ports,
 * times and durations may be others, but what the README calls by one name must have one name here too.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createStyle } from '../src/cli/io.ts'
import { readCommandLine } from '../src/cli/program.ts'
import { choosePorts } from '../src/loopback/index.ts'
import { builtMain } from './built.ts'
import { quorate, testFolder } from './cli/harness.ts'
import { anvilBinary } from './service/sends/anvil.ts'

vi.setConfig({ testTimeout: 600_000 })

const root = join(import.meta.dirname, '..')

/** The pages whose commands are typed, each in a folder of its own. */
const PAGES = ['README.md', 'docs/tour.md', 'docs/sends.md'] as const

interface Block {
  readonly language: string
  readonly text: string
}
const blocksOf = (page: string): readonly Block[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```([\w-]*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }))

describe('readme', () => {
  test.each(PAGES)('readme: what %s types is answered as it says', async (page) => {
    const folder = join(testFolder(), 'quorate')
    cpSync(join(root, 'definitions'), join(folder, 'definitions'), { recursive: true })
    const shell = startShell(folder)
    const second = openSecond(folder)
    onTestFinished(async () => {
      second.end()
      await quorate(['down'], { cwd: folder })
      shell.end()
    })
    // What the README has may be taken here.
    const names = new Names({ '/home/you/quorate': folder, '8545': String((await choosePorts(1))[0]) })
    let typed = 0
    for (const { language, text } of blocksOf(page)) {
      if (language === 'diff') applyDiff(folder, text)
      if (language === 'yaml' && text.startsWith('# request.yaml\n')) writeFileSync(join(folder, 'request.yaml'), text)
      if (language === 'shell-session') {
        const [command, answer] = text.startsWith('$ ') ? splitLine(text.slice(2)) : [undefined, text]
        if (command !== undefined) second.start(names.fill(command))
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
    expect(typed).toBeGreaterThan(10)
  })

  test('readme: every command that it names is one, with options that it has', () => {
    const lines = [...PAGES, 'docs/running.md', 'docs/login.md']
      .flatMap((page) => blocksOf(page))
      .flatMap(({ text }) => [...text.matchAll(/(?:npx |^)quorate (.*?)(?: +(?:#|&$).*)?$/gm)].map(([, line]) => line!))
    expect(lines.length).toBeGreaterThan(30)
    const said: string[] = []
    const options = { version: '', style: createStyle(false), out: () => {}, say: (text: string) => said.push(text) }
    for (const line of lines) {
      const words = line.split(/\s+/).map((word) => word.replaceAll("'", ''))
      expect(readCommandLine(words, options), `quorate ${line}: ${said.join('')}`).toBeTypeOf('object')
    }
  })

  test('readme: it is a page, and the rest is one link away', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    expect(readme.split('\n').length).toBeLessThan(260)
    const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
    for (const page of pages) expect([page, reaches(page, readme)]).toEqual([page, true])
  })
})

/** Whether the README names a page, or a page that it names does. */
function reaches(page: string, readme: string): boolean {
  const named = [...readme.matchAll(/\]\(docs\/([\w-]+\.md)/g)].map(([, name]) => name!)
  return named.includes(page) || named.some((one) => readFileSync(join(root, 'docs', one), 'utf8').includes(`(${page}`))
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
function openSecond(folder: string) {
  let [text, read]: [string, number] = ['', 0]
  let child: ChildProcess | undefined
  return {
    start(command: string): void {
      child = spawn('sh', ['-c', `exec ${command} 2>&1`], {
        cwd: folder,
        env: { PATH: `${join(folder, '../bin')}${delimiter}${process.env['PATH']}`, HOME: process.env['HOME'] },
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
    end: () => child?.kill('SIGKILL'),
  }
}

/** One shell, in which `npm start`, `npx quorate` and `npx anvil` are this repository's. */
function startShell(folder: string) {
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
    env: { PATH: `${bin}${delimiter}${process.env['PATH']}`, HOME: process.env['HOME'] },
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
