/**
 * The steps that begin what is inside an organization, called by somebody who reaches Temporal and even has the key of the
 * payloads: each looks for itself whether it may, and none of them signs anything.
 */
import { join } from 'node:path'
import { ApplicationFailure } from '@temporalio/common'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Activities, createActivities, createPlanStore, type PlanStore } from '../../activities/index.ts'
import type { InsideProgress } from '../../activities/model.ts'
import { digestOf, foresee, type Plan } from '../../src/plan/index.ts'
import { silentLogger } from '../../src/telemetry/index.ts'
import { testFolder } from '../cli/harness.ts'
import { makePlanOf } from '../workflows/made-plan.ts'
import { makeTagPlan, planWithInside } from '../workflows/tag-plan.ts'

const ORGANIZATION = '10000000-0000-4000-8000-000000000001'
const CHILD = '20000000-0000-4000-8000-000000000002'
const BASE = 'http://127.0.0.1:1'

let store: PlanStore
let steps: Activities
/** Who asked for a client that can sign. */
let opened: string[]
beforeEach(() => {
  opened = []
  store = createPlanStore(join(testFolder(), 'plans'))
  const clientFor = ({ name }: Plan['organization']) => {
    opened.push(name)
    throw new Error('no step of these may come so far')
  }
  steps = createActivities({ clientFor, planStore: store, clock: Date.now, logger: silentLogger })
})

const place = { organizationId: ORGANIZATION, baseUrl: BASE, userId: 'alice', publicKey: 'alice' }
const sealed = (plan: Plan): Plan => ({ ...plan, digest: digestOf(plan) })
const named = (plan: Plan, name: string): Plan => sealed({ ...plan, organization: { ...plan.organization, name } })

/** One that lives, and one that the first batch makes. */
function planOfTwo(change: (living: Plan) => Plan = (same) => same): Plan {
  const actor = { userId: 'alice', userName: 'root', publicKey: 'alice' }
  const newId = foresee({ organization: 'new', resources: [] }, actor).organizationId
  const own = makePlanOf(place, [
    {
      index: 0,
      type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
      summary: 'create sub-organization new',
      parameters: { subOrganizationName: 'new' },
      changes: ['subOrganization.new'],
      after: [],
      produces: [{ address: 'subOrganization.new', at: ['createSubOrganizationResultV8', 'subOrganizationId'] }],
    },
  ])
  const living = change(named(makeTagPlan(CHILD, BASE, [{ name: 'a' }]), 'living'))
  return planWithInside(own, [living, named(makeTagPlan(newId, BASE, [{ name: 'b' }]), 'new')])
}

async function begin(plan: Plan) {
  await store.putPlan(plan)
  const own = { planDigest: plan.digest, run: await store.runs.open(plan.digest) }
  return { own, inside: { planDigest: plan.digest, run: await store.runs.openInside(plan.digest, own.run) } }
}

const progress: InsideProgress = { planDigest: '', state: 'over', organizations: [{ name: 'living', state: 'done' }] }

const refusedAs = async (step: Promise<unknown>, type: string) => {
  const error = await step.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ApplicationFailure)
  expect((error as ApplicationFailure).type).toBe(type)
}

