import { type Batch, digestOf, type Plan } from '../../src/plan/index.ts'

/** Where a plan is applied, and as whom. */
export interface PlanPlace {
  readonly organizationId: string
  readonly baseUrl: string
  readonly userId: string
  readonly publicKey: string
}

/** A plan of these batches. It leans on nothing live, so that it is stale only when it is spent. */
export function makePlanOf({ organizationId, baseUrl, userId, publicKey }: PlanPlace, batches: readonly Batch[]): Plan {
  const plan: Plan = {
    format: 'quorate.plan/1',
    organization: { name: 'acme', id: organizationId, baseUrl },
    actor: { userId, userName: 'root', publicKey },
    definitionsDigest: '',
    liveDigest: '',
    live: { every: [], things: [] },
    changes: [],
    batches,
    ids: {},
    unmanaged: [],
    guards: [],
    createdAt: '2026-01-01T00:00:00.000Z',
    digest: '',
  }
  return { ...plan, digest: digestOf(plan) }
}

/** Pairs of a tag and a policy that needs the tag's id, in chains of five: there is always something that must wait. */
export function makePairs(pairs: number): readonly Batch[] {
  return Array.from({ length: pairs }, (_, n): Batch[] => {
    const [tag, policy] = [2 * n, 2 * n + 1]
    const consensus = { $text: ["approvers.any(user, user.tags.contains('", { $ref: `tag.t${n}` }, "'))"] }
    return [
      {
        index: tag,
        type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
        summary: `create tag t${n}`,
        parameters: { userTagName: `t${n}`, userIds: [] },
        changes: [`tag.t${n}`],
        after: n % 5 === 0 ? [] : [tag - 1],
        produces: [{ address: `tag.t${n}`, at: ['createUserTagResult', 'userTagId'] }],
      },
      {
        index: policy,
        type: 'ACTIVITY_TYPE_CREATE_POLICIES',
        summary: `create policy p${n}`,
        parameters: {
          policies: [{ policyName: `p${n}`, effect: 'EFFECT_DENY', consensus, condition: 'false', notes: '' }],
        },
        changes: [`policy.p${n}`],
        after: [tag],
        produces: [{ address: `policy.p${n}`, at: ['createPoliciesResult', 'policyIds', 0] }],
      },
    ]
  }).flat()
}
