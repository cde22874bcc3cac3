import { describe, expect, test } from 'vitest'
import { forecast } from '../../src/analysis/index.ts'
import { digestOf, makePlan, type Plan, readPlan, sealed, writePlan } from '../../src/plan/index.ts'
import { acme } from './organization.ts'
import { planInput, planOf } from './planning.ts'

const input = planInput({ desired: acme() })
const plan = sealed(forecast(makePlan(input).plan, input))
const file = writePlan(plan)

describe('document', () => {
  test('what is written is read', () => {
    expect(readPlan(file)).toEqual(plan)
    expect(readPlan(JSON.stringify(plan))).toEqual(plan)
    expect(readPlan(JSON.stringify(plan, null, 2))).toEqual(plan)
  })

  test('planning twice gives the same bytes, and another time only another time', () => {
    expect(writePlan(sealed(forecast(makePlan(input).plan, input)))).toBe(file)
    const later = makePlan({ ...input, now: '2027-01-01T00:00:00Z' }).plan
    const { createdAt: _one, ...first } = makePlan(input).plan
    const { createdAt: _two, ...second } = later
    expect(second).toEqual(first)
  })

  test('a plan without a change has no batches', () => {
    const empty = planOf({})
    expect([empty.changes, empty.batches, empty.ids]).toEqual([[], [], {}])
    expect(readPlan(writePlan(empty))).toEqual(empty)
  })

  test('an edit with its digest made anew is refused by the seal', () => {
    const other = { ...plan, organization: { ...plan.organization, name: 'evil' } }
    const forged = { ...(JSON.parse(file) as Plan), ...other, digest: digestOf(other) }
    expect(() => readPlan(JSON.stringify(forged))).toThrow(expect.objectContaining({ code: 'plan/edited' }))
  })

  test('the digest covers every member but the time and how many reads it took', () => {
    for (const member of Object.keys(plan).filter((name) => name !== 'createdAt' && name !== 'digest')) {
      const { [member as 'ids']: _left, ...rest } = plan
      expect(digestOf(rest as Plan), member).not.toBe(plan.digest)
    }
    expect(digestOf({ ...plan, createdAt: '2000-01-01T00:00:00Z' })).toBe(plan.digest)
    const counted = (reads: number, submits: number) => digestOf({ ...plan, requests: { reads, submits } })
    expect(counted(12, 1)).toBe(counted(13, 1))
    expect(counted(12, 1)).not.toBe(counted(12, 2))
  })

  const foreign: readonly { name: string; text: string; message: string }[] = [
    { name: 'no JSON', text: 'plan:', message: 'the file is not a plan that this version reads: it is not JSON' },
    {
      name: 'another version',
      text: '{"format":"quorate.plan/2"}',
      message:
        'the file is not a plan that this version reads: expected `format` to be `quorate.plan/1`, got `quorate.plan/2`',
    },
    {
      name: 'another document',
      text: 'null',
      message:
        'the file is not a plan that this version reads: expected `format` to be `quorate.plan/1`, got `undefined`',
    },
  ]
  test.each(foreign)('$name is a foreign format', ({ text, message }) => {
    expect(() => readPlan(text)).toThrow(expect.objectContaining({ code: 'plan/foreign-format', message }))
  })

  test('a plan of another shape is refused, saying where', () => {
    expect(() => readPlan(JSON.stringify({ ...plan, batches: {} }))).toThrow(
      expect.objectContaining({
        code: 'plan/edited',
        message: 'the plan was changed after it was made: /batches must be array',
      }),
    )
  })
})
