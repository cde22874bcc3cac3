import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lintDefinitions, loadDefinitions, readLintFile } from '../../src/definitions/index.ts'
import { createSource, positionAt, renderDiagnostics } from '../../src/diagnostics/index.ts'
import { rules, type Severities } from '../../src/policy/index.ts'

const repository = join(import.meta.dirname, '../..')

const people = `organization: acme
tags: { treasury: {} }
users:
  alice: { email: alice@acme.test, tags: [treasury] }
  bob: { email: bob@acme.test, tags: [treasury] }
  carol: { email: carol@acme.test }
`

async function load(policies: string, head = people) {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-lint-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'a.yaml'), `${head}policies:\n${policies.replace(/^(?=.)/gm, '  ')}\n`)
  const loaded = await loadDefinitions(folder, { env: {}, vars: { limit: '5', token: '0xAB' }, policiesOnly: true })
  expect(renderDiagnostics(loaded.diagnostics.filter(({ severity }) => severity === 'error'))).toBe('')
  return loaded
}

/** What is found, as `rule@line:text that is marked`. */
async function lint(policies: string, severities: Severities = {}, head = people): Promise<readonly string[]> {
  const { diagnostics } = lintDefinitions(await load(policies, head), severities)
  return diagnostics.map(({ code, span }) => {
    const { line } = positionAt(span.source, span.start)
    return `${code.replace('lint/', '')}@${line - head.split('\n').length}:${span.source.text.slice(span.start, span.end)}`
  })
}

/** Only one rule, and what it says. */
async function lintBy(rule: string, policies: string): Promise<readonly string[]> {
  const off = Object.fromEntries(rules.filter(({ name }) => name !== rule).map(({ name }) => [name, 'off' as const]))
  const { diagnostics } = lintDefinitions(await load(policies), off)
  return diagnostics.map(({ message }) => message)
}

const allow = (condition: string, more = '') =>
  `p:\n  effect: allow\n  consensus: approvers.count() >= 2\n  condition: >-\n    ${condition}${more}`
const deny = (condition: string) => `p:\n  effect: deny\n  condition: >-\n    ${condition}`

