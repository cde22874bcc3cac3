/** Help is a page for each command: synopsis, description, options with their defaults, exits, examples, where to go next. */
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands/index.ts'
import { adviceFor, COMMANDS, OPTIONS } from '../../src/cli/habits.ts'
import { createStyle } from '../../src/cli/io.ts'
import { commandOf, readCommandLine } from '../../src/cli/program.ts'
import { allCodes } from '../../src/cli/reference/errors.ts'
import { settingRows } from '../../src/config/index.ts'
import { quorate } from './harness.ts'

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

describe('help of a word that is no command', () => {
  test('the commands that are about it are listed, and not all', () => {
    const { text, invocation } = read(['help', 'keys'])
    expect(invocation).toBe(0)
    expect(text).toMatch(/^No command is called `keys`\. About it are:\n/)
    const listed = [...text.matchAll(/^ {2}quorate (.+?) {2}/gm)].map(([, name]) => name!.trim())
    expect(listed).toEqual(expect.arrayContaining(['rotate key', 'incident key']))
    expect(listed).not.toContain('validate')
    expect(listed.length).toBeLessThan(shown.length / 2)
  })

  test('what only the text of a help names is found by that', () => {
    const none = { code: 'cli/usage', message: 'no command is called `xyzzy`, and none is about it' }
    expect(() => read(['help', 'xyzzy'])).toThrow(expect.objectContaining(none))
    expect(read(['help', 'passkey']).text).toMatch(/^ {2}quorate login /m)
  })

  test('a command, a group of them and nothing have the help that they had', () => {
    expect(read(['help', 'rotate', 'key']).text).toBe(read(['rotate', 'key', '--help']).text)
    expect(read(['help', 'rotate']).text).toContain('Usage: quorate rotate')
    expect(read(['help']).text).toContain('Usage: quorate [')
  })

  test('a word of another tool says what does that work here', () => {
    expect(adviceFor(['help', 'destroy'])).toContain('quorate plan --allow-delete')
  })
})

describe('a command line that is refused', () => {
  const advice = (...argv: readonly string[]) => adviceFor(argv)

  test('words of other tools are answered with what does that work here', () => {
    expect(advice('destroy')).toContain('quorate plan --allow-delete')
    expect(advice('state', 'list')).toContain('the live organization is the state')
    expect(advice('apply', '-auto-approve')).toContain('--yes')
    expect(advice('plan', '-out=plan.json')).toBe('options have two dashes: `--out=…`')
    expect(advice('plan', '-target=user.bob')).toBe('options have two dashes: `--target=…`')
    expect(advice('fmt', '-check')).toBe('options have two dashes: `--check`')
    expect(advice('version')).toBe('`quorate --version`')
  })

  test('of an option of another tool no option is advised that the command does not have', () => {
    const told = (...argv: readonly string[]) => adviceFor(argv, 'see its help', commandOf(argv))
    expect(told('key', 'new', 'k.json', '--force')).toBe(
      'a key is never overwritten: name another file, or move the old one away',
    )
    expect(told('apply', '--force')).toContain('--allow BYPASS')
    expect(told('reset', '--force')).toBe('`--yes` asks no question')
    expect(told('status', '--force')).not.toContain('--allow')
    for (const row of commands)
      for (const name of Object.keys(OPTIONS)) {
        const text = told(...row.name.split(' '), `--${name}`)
        const named = [...(/(?<=`)--[a-z-]+/.exec(text) ?? [])]
        const has = [
          ...(row.options ?? []).map(({ flags }) => flags),
          ...Object.values(settingRows).map(({ flag }) => flag),
        ]
        expect([row.name, text, named.filter((one) => !has.some((flags) => flags.includes(one)))]).toEqual([
          row.name,
          text,
          [],
        ])
      }
  })

  test('what nobody means is told where the commands are listed', () => {
    expect(advice('xyzzy')).toContain('`quorate --help` lists the commands')
    expect(advice('plan', '--xyzzy')).toContain('`quorate COMMAND --help` what one takes')
    expect(advice('constructor')).toContain('`quorate --help` lists the commands')
  })

  test('what is advised is there, and what is advised against is not', () => {
    for (const text of Object.values({ ...COMMANDS, ...OPTIONS })) {
      for (const [, line = ''] of text.matchAll(/`quorate ([^`]+)`/g)) {
        if (line.startsWith('--')) continue
        const row = shown.find(
          ({ name }) => line === name || line.startsWith(`${name} `) || name.startsWith(`${line} `),
        )
        expect([line, row?.name]).toEqual([line, expect.any(String)])
      }
    }
    const words = new Set(commands.map(({ name }) => name.split(' ')[0]))
    expect(Object.keys(COMMANDS).filter((word) => words.has(word))).toEqual([])
  })

  test('each word that commands begin with says what they are for', () => {
    const { text } = read(['--help'])
    for (const word of new Set(shown.map(({ name }) => name.split(' ')[0]!))) {
      expect(text).toMatch(new RegExp(`^  ${word}( \\[| <|  ).*\\w`, 'm'))
    }
  })
})

describe('help on the code of an error', () => {
  test('says what the reference says of it, and of every code', async () => {
    expect(await quorate(['help', 'apply/guarded'])).toEqual({
      exit: 0,
      stdout: [
        `apply/guarded: ${allCodes['apply/guarded']!.summary}`,
        `  next       ${allCodes['apply/guarded']!.solve}`,
        '  exit code  4\n',
      ].join('\n'),
      stderr: '',
    })
    const { stdout } = await quorate(['help', 'client/rate-limited', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ code: 'client/rate-limited', exit: 1, mayPassByItself: true })
    // By the slash it is told from a command.
    expect(Object.keys(allCodes).filter((code) => !/^[\w-]+\/[\w-]+$/.test(code))).toEqual([])
    expect(commands.filter(({ name }) => name.includes('/'))).toEqual([])
  })

  test('one that there is not is named, with what may have been meant', async () => {
    const { exit, stderr } = await quorate(['help', 'apply/gaurded'])
    expect([exit, stderr]).toEqual([
      1,
      'error cli/usage: there is no error code `apply/gaurded`\n  next  did you mean `apply/guarded`?\n',
    ])
  })
})
