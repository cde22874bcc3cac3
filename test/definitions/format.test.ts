import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatPolicies } from '../../src/definitions/index.ts'
import { createSource, renderDiagnostics } from '../../src/diagnostics/index.ts'

const repository = join(import.meta.dirname, '../..')

function format(text: string): string {
  const { text: formatted, diagnostics } = formatPolicies(createSource('a.yaml', text))
  expect(renderDiagnostics(diagnostics)).toBe('')
  return formatted
}

const long = [
  'eth.tx.value < 1000000000000000000',
  "wallet.id == '${wallet.treasury}'",
  "activity.kind == 'SIGN_TRANSACTION'",
]

describe('format definitions', () => {
  const cases: readonly { name: string; given: string; expected: string }[] = [
    {
      name: 'only what is between the quotes of an expression changes',
      given: [
        '# head',
        "users:   { alice:  {email: a@b.test} }   # odd, and no expression's business",
        '',
        'policies:',
        '  a:   # the first',
        '    effect:   allow',
        "    condition: wallet.id=='w'   # why",
        '    notes: "wallet.id==1"',
        '',
      ].join('\n'),
      expected: [
        '# head',
        "users:   { alice:  {email: a@b.test} }   # odd, and no expression's business",
        '',
        'policies:',
        '  a:   # the first',
        '    effect:   allow',
        "    condition: wallet.id == 'w'   # why",
        '    notes: "wallet.id==1"',
        '',
      ].join('\n'),
    },
    {
      name: 'quotes stay what they were',
      given:
        "policies:\n  a: { effect: deny, condition: 'wallet.label==''it''' }\n  b: { effect: deny, condition: \"wallets.count>1\" }\n",
      expected:
        "policies:\n  a: { effect: deny, condition: 'wallet.label == ''it''' }\n  b: { effect: deny, condition: \"wallets.count() > 1\" }\n",
    },
    {
      name: 'a long line becomes a block, and the comment behind it stays behind it',
      given: `policies:\n  a:\n    condition: ${long.join('&&')} # why\n    effect: deny\n`,
      expected: `policies:\n  a:\n    condition: >- # why\n      ${long.join('\n      && ')}\n    effect: deny\n`,
    },
    {
      name: 'a long line between braces stays on it',
      given: `policies: { a: { condition: "${long.join('&&')}" } }\n`,
      expected: `policies: { a: { condition: "${long.join(' && ')}" } }\n`,
    },
    {
      name: 'a block stays a block with its header and its end, one clause a line',
      given:
        "policies:\n  a:\n    condition: |+  # kept\n\n        wallet.id=='w' &&\n          wallet.exported\n\n\n    effect: deny\n",
      expected:
        "policies:\n  a:\n    condition: |+  # kept\n\n        wallet.id == 'w'\n        && wallet.exported\n\n\n    effect: deny\n",
    },
    {
      name: 'a short block on one line stays on it',
      given: "policies:\n  a:\n    condition: >-\n      wallet.id=='w'&&wallet.exported\n",
      expected: "policies:\n  a:\n    condition: >-\n      wallet.id == 'w' && wallet.exported\n",
    },
    {
      name: 'references stay, inside of quotes and outside',
      given: 'policies:\n  a:\n    condition: eth.tx.value<${var.limit}&&wallet.id==\'${wallet["a b"]}\'\n',
      expected: 'policies:\n  a:\n    condition: eth.tx.value < ${var.limit} && wallet.id == \'${wallet["a b"]}\'\n',
    },
    {
      name: 'what YAML would read as something else is quoted',
      given: 'policies:\n  a:\n    condition: (!wallet.exported)\n    consensus: (true)\n',
      expected: 'policies:\n  a:\n    condition: "!wallet.exported"\n    consensus: "true"\n',
    },
    {
      name: 'line ends of Windows stay',
      given: `policies:\r\n  a:\r\n    condition: ${long.join('&&')}\r\n    effect: deny\r\n`,
      expected: `policies:\r\n  a:\r\n    condition: >-\r\n      ${long.join('\r\n      && ')}\r\n    effect: deny\r\n`,
    },
    {
      name: 'a line that goes on is one expression',
      given: "policies:\n  a:\n    condition: wallet.id=='w'\n      &&  wallet.exported\n    effect: deny\n",
      expected: "policies:\n  a:\n    condition: wallet.id == 'w' && wallet.exported\n    effect: deny\n",
    },
    {
      name: 'an expression of what a user holds',
      given: 'users:\n  alice:\n    mfaPolicies: { m: { condition: "wallet.id==\'w\'" } }\n    tags: [a]\n',
      expected: 'users:\n  alice:\n    mfaPolicies: { m: { condition: "wallet.id == \'w\'" } }\n    tags: [a]\n',
    },
    {
      name: 'an anchor and what names it',
      given: 'policies:\n  a: { condition: &c "wallet.id==\'w\'" }\n  b: { condition: *c }\n',
      expected: 'policies:\n  a: { condition: &c "wallet.id == \'w\'" }\n  b: { condition: *c }\n',
    },
  ]

  test.each(cases)('format definitions: $name', ({ given, expected }) => {
    expect(format(given)).toBe(expected)
    expect(format(expected)).toBe(expected)
  })

  test('format definitions: an expression that does not parse is left alone, and said', () => {
    const text = "policies:\n  a:\n    condition: wallet.id=='w' &&\n    consensus: approvers.count()>1\n"
    const { text: formatted, diagnostics } = formatPolicies(createSource('a.yaml', text))
    expect(formatted).toBe("policies:\n  a:\n    condition: wallet.id=='w' &&\n    consensus: approvers.count() > 1\n")
    expect(renderDiagnostics(diagnostics)).toContain('a.yaml:3:')
    expect(diagnostics.map(({ code }) => code)).toEqual(['policy/unexpected-end'])
  })

  test('format definitions: a file that is not YAML is left alone, and said', () => {
    const { text, diagnostics } = formatPolicies(createSource('a.yaml', 'policies: {'))
    expect(text).toBe('policies: {')
    expect(diagnostics.map(({ code }) => code)).toEqual(['definitions/syntax'])
  })

  test('format definitions: the example is as it should be', () => {
    const folder = join(repository, 'definitions/acme')
    for (const file of readdirSync(folder)) {
      const text = readFileSync(join(folder, file), 'utf8')
      expect(format(text), file).toBe(text)
    }
  })

  test('format definitions: in any style, formatting again changes nothing and every other byte stays', () => {
    const clause = fc.constantFrom(
      ...long,
      'wallets.count>1',
      "!(wallet.label=='a # b')",
      "eth.tx.to in ['0xAB','0xcd']",
    )
    const expression = fc
      .tuple(fc.array(clause, { minLength: 1, maxLength: 6 }), fc.constantFrom('&&', '||', ' && ', '  ||\n'))
      .map(([clauses, operator]) => clauses.join(operator))
    const style = fc.constantFrom<(text: string) => string>(
      (text) => `"${text.replaceAll('\n', ' ')}"`,
      (text) => `'${text.replaceAll('\n', ' ').replaceAll("'", "''")}'`,
      (text) => `>-\n      ${text.replaceAll('\n', '\n      ')}`,
      (text) => `|\n         ${text.replaceAll('\n', '\n         ')}`,
    )
    fc.assert(
      fc.property(expression, style, fc.constantFrom('', ' ', '  # end'), (text, write, after) => {
        const isBlock = /^[>|]/.test(write(text))
        const given = `# a\npolicies:\n  p:\n    condition: ${write(text)}${isBlock ? '' : after}\n    # b\n    effect: deny\n`
        const once = format(given)
        expect(format(once)).toBe(once)
        expect(once.startsWith('# a\npolicies:\n  p:\n    condition: ')).toBe(true)
        expect(once.endsWith('\n    # b\n    effect: deny\n')).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