describe('lint: rules', () => {
  test.each(readdirSync(join(repository, 'definitions')))('lint: definitions/%s has no errors', async (name) => {
    const loaded = await loadDefinitions(join(repository, 'definitions', name), {
      env: {},
      vars: {},
      policiesOnly: true,
    })
    const { diagnostics } = lintDefinitions(loaded, {})
    expect(renderDiagnostics(diagnostics.filter(({ severity }) => severity === 'error'))).toBe('')
  })

  test.each(rules)('lint: $name finds its bad example and not its good one', async ({ name, bad, good }) => {
    expect((await lintBy(name, bad)).length, 'bad').toBeGreaterThan(0)
    expect(await lintBy(name, good), 'good').toEqual([])
  })

  test.each([
    [
      "activity.kind == 'CREATE_WALLET' && eth.tx.value < 5",
      ['eth.tx.value < 5', '`p` never applies: `eth.tx` is absent on `CREATE_WALLET`, so this is always an error'],
    ],
    [
      "activity.kind in ['CREATE_WALLET', 'UPDATE_WALLET'] && wallet.label == 'a'",
      [
        "wallet.label == 'a'",
        '`p` never applies: `wallet` is absent on `CREATE_WALLET` and `UPDATE_WALLET`, so this is always an error',
      ],
    ],
    [
      "activity.resource == 'POLICY' && activity.params.user_id == 'a'",
      [
        "activity.params.user_id == 'a'",
        '`p` never applies: `activity.params.user_id` is absent on every activity that it is about, so this is always an error',
      ],
    ],
    [
      "wallet.id == 'a' && private_key.id == 'b'",
      [
        "wallet.id == 'a' && private_key.id == 'b'",
        '`p` never applies: wherever it is not false, something that it reads is absent, which is an error',
      ],
    ],
  ])('lint: what the activities of a policy do not have is marked: %s', async (condition, expected) => {
    const off = Object.fromEntries(rules.map(({ name }) => [name, 'off' as const]))
    const { diagnostics } = lintDefinitions(await load(allow(condition)), { ...off, 'allow-never-applies': 'warning' })
    expect(diagnostics.flatMap(({ message, span }) => [span.source.text.slice(span.start, span.end), message])).toEqual(
      expected,
    )
  })

  test('lint: every rule says what it finds, why it matters and how to solve it', () => {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length)
    for (const { name, summary, why, solve } of rules) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
      for (const text of [summary, solve]) expect(text).toMatch(/^[`a-z].*[^.]$/)
      expect(why).toMatch(/^[`A-Z].*\.$/s)
    }
  })

  const cases: readonly { rule: string; name: string; policies: string; found: number }[] = [
    {
      rule: 'raw-signing-bypass',
      name: 'another wallet',
      policies: `${allow("activity.kind == 'SIGN_TRANSACTION' && wallet.id == '1' && eth.tx.value < 5")}\nq:\n  effect: allow\n  condition: activity.action == 'SIGN' && wallet.id == '2'`,
      found: 0,
    },
    {
      rule: 'raw-signing-bypass',
      name: 'the same wallet',
      policies: `${allow("activity.kind == 'SIGN_TRANSACTION' && wallet.id == '1' && eth.tx.value < 5")}\nq:\n  effect: allow\n  condition: activity.action == 'SIGN' && wallet.id in ['1', '2']`,
      found: 1,
    },
    {
      rule: 'raw-signing-bypass',
      name: 'typed data, which policies see',
      policies: `${allow('eth.tx.value < 5')}\nq:\n  effect: allow\n  condition: eth.eip_712.primary_type == 'Permit'`,
      found: 0,
    },
    {
      rule: 'raw-signing-bypass',
      name: 'a DENY for some people alone',
      policies: `${allow('eth.tx.value < 5')}\nq:\n  effect: allow\n  condition: activity.action == 'SIGN'\nr:\n  effect: deny\n  consensus: approvers.count() == 1\n  condition: activity.action == 'SIGN'`,
      found: 1,
    },
    {
      rule: 'pinned-activity-type',
      name: 'in a list',
      policies: deny("activity.type in ['ACTIVITY_TYPE_CREATE_WALLET', 'ACTIVITY_TYPE_SIGN_TRANSACTION']"),
      found: 1,
    },
    {
      rule: 'pinned-activity-type',
      name: 'a DENY of all but every version',
      policies: deny("!(activity.type in ['ACTIVITY_TYPE_CREATE_WALLET', 'ACTIVITY_TYPE_DELETE_WALLETS'])"),
      found: 0,
    },
    {
      rule: 'pinned-activity-type',
      name: 'a DENY of all but some versions',
      policies: deny("!(activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2')"),
      found: 1,
    },
    {
      rule: 'pinned-activity-type',
      name: 'a DENY of all but every version, denied again',
      policies: deny("!(activity.type != 'ACTIVITY_TYPE_CREATE_WALLET')"),
      found: 1,
    },
    {
      rule: 'pinned-activity-type',
      name: 'an ALLOW of all but every version',
      policies: allow("activity.type != 'ACTIVITY_TYPE_CREATE_WALLET'"),
      found: 1,
    },
    {
      rule: 'pinned-activity-type',
      name: 'an activity without a kind',
      policies: deny("activity.type == 'ACTIVITY_TYPE_CREATE_ORGANIZATION'"),
      found: 0,
    },
    {
      rule: 'deny-never-applies',
      name: 'a wallet account and a private key',
      policies: deny("wallet_account.address == '0xaa' && private_key.id == 'b'"),
      found: 1,
    },
    {
      rule: 'deny-never-applies',
      name: 'a parameter of other activities',
      policies: deny("activity.kind == 'CREATE_WALLET' && activity.params.wallet_id == 'b'"),
      found: 1,
    },
    {
      rule: 'deny-never-applies',
      name: 'chains beside each other',
      policies: deny('eth.tx.value > 5 || solana.tx.transfers.count() > 0'),
      found: 1,
    },
    { rule: 'deny-never-applies', name: 'a chain alone', policies: deny('eth.tx.value > 5'), found: 0 },
    {
      rule: 'error-hides-clause',
      name: 'sides that are both there',
      policies: deny("wallet.id == 'a' || wallet.exported"),
      found: 0,
    },
    {
      rule: 'empty-all',
      name: 'a guard the other way round',
      policies: deny("0 < tempo.tx.calls.count() && tempo.tx.calls.all(c, c.to == '0xaa')"),
      found: 0,
    },
    {
      rule: 'empty-all',
      name: 'a guard of another list',
      policies: deny("solana.tx.transfers.count() > 0 && tempo.tx.calls.all(c, c.to == '0xaa')"),
      found: 1,
    },
    {
      rule: 'empty-all',
      name: 'a guard that does not hold beside it',
      policies: deny("tempo.tx.calls.count() > 0 || tempo.tx.calls.all(c, c.to == '0xaa')"),
      found: 1,
    },
    {
      rule: 'empty-all',
      name: 'approvers, of whom there is always one',
      policies: "p:\n  effect: deny\n  consensus: approvers.all(u, u.email == '')",
      found: 0,
    },
    {
      rule: 'free-index',
      name: 'at most that many',
      policies: deny("tempo.tx.calls.count() <= 1 && tempo.tx.calls[0].to == '0xaa'"),
      found: 0,
    },
    {
      rule: 'free-index',
      name: 'more than that',
      policies: deny("tempo.tx.calls.count() <= 2 && tempo.tx.calls[0].to == '0xaa'"),
      found: 1,
    },
    {
      rule: 'free-index',
      name: 'the one contract of Tron',
      policies: deny('tron.tx.contract[0].amount > 5'),
      found: 0,
    },
    {
      rule: 'free-index',
      name: 'a place in a tuple',
      policies: deny("eth.tx.contract_call_args['order'][0] == 5"),
      found: 0,
    },
    {
      rule: 'shadowed-by-deny',
      name: 'fewer wallets than are denied',
      policies: `${allow("activity.kind == 'SIGN_TRANSACTION' && wallet.id == '1'")}\nq:\n  effect: deny\n  condition: wallet.id in ['1', '2']`,
      found: 1,
    },
    {
      rule: 'shadowed-by-deny',
      name: 'more wallets than are denied',
      policies: `${allow("activity.kind == 'SIGN_TRANSACTION' && wallet.id in ['1', '3']")}\nq:\n  effect: deny\n  condition: wallet.id in ['1', '2']`,
      found: 0,
    },
    {
      rule: 'shadowed-by-deny',
      name: 'a DENY at some times',
      policies: `${allow("activity.kind == 'CREATE_WALLET'")}\nq:\n  effect: deny\n  time: time.now > Timestamp('2030-01-01T00:00:00Z')`,
      found: 0,
    },
    {
      rule: 'unreachable-threshold',
      name: 'two users of one tag, of three',
      policies:
        "p:\n  effect: allow\n  consensus: approvers.filter(u, u.tags.contains('${tag.treasury}')).count() >= 3",
      found: 1,
    },
    {
      rule: 'unreachable-threshold',
      name: 'exactly two',
      policies: 'p:\n  effect: allow\n  consensus: approvers.count() == 2',
      found: 0,
    },
    {
      rule: 'unreachable-threshold',
      name: 'exactly four',
      policies: 'p:\n  effect: allow\n  consensus: approvers.count() == 4',
      found: 1,
    },
    {
      rule: 'unreachable-threshold',
      name: 'a user who is not defined here',
      policies: "p:\n  effect: allow\n  consensus: approvers.any(u, u.id == '00000000-0000-4000-8000-000000000000')",
      found: 0,
    },
    {
      rule: 'unreachable-threshold',
      name: 'credentials, which definitions do not know',
      policies: 'p:\n  effect: allow\n  consensus: credentials.count() >= 9',
      found: 0,
    },
    {
      rule: 'unknown-activity',
      name: 'the other spelling of a word',
      policies: deny("activity.kind == 'LAYER2_SIGN_FROST'"),
      found: 0,
    },
    { rule: 'mixed-case-hex', name: 'a label that looks like hex', policies: deny("wallet.label == '0xAB'"), found: 0 },
    {
      rule: 'negated-function-name',
      name: 'under a negation',
      policies: allow("!(eth.tx.function_name == 'approve')"),
      found: 1,
    },
    {
      rule: 'slice-length',
      name: 'a shorter text, which a short value may equal',
      policies: deny("eth.tx.data[0..10] == '0x'"),
      found: 0,
    },
  ]

  test.each(cases)('lint: $rule, $name', async ({ rule, policies, found }) => {
    expect((await lintBy(rule, policies)).length).toBe(found)
  })
})

