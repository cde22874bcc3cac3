/** `fmt`, `policy fmt`, `policy lint`: as processes, on files. */
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { comparedRules } from '../../src/definitions/index.ts'
import { quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { isSarif } from './sarif-shape.ts'

const people = 'organization: acme\nusers: { alice: { email: alice@acme.test }, bob: { email: bob@acme.test } }\n'
const crooked = "policies:\n  a:\n    effect: deny # always\n    condition: wallet.id=='w'\n"
const straight = crooked.replace('==', ' == ')

function folderWith(policies: string, more: Readonly<Record<string, string>> = {}): string {
  return writeFiles(testFolder(), { 'people.yaml': people, 'policies.yaml': policies, ...more })
}

describe('policy fmt', () => {
  test('policy fmt: writes the files that change, and says which', async () => {
    const folder = folderWith(crooked)
    const file = join(folder, 'policies.yaml')
    const ran = await quorate(['policy', 'fmt', folder])
    expect(ran).toMatchObject({ exit: 0, stdout: `${file}\n` })
    expect(readFileSync(file, 'utf8')).toBe(straight)
    expect(await quorate(['policy', 'fmt', folder])).toMatchObject({ exit: 0, stdout: '' })
  })

  test('policy fmt: --check writes nothing, lists files and fails', async () => {
    const folder = folderWith(crooked)
    const file = join(folder, 'policies.yaml')
    expect(await quorate(['policy', 'fmt', folder, '--check'])).toMatchObject({
      exit: 1,
      stdout: `not formatted: ${file}\n`,
    })
    expect(readFileSync(file, 'utf8')).toBe(crooked)
    expect(await quorate(['policy', 'fmt', '--check', join(folder, 'people.yaml')])).toMatchObject({ exit: 0 })
  })

  test('policy fmt: what does not parse is said at its place, and the rest is formatted', async () => {
    const folder = folderWith(`${crooked}  b:\n    effect: deny\n    condition: wallet.id == \n    consensus: 1 <\n`)
    const ran = await quorate(['policy', 'fmt', folder])
    expect(ran.exit).toBe(1)
    expect(ran.stderr).toContain('policies.yaml:8:')
    expect(ran.stderr).toContain('policy/unexpected-end')
    expect(readFileSync(join(folder, 'policies.yaml'), 'utf8')).toContain("wallet.id == 'w'")
  })

  test('policy fmt: a folder that is not there is said, and a file that cannot be written', async () => {
    expect(await quorate(['policy', 'fmt', '/no/such/folder'])).toMatchObject({ exit: 1 })
    const folder = folderWith(crooked)
    chmodSync(join(folder, 'policies.yaml'), 0o400)
    const ran = await quorate(['policy', 'fmt', folder])
    // Root may write everything.
    if (process.getuid?.() !== 0) expect(ran.stderr).toContain('cli/unwritable')
  })
})

const unordered = `tags: { ops: {} }
organization: acme # who
`
const ordered = `organization: acme # who
tags: { ops: {} }
`

describe('fmt', () => {
  test('fmt: --check names the files, --diff shows what would change, and neither writes', async () => {
    const folder = writeFiles(testFolder(), { 'a.yaml': unordered, 'b.yaml': 'users: {}\n', 'a.test.yaml': 'x: 1\n' })
    const file = join(folder, 'a.yaml')
    expect(await quorate(['fmt', folder, '--check'])).toMatchObject({ exit: 1, stdout: `not formatted: ${file}\n` })
    const diff = await quorate(['fmt', folder, '--diff'])
    expect(diff.exit).toBe(0)
    expect(diff.stdout.split('\n')).toEqual([
      `--- ${file}`,
      `+++ ${file}`,
      '@@ -1,2 +1,2 @@',
      '-tags: { ops: {} }',
      ' organization: acme # who',
      '+tags: { ops: {} }',
      '',
    ])
    expect(readFileSync(file, 'utf8')).toBe(unordered)
  })

  test('fmt: writes the files that change; one with a mistake is left as it is, and the mistake is told', async () => {
    const broken = 'users: {}\ntags: [\n'
    const folder = writeFiles(testFolder(), { 'a.yaml': unordered, 'b.yaml': broken, 'inside/c.yaml': unordered })
    const ran = await quorate(['fmt', folder])
    const [here, inside] = [join(folder, 'a.yaml'), join(folder, 'inside', 'c.yaml')]
    expect(ran).toMatchObject({ exit: 1, stdout: `${here}\n${inside}\n` })
    expect(ran.stderr).toContain('b.yaml:3:1: error definitions/syntax')
    expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe(ordered)
    expect(readFileSync(join(folder, 'b.yaml'), 'utf8')).toBe(broken)
    const json = await quorate(['fmt', join(folder, 'a.yaml'), '--json'])
    expect(JSON.parse(json.stdout)).toEqual({ files: [], diagnostics: [] })
  })
})

const TO = `0xAB${'0'.repeat(38)}`
const advised = `policies:
  a:
    effect: allow
    condition: eth.tx.to == '${TO}'
  b: { effect: allow }
`

test('what is counted is one thing or several: validate, policy lint and fmt', async () => {
  const sound = { 'a.yaml': 'organization: acme\nid: 7c244a54-083f-4745-98d0-7111fa0c8852\ntags: { one: {} }\n' }
  const one = writeFiles(testFolder(), sound)
  const said = async (...args: readonly string[]) => {
    const { stdout, stderr } = await quorate(args)
    return `${stdout}${stderr}`
  }
  expect(await said('validate', one)).toContain(`${one} is valid: 1 resource\n`)
  expect(await said('policy', 'lint', one)).toMatch(/^\d+ errors?, \d+ warnings?, \d+ remarks?$/m)
  expect(await said('fmt', one)).toContain('1 file, all formatted\n')
  writeFiles(one, { 'a.yaml': `${sound['a.yaml']}tagz: {}\n` })
  expect(await said('validate', one)).toContain(`${one} is not valid: 1 error, 0 warnings\n`)
  writeFiles(one, { 'a.yaml': sound['a.yaml'].replace('{ one: {} }', '{ one: {}, two: {} }') })
  expect(await said('validate', one)).toContain(`${one} is valid: 2 resources\n`)
})

describe('policy lint', () => {
  test('policy lint: says what it finds as text, and fails on errors', async () => {
    const ran = await quorate(['policy', 'lint', folderWith(advised)])
    expect(ran.exit).toBe(1)
    expect(ran.stdout).toContain(`policies.yaml:4:29: warning lint/mixed-case-hex: \`${TO}\` has upper-case letters`)
    expect(ran.stdout).toContain('warning lint/redundant-policy: `a` allows nothing that `b` does not allow')
    expect(ran.stdout).toContain('policies.yaml:5:3: error lint/allow-everything: `b` lets every user do everything')
    expect(ran.stderr).toContain('2 errors, 3 warnings')
  })

  test('policy lint: warnings alone pass, up to as many as are allowed', async () => {
    const folder = folderWith(advised.replace(/ {2}b.*\n/, ''))
    expect(await quorate(['policy', 'lint', folder])).toMatchObject({ exit: 0 })
    expect(await quorate(['policy', 'lint', folder, '--max-warnings', '2'])).toMatchObject({ exit: 0 })
    expect(await quorate(['policy', 'lint', folder, '--max-warnings', '1'])).toMatchObject({ exit: 1 })
    expect(await quorate(['policy', 'lint', folder, '--max-warnings', 'none'])).toMatchObject({ exit: 1 })
  })

  test('policy lint: severities come from the file beside the definitions, and from the command line over it', async () => {
    const folder = folderWith(advised, {
      'quorate.lint.yaml': 'rules:\n  allow-everything: warning\n  raw-signing-bypass: off\n  mixed-case-hex: off\n',
    })
    const ran = await quorate(['policy', 'lint', folder])
    expect(ran).toMatchObject({ exit: 0 })
    expect(ran.stdout).not.toContain('mixed-case-hex')
    expect(await quorate(['policy', 'lint', folder, '--rule', 'mixed-case-hex=error'])).toMatchObject({ exit: 1 })
    const wrong = await quorate(['policy', 'lint', folder, '--rule', 'mixed-hex=error'])
    expect(wrong).toMatchObject({ exit: 1 })
    expect(wrong.stderr).toContain('cli/usage')
  })

  test('policy lint: --fix writes what keeps the meaning, and finds no more of it', async () => {
    const folder = folderWith(advised)
    expect((await quorate(['policy', 'lint', folder, '--fix'])).stderr).toContain('1 fixed')
    expect(readFileSync(join(folder, 'policies.yaml'), 'utf8')).toBe(advised.replace(TO, TO.toLowerCase()))
  })

  test('policy lint: JSON, SARIF and annotations of GitHub say the same', async () => {
    const folder = folderWith(advised)
    const log = join(folder, 'log.sarif')
    const { stdout } = await quorate(['policy', 'lint', folder, '--json', '--sarif', log])
    const said = JSON.parse(stdout) as { errors: number; diagnostics: { code: string; line: number; column: number }[] }
    const sarif = JSON.parse(readFileSync(log, 'utf8'))
    const [run] = sarif.runs
    expect(isSarif(sarif), JSON.stringify(isSarif.errors)).toBe(true)
    expect(said.errors).toBe(2)
    expect(said.diagnostics.length).toBe(5)
    expect(
      run.results.map(
        (one: { ruleId: string; ruleIndex: number; locations: { physicalLocation: { region: object } }[] }) => {
          expect(run.tool.driver.rules[one.ruleIndex].id).toBe(one.ruleId)
          return { code: one.ruleId, ...one.locations[0]!.physicalLocation.region }
        },
      ),
    ).toMatchObject(said.diagnostics.map(({ code, line, column }) => ({ code, startLine: line, startColumn: column })))
    const github = await quorate(['policy', 'lint', folder, '--github'])
    const lines = github.stdout.trimEnd().split('\n')
    expect(lines.length).toBe(5)
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^::warning file=.*policies\.yaml,line=4,endLine=4,col=29,endColumn=73,title=lint\/mixed-case-hex::`0xAB0{38}` has upper-case letters%0Awrite/,
      ),
    )
  })

  const section = (text: string) => `policies:\n${text.replace(/^(?=.)/gm, '  ')}\n`
  const foundIn = async (policies: string) => {
    const { stdout } = await quorate(['policy', 'lint', folderWith(policies), '--json'])
    return (JSON.parse(stdout) as { diagnostics: Record<string, unknown>[] }).diagnostics
  }

  test.each(comparedRules)(
    'policy lint: $name finds its bad example and not its good one',
    async ({ name, bad, good }) => {
      const codes = async (text: string) => (await foundIn(section(text))).map(({ code }) => code)
      expect(await codes(bad)).toContain(`lint/${name}`)
      expect(await codes(good)).not.toContain(`lint/${name}`)
    },
  )

  test('policy lint: a policy of no use is told with the policies that make it so, and a request of it', async () => {
    const exports = `exports:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'EXPORT_WALLET' && wallet.exported
no-exports:
  effect: deny
  condition: activity.action == 'EXPORT' && !(wallet.label == 'spare' && !wallet.exported)
order:
  effect: allow
  consensus: credentials.count() >= 2 && credentials.all(one, one.type != 'A') && approvers.count() == 1
  condition: activity.kind == 'CREATE_WALLET'
`
    expect(await foundIn(section(exports))).toMatchObject([
      {
        code: 'lint/shadowed-by-deny',
        line: 2,
        message: '`exports` allows nothing that `no-exports` does not deny',
        help: 'narrow the DENY, or remove the ALLOW; alone it would allow, for one, { by: [alice, bob], activity: ACTIVITY_TYPE_EXPORT_WALLET, wallet: another }',
        related: [{ message: 'this denies it', line: 6 }],
      },
      { code: 'lint/unreachable-threshold', line: 11, column: 16 },
    ])
  })

  test('policy lint: what comparing finds is suppressed with a reason, turned off, and not looked for without users', async () => {
    const bad = section(comparedRules[0]!.bad)
    const with_ = (text: string, more: readonly string[] = []) =>
      quorate(['policy', 'lint', folderWith(text), '--max-warnings', '0', ...more])
    expect(await with_(bad)).toMatchObject({ exit: 1 })
    expect(await with_(bad, ['--rule', 'redundant-policy=off'])).toMatchObject({ exit: 0, stdout: '' })
    const comment = '  # quorate-lint-disable redundant-policy: for the auditors\n'
    expect(await with_(bad.replace('  small', `${comment}  small`))).toMatchObject({ exit: 0, stdout: '' })
    const unused = await with_(section(comparedRules[0]!.good).replace('  small', `${comment}  small`))
    expect(unused.stdout).toContain('lint/unused-suppression')
    const folder = writeFiles(testFolder(), { 'a.yaml': `organization: acme\n${bad}` })
    expect((await quorate(['policy', 'lint', folder])).stdout).not.toContain('redundant-policy')
  })

  test('policy lint: definitions with mistakes are not advised on, and their mistakes are told', async () => {
    const ran = await quorate([
      'policy',
      'lint',
      folderWith('policies: { a: { effect: allow, condition: wallet.idd } }\n'),
    ])
    expect(ran.exit).toBe(1)
    expect(ran.stdout).toContain('policy/unknown-field')
    expect(ran.stdout).not.toContain('lint/')
  })

  test.each(['definitions/acme', 'definitions/treasury'])('policy lint: %s is clean', async (folder) => {
    expect(await quorate(['policy', 'lint', folder, '--max-warnings', '0'])).toMatchObject({ exit: 0, stdout: '' })
    expect(await quorate(['fmt', folder, '--check'])).toMatchObject({ exit: 0 })
  })

  test('policy test: the scenarios of the treasury pass, and see every clause both ways', async () => {
    const { exit, stdout, stderr } = await quorate(['policy', 'test', 'definitions/treasury', '--coverage'])
    expect({ exit, said: stdout + stderr }).toEqual({ exit: 0, said: expect.stringContaining('coverage: 100 %') })
  })
})

