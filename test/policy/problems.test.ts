import { describe, expect, test } from 'vitest'
import { createSource, renderDiagnostics } from '../../src/diagnostics/index.ts'
import { checkExpression, checkText, policyCodes } from '../../src/policy/index.ts'
import { problemTable } from './problem-table.ts'
import { syntaxTable } from './syntax-table.ts'

describe('problems', () => {
  test.each(problemTable)('problems: $field $text', ({ field, text, problems }) => {
    const found = checkText(field, text).map(({ severity, code, start, end, message, help = null }) => [
      severity,
      code,
      start,
      end,
      message,
      help,
    ])
    expect(found).toEqual(problems)
  })

  test.each(syntaxTable.map((row) => ({ row })))('problems: syntax error $row.0', ({ row }) => {
    const [text, code, start, end, message, help] = row
    expect(checkText('condition', text)).toEqual([
      { code, severity: 'error', message, start, end, ...(help === undefined ? {} : { help }) },
    ])
  })

  test('problems: syntax errors are of many kinds, and all of them are told apart', () => {
    expect(syntaxTable.length).toBeGreaterThanOrEqual(60)
    expect(new Set(syntaxTable.map(([text]) => text)).size).toBe(syntaxTable.length)
  })

  test.each([
    'true',
    "eth.tx.value >= 5 && eth.tx.value <= 5 && wallet.id == 'a' && wallet.id != 'b'",
    "eth.tx.value > 5 || eth.tx.value < 5 || wallet.id == 'a' || wallet.id != 'b'",
    "eth.tx.to == '0xAB' && eth.tx.to == '0xab'",
    "eth.tx.contract_call_args['a'] == 5 || eth.tx.contract_call_args['a'] != 5",
    'wallets.count() >= 1 && eth.eip_712.domain.chain_id > 0',
    "wallet.id in ['a', 'b'] && wallet.id in ['b', 'c']",
    '[1][3] == 2',
  ])('problems: what may come to either is not constant: %s', (text) => {
    expect(checkText('condition', text)).toEqual([])
  })

  test('problems: every code has a text that shows it', () => {
    const seen = new Set<string>(problemTable.flatMap(({ problems }) => problems.map(([, code]) => code)))
    const shownElsewhere = ['policy/too-long', 'policy/too-deep']
    expect(Object.keys(policyCodes).filter((code) => !seen.has(code) && !shownElsewhere.includes(code))).toEqual([])
  })

  test('problems: messages are one line without a capital or a full stop', () => {
    for (const { problems } of problemTable)
      for (const [, , , , message] of problems) expect(message).toMatch(/^[a-z`&<=!|][^\n]*[^.\n]$/)
  })

  test('problems: as diagnostics they are marked in the text', () => {
    const source = createSource('treasury.condition', "activity.action == 'SIGN' &&\n  wallet.idd == 'a'")
    expect(renderDiagnostics(checkExpression('condition', source))).toBe(
      [
        'treasury.condition:2:10: error policy/unknown-field: a Wallet has no field `idd`',
        "   2 │   wallet.idd == 'a'",
        '     │          ^^^',
        '  help: did you mean `id`?',
        '',
      ].join('\n'),
    )
  })

  test('problems: an empty time is always active, a blank one is not an expression', () => {
    expect(checkText('time', '')).toEqual([])
    expect(checkText('time', ' ').map(({ code }) => code)).toEqual(['policy/unexpected-end'])
  })
})
