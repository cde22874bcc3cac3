/** Files in the form of `policy-cases.yaml`, also as others write them. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSource } from '../../src/diagnostics/index.ts'
import { exact } from '../../src/scenarios/context-value.ts'
import { readCases, runCase } from '../../src/scenarios/index.ts'
import { parseTime } from '../../src/scenarios/time.ts'
import { oneLine } from './harness.ts'

function run(text: string) {
  const { cases, diagnostics } = readCases(createSource('c.yaml', text))
  return { results: cases.map(runCase), faults: diagnostics.map(oneLine) }
}

const caseOf = (condition: string, context: string, rest: string) =>
  `cases:\n- name: c\n  policies: [{name: P, effect: EFFECT_ALLOW, condition: "${condition}"}]\n  context: {activity: {type: ACTIVITY_TYPE_SIGN_TRANSACTION_V2}, approvers: [{id: u}], ${context}}\n  ${rest}\n`

describe('cases: values are read by their declared type', () => {
  test.each([
    ['a bare number beyond 2^53', 'eth.tx.value == 9007199254740993', 'eth: {tx: {value: 9007199254740993}}'],
    ['a decimal text', 'eth.tx.value == 9007199254740993', "eth: {tx: {value: '9007199254740993'}}"],
    ['an exponent', 'eth.tx.value == 1500000000000000000', 'eth: {tx: {value: 1.5e18}}'],
    ['hex without quotes', "eth.tx.to == '0x00ff'", 'eth: {tx: {to: 0x00ff}}'],
    ['a text that looks like a number', "bitcoin.tx.version == '2'", 'bitcoin: {tx: {version: 2}}'],
    ['a text that looks like a fraction', "wallet.label == '1e5'", 'wallet: {label: 1e5}'],
    ['a map of texts', "secret.static_properties['n'] == '007'", 'secret: {static_properties: {n: 007}}'],
    [
      'a decoded uint',
      "eth.tx.contract_call_args['a'] > 5",
      "eth: {tx: {contract_call_args: {a: {uint: '18446744073709551616'}}}}",
    ],
    [
      'a decoded bare number',
      "eth.tx.contract_call_args['a'] == 18446744073709551616",
      'eth: {tx: {contract_call_args: {a: {uint: 18446744073709551616}}}}',
    ],
    ['a field that is nothing', "wallet.id == 'w'", 'wallet: {id: w, label: ~}, private_key: ~, made_up: {a: 1}'],
    [
      'a parameter',
      'activity.params.otp_length == 6',
      'activity: {type: ACTIVITY_TYPE_INIT_OTP_AUTH_V3, params: {otp_length: 6}}',
    ],
  ])('cases: %s', (_, condition, context) => {
    const text = caseOf(condition, context, 'expect: {outcome: allow}')
    const whole = context.startsWith('activity')
      ? text.replace('activity: {type: ACTIVITY_TYPE_SIGN_TRANSACTION_V2}, ', '')
      : text
    expect(run(whole)).toMatchObject({ faults: [], results: [{ ok: true, outcome: 'allow' }] })
  })

  test('cases: whole numbers are exact in any notation', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 40n), fc.nat(20), (value, shift) => {
        expect(exact(`${value}e${shift}`)).toBe(value * 10n ** BigInt(shift))
        const digits = value.toString().padStart(shift + 1, '0')
        expect(exact(`${digits.slice(0, digits.length - shift)}.${digits.slice(digits.length - shift)}e${shift}`)).toBe(
          value,
        )
      }),
    )
    expect(['1.5', '1e-3', '1e999', 'x', ''].map(exact)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test.each([
    ['2026-01-01T00:00:00Z', 1_767_225_600_000_000_000n],
    ['2026-01-01T01:00:00.000000001+01:00', 1_767_225_600_000_000_001n],
    ['2026-01-01', 1_767_225_600_000_000_000n],
    ['2026-13-01T00:00:00Z', undefined],
    ['yesterday', undefined],
  ])('cases: the time %s', (text, nanoseconds) => {
    expect(parseTime(text)).toBe(nanoseconds)
  })
})

describe('cases: variants', () => {
  const text = `x: &base {activity: {type: ACTIVITY_TYPE_SIGN_TRANSACTION_V2}, approvers: [{id: u}], eth: &eth {tx: {value: 1}}}
cases:
- name: c
  policies: [{name: P, effect: EFFECT_ALLOW, condition: 'eth.tx.value == 1'}, {name: Q, effect: EFFECT_DENY, condition: "wallet.id == 'w'"}]
  context: {<<: *base}
  expect: {outcome: allow, final: OUTCOME_ALLOW, policies: {P: OUTCOME_ALLOW}}
  variants:
  - {set: {eth.tx.value: 2}, expect: {outcome: deny, policies: {P: OUTCOME_DENY_IMPLICIT, Q: OUTCOME_ERROR}}}
  - {set: {wallet.id: w}, expect: {outcome: deny, final: OUTCOME_DENY_EXPLICIT}}
  - {policy: {condition: 'eth.tx.value == 3'}, expect: {outcome: deny}}
  - {set: {approvers.1: {id: v}}}
  - {set: {batch: [{eth: *eth}, {eth: {tx: {value: 5}}}]}, expect: {outcome: deny}}
- name: after
  policies: [{name: P, effect: EFFECT_ALLOW, condition: 'eth.tx.value == 1'}]
  context: *base
  expect: {outcome: allow}
`
  test('cases: each has a name of its own, and changes nothing of the others', () => {
    const { results, faults } = run(text)
    expect(faults).toEqual([])
    expect(results.filter(({ ok }) => !ok)).toEqual([])
    expect(results.map(({ name }) => name)).toEqual([
      'c',
      ...[1, 2, 3, 4, 5].map((number) => `c, variant ${number}`),
      'after',
    ])
  })
})

describe('cases: errors by stage', () => {
  const refused = "eth.tx.nonce == '4'"
  const errs = 'eth.tx.nonce == 4'
  test.each([
    [refused, 'write', true],
    [refused, 'any', true],
    [refused, 'evaluate', false],
    [errs, 'write', false],
    [errs, 'any', true],
    [errs, 'evaluate', true],
  ])('cases: %s at stage %s: %s', (condition, stage, ok) => {
    const { results } = run(caseOf(condition, 'eth: {tx: {}}', `expect: {outcome: error, stage: ${stage}}`))
    expect(results).toMatchObject([{ outcome: 'error', ok }])
  })

  test('cases: without a stage either is meant, without an expectation nothing is wrong', () => {
    expect(run(caseOf(errs, 'eth: {tx: {}}', 'expect: {outcome: error}')).results[0]!.ok).toBe(true)
    expect(run(caseOf(errs, 'eth: {tx: {}}', 'covers: []')).results).toMatchObject([
      { outcome: 'error', expected: {}, ok: true },
    ])
  })

  test('cases: what differs is said', () => {
    const [result] = run(
      caseOf(
        'true',
        'eth: {tx: {}}',
        'expect: {outcome: deny, final: OUTCOME_DENY_EXPLICIT, policies: {P: OUTCOME_ERROR, Z: OUTCOME_ALLOW}}',
      ),
    ).results
    expect(result).toEqual({
      name: 'c',
      outcome: 'allow',
      final: 'OUTCOME_ALLOW',
      policies: { P: 'OUTCOME_ALLOW' },
      expected: {
        outcome: 'deny',
        final: 'OUTCOME_DENY_EXPLICIT',
        policies: { P: 'OUTCOME_ERROR', Z: 'OUTCOME_ALLOW' },
      },
      ok: false,
      differs: [
        'outcome: expected deny, got allow',
        'final: expected OUTCOME_DENY_EXPLICIT, got OUTCOME_ALLOW',
        'policy P: expected OUTCOME_ERROR, got OUTCOME_ALLOW',
        'policy Z: expected OUTCOME_ALLOW, got nothing',
      ],
    })
  })
})

test.each([
  ['', ['1:1 wrong-type: expected a list of cases under `cases`']],
  ['cases: {}', ['1:8 wrong-type: expected a list of cases under `cases`']],
  ['cases: [5]', ['1:9 wrong-type: expected a case with `name`, `policies`, `context` and `expect`']],
  ['cases: [{name: c}]', ['1:9 wrong-type: `c` has no policies']],
  ['a: *b', ['1:4 syntax: no anchor `&b` ends before this', '1:1 wrong-type: expected a list of cases under `cases`']],
])('cases: a file that is none: %j', (text, faults) => {
  expect(run(text)).toEqual({ results: [], faults })
})
