/** Plans of sub-organizations: stand-ins and the ids that replace them, digests over all of it, and what is said of them. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  appliedPlans,
  checkFresh,
  digestOf,
  foresee,
  isStandIn,
  makePlan,
  type Plan,
  readPlan,
  renderPlanMarkdown,
  renderPlanText,
  settle,
  summarize,
  withInside,
  withoutInside,
  writePlan,
} from '../../src/plan/index.ts'
import type { Actual, Resource } from '../../src/resources/index.ts'
import { declare, desiredOf, idFor, key, ref } from './organization.ts'
import { NOW, planOf } from './planning.ts'

const INSIDE = [
  declare('organization', { name: 'customer-1' }),
  declare('rootQuorum', { threshold: 1, users: [ref('user.ann'), ref('user.bob')] }),
  declare('tag.vip'),
  declare('user.ann', { email: 'ann@customer.test', tags: [ref('tag.vip')] }),
  declare('apiKey.ann.laptop', key('ann')),
  declare('user.bob'),
  declare('apiKey.bob.laptop', key('bob')),
  declare('user.clerk'),
  declare('apiKey.clerk.laptop', key('clerk')),
  declare('wallet.main'),
  declare('wallet.other'),
]
const PARENT = { userId: idFor('user.root'), userName: 'root', publicKey: '02' }

function planInside(actual: Actual): Plan {
  const desired = { ...desiredOf(INSIDE), organization: 'customer-1' }
  const creators = Object.fromEntries(actual.resources.map(({ id }) => [id!, actual.actor]))
  const input = { desired, actual, lock: {}, creators, baseUrl: 'http://127.0.0.1:1', allow: [], now: NOW }
  const { plan, diagnostics } = makePlan(input)
  expect(diagnostics).toEqual([])
  return plan
}

const foreseen = foresee({ organization: 'customer-1', resources: INSIDE }, PARENT)
const planned = planInside(foreseen)

/** What came of the creation, with ids in an order that has nothing to do with that of the stand-ins. */
function made(): Actual {
  const text = JSON.stringify(foreseen)
  const standIns = [...new Set(text.match(/00000000-0000-0000-[0-9a-f]{4}-[0-9a-f]{12}/g))]
  const ids = new Map(standIns.map((id) => [id, idFor(`made ${id}`)]))
  return JSON.parse(text.replaceAll(/00000000-0000-0000-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => ids.get(id)!)) as Actual
}

describe('stand-ins', () => {
  test('foresee: the members with their keys, the first wallet and the logins come with the creation, and nothing else', () => {
    expect(foreseen.resources.map(({ address }: Resource) => address).toSorted()).toEqual([
      'apiKey.ann.laptop',
      'apiKey.bob.laptop',
      'feature.EMAIL_AUTH',
      'feature.EMAIL_RECOVERY',
      'feature.OTP_EMAIL_AUTH',
      'feature.SMS_AUTH',
      'organization',
      'rootQuorum',
      'user.ann',
      'user.bob',
      'wallet.main',
    ])
    expect(isStandIn(foreseen.organizationId)).toBe(true)
    expect(planned.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
      'create tag.vip',
      'update user.ann',
      'create user.clerk',
      'create apiKey.clerk.laptop',
      'create wallet.other',
    ])
  })

  test('settle: the plan is the one that would have been made of what lives, and it is fresh', () => {
    const actual = made()
    const settled = settle(planned, actual)
    expect(settled).toEqual(planInside(actual))
    checkFresh(settled, actual)
    expect(JSON.stringify(settled)).not.toContain('00000000-0000-0000-')
  })

  test('settle: what lives otherwise than foreseen is stale, and what is not there is refused', () => {
    const actual = made()
    const stranger = {
      ...actual.resources[0]!,
      address: 'policy.x',
      kind: 'policy' as const,
      name: 'x',
      id: idFor('x'),
    }
    const more = { ...actual, resources: [...actual.resources, stranger] }
    expect(() => checkFresh(settle(planned, more), more)).toThrow(/`policy.x` is new/)
    const less = { ...actual, resources: actual.resources.filter(({ address }) => address !== 'user.ann') }
    expect(() => settle(planned, less)).toThrow(expect.objectContaining({ code: 'plan/stale' }))
  })
})

describe('one document', () => {
  const comparedOnly: Plan = { ...planned, comparedOnly: { couldApply: ['ann', 'bob'] } }
  const compared: Plan = { ...comparedOnly, digest: digestOf(comparedOnly) }
  const parent = planOf({ desired: [declare('tag.ops')] })
  const plan = withInside(parent, [compared], { reads: 7 })

  test('a plan with what is inside is read as it was written, and any edited byte of it is refused', () => {
    const text = writePlan(plan)
    expect(readPlan(text)).toEqual(plan)
    const start = text.indexOf('"subOrganizations"')
    fc.assert(
      fc.property(fc.integer({ min: start, max: text.length - 3 }), fc.constantFrom('0', 'x', '"', ' '), (at, char) => {
        fc.pre(text[at] !== char)
        expect(() => readPlan(text.slice(0, at) + char + text.slice(at + 1))).toThrow(/was changed|is not a plan/)
      }),
      { numRuns: 300 },
    )
    const { subOrganizations: _, ...without } = JSON.parse(text)
    expect(() => readPlan(JSON.stringify(without))).toThrow(expect.objectContaining({ code: 'plan/edited' }))
  })

  test('the digest covers what is inside, and is that of the part that is carried out by itself', () => {
    expect(withoutInside(plan)).toMatchObject({ digest: plan.digest })
    expect('subOrganizations' in withoutInside(plan)).toBe(false)
    expect(withInside(parent, [planned], { reads: 7 }).digest).not.toBe(plan.digest)
    expect(plan.requests).toEqual({ reads: 7, submits: 1 })
    expect(appliedPlans(plan)).toEqual([plan])
  })

  test('render: what is inside stands under its own name, and who could apply what was only compared', () => {
    expect(summarize(plan)).toBe('1 change in 1 activity; 5 changes inside 1 sub-organization')
    const text = renderPlanText(plan)
    expect(text).toContain('\ncustomer-1: 5 changes, compared only: to apply them takes a key of ann or bob\n')
    expect(text).toContain('made by this plan')
    expect(text).toContain('\n+ customer-1/tag.vip')
    const markdown = renderPlanMarkdown(plan)
    expect(markdown).toContain('- customer-1: 5 changes, compared only: to apply them takes a key of ann or bob')
    expect(markdown).toContain('+ customer-1/tag.vip')
    expect(renderPlanText(withInside(planOf({}), [], { reads: 1 }))).toMatch(/No changes\.\n$/)
  })
})
