import { describe, expect, test } from 'vitest'
import { authorize, compilePolicy, readings, writeRefusal } from '../../src/policy/index.ts'
import { type PolicyCase, readPolicyCases } from './cases.ts'

const cases = readPolicyCases()

/** 60 cases and 84 variants: a case that is not read would pass unseen. */
test('cases: every case and variant is run', () => {
  expect(cases.length).toBe(60 + 84)
})

test('cases: every reading that a case rests on is listed', () => {
  const labels = new Set(cases.flatMap(({ restsOn }) => restsOn))
  expect([...labels].filter((label) => !Object.hasOwn(readings, label))).toEqual([])
})

describe('cases', () => {
  test.each(cases)('cases: $name', ({ policies, context, expect: expected }: PolicyCase) => {
    const refusal = writeRefusal(policies[0]!)
    if (expected.stage === 'write') expect(refusal).toMatch(/^invalid policy (condition|time): /)
    else if (expected.stage !== 'any') expect(policies.map(writeRefusal)).toEqual(policies.map(() => undefined))

    const decision = authorize(policies.map(compilePolicy), context)
    const outcomes = Object.fromEntries(decision.policies.map(({ policyId, outcome }) => [policyId, outcome]))
    if (expected.outcome === 'error') expect(outcomes[policies[0]!.id]).toBe('OUTCOME_ERROR')
    if (expected.final !== undefined) expect(decision.outcome).toBe(expected.final)
    if (expected.policies !== undefined) expect(outcomes).toEqual(expected.policies)
  })
})