describe('policy compare', () => {
  const wallets = 'wallets: { cold: { accounts: [] }, hot: { accounts: [] } }\n'
  const limited = (limit: string, more = '') => `policies:
  alice-signs:
    effect: allow
    consensus: approvers.any(user, user.id == '\${user.alice}')
    condition: activity.kind == 'SIGN_TRANSACTION' && wallet.id == '\${wallet.cold}' && eth.tx.value < ${limit}
${more}`
  const folder = (policies: string) =>
    writeFiles(testFolder(), { 'people.yaml': people, 'wallets.yaml': wallets, 'policies.yaml': policies })

  test('policy compare: a difference is a request that both decide, and a scenario that the first passes and the second fails', async () => {
    const [before, after] = [folder(limited('1000000000000000000')), folder(limited('1000000000000000001'))]
    const file = join(testFolder(), 'kept.test.yaml')
    const ran = await quorate(['policy', 'compare', before, after, '--scenarios', file])
    expect(ran.exit, ran.stderr).toBe(0)
    expect(ran.stdout).toContain(
      `${after} lets through more than ${before}\n\nsign  wider\n  more: a request by alice is denied before, and is executed after\n`,
    )
    expect(ran.stdout).toContain('transaction: { ethereum: { value: 1000000000000000000 } } # (1 ETH)\n')
    expect(ran.stdout).toContain('equal: send, export')
    for (const [each, passes] of [
      [before, true],
      [after, false],
    ] as const) {
      writeFiles(each, { 'kept.test.yaml': readFileSync(file, 'utf8') })
      expect(await quorate(['policy', 'test', each])).toMatchObject({ exit: passes ? 0 : 1 })
    }
    const mirrored = await quorate(['policy', 'compare', after, before, '--json'])
    expect(JSON.parse(mirrored.stdout)).toMatchObject({
      relation: 'narrower',
      powers: expect.arrayContaining([
        expect.objectContaining({
          power: 'sign',
          narrower: expect.objectContaining({
            people: ['alice'],
            before: 'allow',
            scenario: expect.objectContaining({
              wallet: 'cold',
              transaction: { ethereum: { value: '1000000000000000000' } },
            }),
          }),
        }),
      ]),
    })
  })

  test('policy compare: an amount that no int holds makes a DENY err, and that this is the difference is said', async () => {
    const denies = (name: string, text: string) => `  ${name}:\n    effect: deny\n    condition: "${text}"\n`
    const [large, to] = ['eth.tx.value > 5', "eth.tx.to == '0x1111111111111111111111111111111111111111'"]
    const whole = folder(limited('9', denies('both', `${large} || ${to}`)).replace(' && eth.tx.value < 9', ''))
    const split = folder(limited('9', denies('large', large) + denies('to', to)).replace(' && eth.tx.value < 9', ''))
    const { stdout } = await quorate(['policy', 'compare', whole, split])
    expect(stdout).toContain('sign  narrower\n  less: a request by alice is executed before, and is denied after\n')
    expect(stdout).toMatch(/before, the condition of `both` errs at `eth\.tx\.value` \(.+\): it denies nothing here\n/)
    expect(stdout).toMatch(/after, the condition of `large` errs at `eth\.tx\.value` \(.+\): it denies nothing here\n/)
    const other = await quorate(['policy', 'compare', folder(limited('5')), folder(limited('6'))])
    expect(other.stdout).not.toContain(' errs at ')
  })

  test('policy compare: --expect fails on a difference that was not expected, and on what it does not know', async () => {
    const small = folder(limited('5'))
    const deny = "  never:\n    effect: deny\n    condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.value > 3\n"
    const narrow = folder(limited('5', deny))
    const comparing = (parts: string) => folder(limited('5', deny.replace('eth.tx.value > 3', parts)))
    const expecting = (relation: string, ...folders: readonly string[]) =>
      quorate(['policy', 'compare', ...folders, '--expect', relation])
    expect(await expecting('narrower', small, narrow)).toMatchObject({ exit: 0 })
    expect(await expecting('equal', small, small)).toMatchObject({ exit: 0 })
    const broken = await expecting('equal', small, narrow)
    expect(broken.exit).toBe(1)
    expect(broken.stderr).toContain('to be equal, and it is narrower')
    expect(await expecting('narrower', narrow, small)).toMatchObject({ exit: 1 })
    const unknown = await expecting(
      'narrower',
      comparing('eth.tx.to == eth.tx.from'),
      comparing('eth.tx.from == eth.tx.to'),
    )
    expect(unknown.exit).toBe(6)
    expect(unknown.stdout).toContain(
      'more may differ, because of never: parts of a request are compared with each other',
    )
    const wrong = await expecting('wider', small, narrow)
    expect(wrong.exit).toBe(1)
    expect(wrong.stderr).toContain('expected `--expect` to be equal or narrower, got `wider`')
  })
})
