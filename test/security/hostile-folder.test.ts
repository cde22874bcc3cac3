/**
 * A folder of definitions that a stranger has pushed, as a reviewer or a pipeline looks at it: no link in it brings in a file
 * from elsewhere, no pipe or device holds the reader up, and nothing that is written vanishes without a word.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { quorate, testFolder, writeFiles } from '../cli/harness.ts'
import { Editor } from '../lsp/client.ts'

const HEAD = 'organization: acme\nid: 00000000-0000-4000-8000-000000000001\n'
const SECRET = `treasury-${'5eed'.repeat(8)}`
const OUT = 'it is a link that leads out of the folder of the definitions'
const CONTRACT = (file: string) =>
  `smartContractInterfaces:\n  token:\n    type: ethereum\n    address: "0x${'5'.repeat(40)}"\n    interfaceFile: ${file}\n`
const PERSON = `users: { alice: { email: alice@acme.test } }\n`
const SCENARIO = `scenarios:
  one:
    by: alice
    activity: SIGN_TRANSACTION
    transaction: { ethereum: '0xc6808080808080' }
    interfaces: [{ address: "0x1", type: ethereum, file: abi.json }]
    expect: deny
`

/** A repository with a secret beside the definitions, as a data folder or a key file is. */
function repository(files: Readonly<Record<string, string>> = {}): string {
  return writeFiles(testFolder(), { 'definitions/a.yaml': HEAD, 'secret.yaml': `${SECRET}\n`, ...files })
}

function pipe(root: string, name: string): void {
  execFileSync('mkfifo', [join(root, 'definitions', name)])
}

const COMMANDS = {
  validate: ['validate', 'definitions'],
  lint: ['policy', 'lint', 'definitions'],
  fmt: ['fmt', '--diff', 'definitions'],
  test: ['policy', 'test', 'definitions'],
  up: ['up', 'definitions', '--data-dir', 'data', '--base-url', 'http://127.0.0.1:1'],
} as const

describe('hostile folder: a link out of it', () => {
  test.each<{ what: string; link: string; files: Readonly<Record<string, string>>; command: keyof typeof COMMANDS }>([
    { what: 'a file of definitions', link: 'b.yaml', files: {}, command: 'validate' },
    { what: 'a file of definitions that is linted', link: 'b.yaml', files: {}, command: 'lint' },
    { what: 'a file of definitions that is formatted', link: 'b.yaml', files: {}, command: 'fmt' },
    {
      what: 'the interface of a contract',
      link: 'abi.json',
      files: { 'definitions/b.yaml': CONTRACT('abi.json') },
      command: 'validate',
    },
    { what: 'the configuration of the linter', link: 'quorate.lint.yaml', files: {}, command: 'lint' },
    { what: 'scenarios', link: 'b.test.yaml', files: {}, command: 'test' },
    {
      what: 'the interface of a scenario',
      link: 'abi.json',
      files: { 'definitions/b.yaml': PERSON, 'definitions/b.test.yaml': SCENARIO },
      command: 'test',
    },
  ])('hostile folder: $what is not read through it', async ({ link, files, command }) => {
    const root = repository(files)
    symlinkSync('../secret.yaml', join(root, 'definitions', link))
    const { exit, stdout, stderr } = await quorate(COMMANDS[command], { cwd: root })
    expect(stdout + stderr).toContain(OUT)
    expect(stdout + stderr).not.toContain(SECRET)
    expect(exit).toBe(1)
  })

  test('hostile folder: a folder is not read through it, nor is anything written there', async () => {
    const text = `${HEAD}tags: {b:   {},   a: {}}\n`
    const root = repository({ 'elsewhere/x.yaml': text })
    symlinkSync('../elsewhere', join(root, 'definitions', 'customers'))
    symlinkSync('../elsewhere/x.yaml', join(root, 'definitions', 'x.yaml'))
    const validated = await quorate(COMMANDS.validate, { cwd: root })
    expect(validated.stderr + validated.stdout).toContain(`\`definitions/customers\` cannot be read: ${OUT}`)
    const formatted = await quorate(['fmt', 'definitions'], { cwd: root })
    expect([validated.exit, formatted.exit]).toEqual([1, 1])
    expect(readFileSync(join(root, 'elsewhere/x.yaml'), 'utf8')).toBe(text)
  })

  test('hostile folder: an editor that opens a file in it shows nothing of what is elsewhere', async () => {
    const root = repository()
    const editor = await Editor.open({ 'a.yaml': HEAD })
    symlinkSync(join(root, 'secret.yaml'), join(editor.folder, 'b.yaml'))
    await editor.type('a.yaml', HEAD)
    const said = await editor.shows('b.yaml', (all) => all.length > 0)
    expect(said.map(({ message }) => message)).toEqual([expect.stringContaining(OUT)])
  })

  test('hostile folder: one that stays in the folder is what it leads to', async () => {
    const root = repository({ 'definitions/shared/tags.txt': 'tags: { a: {} }\n' })
    symlinkSync('shared/tags.txt', join(root, 'definitions', 'tags.yaml'))
    const { exit, stdout } = await quorate(COMMANDS.validate, { cwd: root })
    expect([exit, stdout]).toEqual([0, 'definitions is valid: 1 resource\n'])
  })
})