describe('steps inside', () => {
  test('the token of an apply begins nothing inside, the one for inside does no step of an apply, and neither that of another plan', async () => {
    const { own, inside } = await begin(planOfTwo())
    await refusedAs(steps.loadInside({ ...own, organizationId: ORGANIZATION }), 'apply/run-refused')
    await refusedAs(steps.openInside({ ...own, index: 0 }), 'apply/run-refused')
    await refusedAs(steps.openInside({ ...own, run: 'made up', index: 0 }), 'apply/run-refused')
    await refusedAs(steps.lookInside(own), 'apply/run-refused')
    await refusedAs(steps.keepInside({ ...own, index: 0 }), 'apply/run-refused')
    await refusedAs(steps.endInside({ ...own, progress }), 'apply/run-refused')
    await refusedAs(steps.loadOutline({ ...inside, organizationId: ORGANIZATION }), 'apply/run-refused')
    await refusedAs(steps.checkPlanFresh(inside), 'apply/run-refused')
    await refusedAs(steps.spendPlan(inside), 'apply/run-refused')
    await refusedAs(steps.submitRequest({ ...inside, batch: 0 }), 'apply/run-refused')
    await refusedAs(steps.castVote({ ...inside, batch: 0, timestampMs: 1 }), 'apply/run-refused')
    const other = await begin(planOfTwo((living) => sealed({ ...living, definitionsDigest: 'other' })))
    await refusedAs(
      steps.openInside({ planDigest: other.inside.planDigest, run: inside.run, index: 0 }),
      'apply/run-refused',
    )
    await refusedAs(steps.loadInside({ ...inside, organizationId: CHILD }), 'apply/other-organization')
    expect(opened).toEqual([])
  })

  test('what is to be made is not opened before the API has said that it is there', async () => {
    const { inside } = await begin(planOfTwo())
    expect(await steps.loadInside({ ...inside, organizationId: ORGANIZATION })).toEqual({
      isOwnFirst: true,
      organizations: [{ name: 'living' }, { name: 'new', madeBy: 0 }],
    })
    await refusedAs(steps.openInside({ ...inside, index: 1 }), 'apply/batch-early')
    await refusedAs(steps.openInside({ ...inside, index: 2 }), 'apply/plan-edited')
    expect(opened).toEqual([])
  })

  test('one is opened once, for its own plan alone, and a run that is over opens nothing', async () => {
    const { inside } = await begin(planOfTwo())
    const first = await steps.openInside({ ...inside, index: 0 })
    expect(first.organizationId).toBe(CHILD)
    expect(await steps.openInside({ ...inside, index: 0 })).toMatchObject(first)
    await store.runs.assertOpen(first)
    await refusedAs(steps.loadOutline({ ...inside, run: first.run, organizationId: CHILD }), 'apply/run-refused')
    expect(await steps.loadOutline(first)).toMatchObject({ batches: [{ summary: 'create tag a' }] })
    await steps.endInside({ ...inside, progress })
    await refusedAs(steps.openInside({ ...inside, index: 0 }), 'apply/run-refused')
    // Somebody resets it at Temporal: it says how it ended, and only to its own token.
    expect(await steps.loadInside({ ...inside, organizationId: ORGANIZATION })).toMatchObject({ ended: progress })
    const other = { planDigest: inside.planDigest, run: 'made up', organizationId: ORGANIZATION }
    await refusedAs(steps.loadInside(other), 'apply/run-refused')
    expect(opened).toEqual([])
  })

  test('a newer apply of the organization ends what begins things inside for an older one', async () => {
    const { inside } = await begin(planOfTwo())
    const newer = await begin(planOfTwo((living) => sealed({ ...living, definitionsDigest: 'newer' })))
    await store.endRuns(ORGANIZATION, { except: [newer.own.run, newer.inside.run] })
    await refusedAs(steps.openInside({ ...inside, index: 0 }), 'apply/run-refused')
    await steps.openInside({ ...newer.inside, index: 0 })
  })

  test('a plan that a guard stops is carried out neither inside nor out, even if its run was let in', async () => {
    const guard = {
      name: 'deletes',
      message: 'deleting 1 of 1 policy is 100 %, over 30 %',
      addresses: ['policy.a'],
      bypass: '--allow deletes=1',
      allowed: false,
    } as const
    const { inside } = await begin(planOfTwo((living) => sealed({ ...living, guards: [guard] })))
    await refusedAs(steps.openInside({ ...inside, index: 0 }), 'apply/guarded')
    const guarded = sealed({ ...planOfTwo(), guards: [guard] })
    const { own } = await begin(guarded)
    await refusedAs(steps.checkPlanFresh(own), 'apply/guarded')
    await refusedAs(steps.spendPlan(own), 'apply/run-refused')
    expect(opened).toEqual([])
  })
})