describe('lint: places, severities and suppressions', () => {
  const upper =
    "p:\n  effect: deny\n  # of the old token\n  condition: >-\n    eth.tx.value > 5\n    && eth.tx.data == '0xAB'"

  test('lint: a finding is at its place in a block', async () => {
    expect(await lint(upper, { 'unused-tag': 'off' })).toEqual(["mixed-case-hex@6:'0xAB'"])
  })

  test('lint: a tag is found where it is defined', async () => {
    expect(await lint(deny('eth.tx.value > 5'))).toEqual(['unused-tag@-5:treasury'])
  })

  test('lint: severities are those that are given', async () => {
    const { diagnostics } = lintDefinitions(await load(upper), { 'mixed-case-hex': 'error', 'unused-tag': 'off' })
    expect(diagnostics.map(({ severity }) => severity)).toEqual(['error'])
  })

  test.each([
    ['above the policy', `# quorate-lint-disable mixed-case-hex: as in the paper\n${upper}`, []],
    [
      'inside of the policy',
      upper.replace('# of the old token', '# quorate-lint-disable mixed-case-hex: as in the paper'),
      [],
    ],
    ['behind its name', upper.replace('p:', 'p: # quorate-lint-disable mixed-case-hex: as in the paper'), []],
    [
      'without a reason',
      `# quorate-lint-disable mixed-case-hex\n${upper}`,
      ['unexplained-suppression@1:# quorate-lint-disable mixed-case-hex'],
    ],
    [
      'of another policy',
      `${upper}\nq:\n  # quorate-lint-disable mixed-case-hex: as in the paper\n  effect: deny\n  condition: wallet.exported`,
      ["mixed-case-hex@6:'0xAB'", 'unused-suppression@8:# quorate-lint-disable mixed-case-hex: as in the paper'],
    ],
    [
      'of a rule that there is not',
      `# quorate-lint-disable mixed-hex: why not\n${upper}`,
      ['unused-suppression@1:# quorate-lint-disable mixed-hex: why not', "mixed-case-hex@7:'0xAB'"],
    ],
  ])('lint: a suppression %s', async (_, policies, expected) => {
    expect(await lint(policies, { 'unused-tag': 'off' })).toEqual(expected)
  })

  test('lint: a tag may be suppressed where it is defined', async () => {
    const head = people.replace(
      'tags: { treasury: {} }',
      'tags:\n  treasury: {} # quorate-lint-disable unused-tag: for a later team',
    )
    expect(await lint(deny('eth.tx.value > 5'), {}, head)).toEqual([])
  })

  test('lint: fixes say what is written in the file, and none touches what came from outside', async () => {
    const loaded = await load(
      "p: { effect: deny, condition: 'eth.tx.data in [''0xAB'', ''${var.token}'']' }\nq: { effect: deny, condition: \"activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'\" }",
    )
    const { fixes } = lintDefinitions(loaded)
    expect(fixes.map(({ span, text }) => [span.source.text.slice(span.start, span.end), text])).toEqual([
      ["activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'", "activity.kind == 'CREATE_WALLET'"],
      ["''0xAB''", "''0xab''"],
    ])
  })

  test('lint: the example has nothing to be advised on', async () => {
    const loaded = await loadDefinitions(join(repository, 'definitions/acme'), {
      env: {},
      vars: {},
      policiesOnly: true,
    })
    expect(loaded.desired?.resources.filter(({ kind }) => kind === 'policy').length).toBeGreaterThan(5)
    expect(renderDiagnostics(lintDefinitions(loaded).diagnostics)).toBe('')
  })
})

describe('lint: configuration', () => {
  const read = (text: string) => {
    const { severities, diagnostics } = readLintFile(createSource('quorate.lint.yaml', text))
    return { severities, faults: diagnostics.map(({ message, help }) => (help ? `${message}; ${help}` : message)) }
  }

  test.each([
    ['rules:\n  free-index: error\n  unused-tag: off\n', { 'free-index': 'error', 'unused-tag': 'off' }, []],
    ['', {}, []],
    ['rules: {}', {}, []],
    ['rules: { free-indx: error }', {}, ['there is no rule `free-indx`; did you mean `free-index`?']],
    ['rules: { free-index: fatal }', {}, ['expected `off`, `info`, `warning` or `error`']],
    ['rule: {}', {}, ['unknown key `rule`; known here: `rules`']],
    ['- a', {}, ['expected `rules:` and a severity for each']],
  ])('lint: configuration %j', (text, severities, faults) => {
    expect(read(text)).toEqual({ severities, faults })
  })
})