describe('hostile folder: what is no ordinary file', () => {
  test.each<{ name: string; files: Readonly<Record<string, string>>; command: keyof typeof COMMANDS }>([
    { name: 'b.yaml', files: {}, command: 'validate' },
    { name: 'b.yaml', files: {}, command: 'up' },
    { name: 'quorate.lint.yaml', files: {}, command: 'lint' },
    { name: 'abi.json', files: { 'definitions/b.yaml': CONTRACT('abi.json') }, command: 'validate' },
    { name: 'b.test.yaml', files: {}, command: 'test' },
    { name: 'abi.json', files: { 'definitions/b.yaml': PERSON, 'definitions/b.test.yaml': SCENARIO }, command: 'test' },
  ])('hostile folder: `$command` does not wait for the other end of $name', async ({ name, files, command }) => {
    const root = repository(files)
    pipe(root, name)
    const { exit, stdout, stderr } = await quorate(COMMANDS[command], { cwd: root })
    if (command !== 'up') expect(stdout + stderr).toContain('it is no ordinary file')
    expect(exit).toBe(1)
  })

  test('hostile folder: a device without end is not read', async () => {
    const root = repository()
    symlinkSync('/dev/zero', join(root, 'definitions', 'b.yaml'))
    const { exit, stderr, stdout } = await quorate(COMMANDS.validate, { cwd: root })
    expect(stdout + stderr).toContain(OUT)
    expect(exit).toBe(1)
  })

  test('hostile folder: a file larger than definitions ever are is not read', async () => {
    const root = repository()
    writeFileSync(join(root, 'definitions', 'b.yaml'), Buffer.alloc(16_000_001, '#'))
    const { exit, stderr, stdout } = await quorate(COMMANDS.validate, { cwd: root })
    expect(stdout + stderr).toContain('it has 16000001 bytes, over 16000000')
    expect(exit).toBe(1)
  })
})

describe('hostile folder: aliases of YAML', () => {
  test('hostile folder: many of them cost as much as what they stand for', async () => {
    const uses = Array.from({ length: 40_000 }, (_, index) => `  t${index}: *b\n`).join('')
    const root = repository({ 'definitions/b.yaml': `tags:\n  base: &b {}\n${uses}` })
    const { exit, stdout, stderr } = await quorate(COMMANDS.validate, { cwd: root })
    expect(stdout + stderr).toContain('alias `b` makes the file too large')
    expect(exit).toBe(1)
  })

  test('hostile folder: one that names nothing is an error, not nothing', async () => {
    const root = repository({ 'definitions/b.yaml': 'tags: *gone\npolicies: { p: { effect: deny, condition: *x } }\n' })
    const { exit, stdout, stderr } = await quorate(COMMANDS.validate, { cwd: root })
    expect(stdout + stderr).toContain('alias `gone` names nothing that is written before it')
    expect(stdout + stderr).toContain('alias `x` names nothing that is written before it')
    expect(exit).toBe(1)
  })

  test('hostile folder: an anchor that stands twice means the later thing from there on', async () => {
    const text = 'tags:\n  a: &x {}\n  b: *x\nusers:\n  c: &x { email: c@acme.test }\n  d: *x\n'
    const root = repository({ 'definitions/b.yaml': text })
    mkdirSync(join(root, 'definitions', 'empty'))
    const { exit, stdout } = await quorate(COMMANDS.validate, { cwd: root })
    expect([exit, stdout]).toEqual([0, 'definitions is valid: 4 resources\n'])
  })
})

describe('hostile folder: what its mistakes print', () => {
  test('hostile folder: a line of thousands of mistakes prints a stretch of itself for each', async () => {
    const keys = Array.from({ length: 2_000 }, (_, index) => `unknown-${index}: 1`).join(', ')
    const root = repository({ 'definitions/b.yaml': `{ ${keys} }\n` })
    const { exit, stdout, stderr } = await quorate(COMMANDS.validate, { cwd: root })
    const lines = (stdout + stderr).split('\n')
    expect(lines.filter((line) => line.includes('definitions/unknown-key')).length).toBe(2_000)
    expect(lines.filter((line) => line.length > 500).map((line) => line.slice(0, 60))).toEqual([])
    expect(lines.find((line) => line.includes('│ …') && line.includes(', unknown-1000:'))).toMatch(/…$/)
    expect(exit).toBe(1)
  })
})
