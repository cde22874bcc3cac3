/** The completion scripts, run by the shell they are for. */
import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands/index.ts'
import { completedOption, renderCompletion, SHELLS } from '../../src/cli/views/completion.ts'
import { quorate, testFolder, writeFiles } from './harness.ts'

const script = renderCompletion('bash', commands, [completedOption('--json', 'print data as JSON')])

/** What bash offers after the words of a line, the last of which is being typed. */
function offered(words: readonly string[], cwd = '.'): readonly string[] {
  const typed = ['quorate', ...words].map((word) => `'${word}'`).join(' ')
  const run = `${script}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _quorate; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['--norc', '-c', run], { encoding: 'utf8', cwd }).split('\n').filter(Boolean)
}

describe('completion: bash', () => {
  test.for([
    { line: ['pl'], expected: ['plan', 'plan-store'] },
    {
      line: ['policy', ''],
      expected: commands.flatMap(({ name }) => (name.startsWith('policy ') ? [name.slice(7)] : [])),
    },
    { line: ['policy', 'te'], expected: ['test'] },
    { line: ['plan', '--det'], expected: ['--detailed-exitcode'] },
    {
      line: ['policy', 'test', '--cov'],
      expected: ['--coverage', '--coverage-threshold', '--coverage-lcov', '--coverage-html'],
    },
    { line: ['plan', 'definitions', '--js'], expected: ['--json-into', '--json'] },
    { line: ['completion', ''], expected: [...SHELLS] },
    { line: ['backg'], expected: [] },
    { line: ['nonsense', 'pl'], expected: ['plan', 'plan-store'] },
  ])('$line is completed to $expected', ({ line, expected }) => {
    expect(offered(line)).toEqual(expected)
  })

  test('files are offered where a folder or the value of an option belongs', () => {
    const folder = writeFiles(testFolder(), { 'acme.yaml': '', 'other.yaml': '' })
    expect(offered(['plan', 'ac'], folder)).toEqual(['acme.yaml'])
    expect(offered(['plan', '--out', 'ot'], folder)).toEqual(['other.yaml'])
  })
})

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0
const shared = [completedOption('--json', 'print data as JSON')]

describe.skipIf(!has('fish'))('completion: fish (needs fish)', () => {
  test.for([
    { line: 'quorate pl', expected: ['plan', 'plan-store'] },
    { line: 'quorate policy te', expected: ['test'] },
    { line: 'quorate plan --det', expected: ['--detailed-exitcode'] },
    { line: 'quorate completion ', expected: [...SHELLS].sort() },
    { line: 'quorate backg', expected: [] },
  ])('`$line` is completed to $expected', ({ line, expected }) => {
    const run = `${renderCompletion('fish', commands, shared)}\ncomplete -C '${line}'`
    const offers = execFileSync('fish', ['--no-config', '-c', run], { encoding: 'utf8', cwd: testFolder() })
    expect(offers.split('\n').flatMap((one) => one.split('\t')[0] || [])).toEqual(expected)
  })
})

/** What an interactive zsh makes of a line in which the tabulator was pressed, in a terminal of its own. */
function typedInZsh(keys: string, cwd: string): string {
  const folder = writeFiles(testFolder(), {
    'quorate.zsh': renderCompletion('zsh', commands, shared),
    'type.zsh': `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PROMPT=; autoload -Uz compinit; compinit -u -D; source $1; bindkey '^I' complete-word; quorate() { print -r -- \\"GOT:\\$*\\" }; print REA''DY"
while zpty -r z line; do [[ $line == *READY* ]] && break; done
zpty -w -n z "$2"$'\\t\\n'
while zpty -r z line; do [[ $line == *GOT:* ]] && { print -r -- "$line"; break }; done
zpty -d z
`,
  })
  const args = ['-f', `${folder}/type.zsh`, `${folder}/quorate.zsh`, keys]
  const said = execFileSync('zsh', args, { encoding: 'utf8', cwd, timeout: 60_000 })
  return /GOT:(.*)/.exec(said)![1]!.trim()
}

describe.skipIf(!has('zsh'))('completion: zsh (needs zsh)', () => {
  test.for([
    { keys: 'quorate unm', expected: 'unmanaged' },
    { keys: 'quorate policy te', expected: 'policy test' },
    { keys: 'quorate plan --det', expected: 'plan --detailed-exitcode' },
    { keys: 'quorate completion ba', expected: 'completion bash' },
    { keys: 'quorate plan --out ot', expected: 'plan --out other.yaml' },
  ])('`$keys` and the tabulator are `$expected`', ({ keys, expected }) => {
    expect(typedInZsh(keys, writeFiles(testFolder(), { 'acme.yaml': '', 'other.yaml': '' }))).toBe(expected)
  })
})

describe('completion', () => {
  test('every command that is shown is in every script, and the hidden one in none', () => {
    for (const shell of SHELLS) {
      const text = renderCompletion(shell, commands, [])
      for (const { name, hidden } of commands) expect(text.includes(`'${name}'`), `${shell} ${name}`).toBe(!hidden)
    }
  })

  test('the command prints the script, and refuses a shell that it does not know', async () => {
    const printed = await quorate(['completion', 'bash'])
    expect(printed.exit).toBe(0)
    expect(execFileSync('bash', ['-n'], { input: printed.stdout, encoding: 'utf8' })).toBe('')
    const refused = await quorate(['completion', 'tcsh'])
    expect(refused.exit).toBe(1)
    expect(refused.stderr).toContain('name one of bash, zsh, fish')
  })
})
