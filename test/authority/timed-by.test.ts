/** Policies whose times may change an answer. */
import { expect, test } from 'vitest'
import { timedBy } from '../../src/authority/index.ts'
import { authorize, compilePolicy, type PolicyContext, type PolicyText } from '../../src/policy/index.ts'

const NIGHT = "CronSpan('0 20 * * *', '9h', 'UTC')"
const REQUEST: PolicyContext = {
  now: BigInt(Date.parse('2026-01-01T12:00:00Z')) * 1_000_000n,
  activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' },
  approvers: [{ id: 'u-ana', tags: [] }],
}

function named(...texts: readonly Partial<PolicyText>[]): readonly string[] {
  const policies = texts.map((text, index) =>
    compilePolicy({ id: `id${index}`, name: `p${index}`, effect: 'EFFECT_ALLOW', ...text }),
  )
  return timedBy(policies, REQUEST, (some) => authorize(some, REQUEST).outcome)
}

test('authority: policies whose times may change what comes of a request are named', () => {
  expect(named({ time: NIGHT })).toEqual(['p0'])
  expect(named({ time: NIGHT, effect: 'EFFECT_DENY' }, {})).toEqual(['p0'])
  expect(named({ time: NIGHT }, {})).toEqual([])
  expect(named({ time: NIGHT, condition: "activity.action == 'EXPORT'" })).toEqual([])
  expect(named({ time: "time.now >= Timestamp('1970-01-01T00:00:00Z')" })).toEqual([])
  // Of many times it is not tried out which of them matter.
  const spans = [1, 2, 3, 4, 5].map((hour) => ({ time: `CronSpan('0 ${hour} * * *', '1h', 'UTC')` }))
  expect(named({}, ...spans)).toEqual(['p1', 'p2', 'p3', 'p4', 'p5'])
})
