/** The README and the pages that go on from it are true: what they type is typed, in a copy of the repository's definitions (typed-page.ts). */
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { createStyle } from '../src/cli/io.ts'
import { readCommandLine } from '../src/cli/program.ts'
import { choosePorts } from '../src/loopback/index.ts'
import { quorate, testFolder } from './cli/harness.ts'
import { blocksOf, typeBlocks } from './typed-page.ts'

vi.setConfig({ testTimeout: 600_000 })

const root = join(import.meta.dirname, '..')

/** The pages whose commands are typed, each in a folder of its own. */
const PAGES = ['README.md', 'docs/tour.md', 'docs/sends.md'] as const

describe('readme', () => {
  test.each(PAGES)('readme: what %s types is answered as it says', async (page) => {
    const folder = join(testFolder(), 'quorate')
    cpSync(join(root, 'definitions'), join(folder, 'definitions'), { recursive: true })
    const typed = await typeBlocks(blocksOf(page), folder, {
      // What the README has may be taken here.
      known: { '8545': String((await choosePorts(1))[0]) },
      atEnd: async () => void (await quorate(['down'], { cwd: folder })),
    })
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
