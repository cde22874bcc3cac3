/** Help is a page for each command: synopsis, description, options with their defaults, exits, examples, where to go next. */
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { readCommandLine } from '../../src/cli/program.ts'
import { settingRows } from '../../src/config/index.ts'

const shown = commands.filter(({ hidden }) => !hidden)

/** What a command line comes to, and what is said of it. */
function read(argv: readonly string[]) {
  let text = ''
  const add = (part: string) => {
    text += part
  }
  return { invocation: readCommandLine(argv, { version: '0', style: createStyle(false), out: add, say: add }), text }
}

/** Words as a shell makes them; what follows a pipe, `&&` or a remark is not the command's. */
function wordsOf(line: string): readonly string[] {
  const command = /quorate (.*?)(?: && | > | \||\)|$)/.exec(line)![1]!
  return (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''))
}

describe('help', () => {
  test('every command that is shown has its page', () => {
    expect(shown.filter(({ help }) => help === undefined)).toEqual([])
  })

  test.each(shown)('$name: says all of it', ({ name, options = [], args, example, help }) => {
    const { text, invocation } = read([...name.split(' '), '--help'])
    expect(invocation).toBe(0)
    const headings = [...text.matchAll(/^(Usage(?=: )|[A-Z][\w, ]*(?=:$))/gm)].map(([heading]) => heading)
    expect(headings).toEqual([
      'Usage',
      ...(args === undefined ? [] : ['Arguments']),
      'Options',
      'Settings, the same for every command',
      ...(shown.some((other) => other.name.startsWith(`${name} `)) ? ['Commands'] : []),
      'Exit codes',
      'Examples',
      'See also',
    ])
    const flat = text.replaceAll(/\s+/g, ' ')
    expect(flat).toContain(help!.description)
    expect(text).toContain(`$ ${example}`)
    expect(text).toContain('--json')
    for (const { flags, meaning } of options) expect(flat).toContain(`${flags} ${meaning}`)
    for (const { flag, environment } of Object.values(settingRows)) {
      expect(flat).toContain(`${flag} `)
      expect(flat).toContain(`[${environment}]`)
    }
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(130)
  })

  test.each(shown)(
    '$name: its examples are command lines of it, and what it points at is there',
    ({ name, example, help }) => {
      const { examples = [], seeAlso } = help!
      for (const line of [example, ...examples.map(([one]) => one)]) {
        const { invocation, text } = read(wordsOf(line))
        expect([line, text]).toEqual([line, ''])
        expect(invocation).toMatchObject({ row: { name } })
      }
      expect(seeAlso.length).toBeGreaterThan(0)
      for (const other of seeAlso) expect(shown.map((one) => one.name)).toContain(other)
    },
  )
})
