import { type Batch, type Plan, withInside } from '../../src/plan/index.ts'
import { makePlanOf } from './made-plan.ts'

/** A batch that creates the tag `name`, after others; `uses` puts their ids into its user list. */
export interface TagBatch {
  readonly name: string
  readonly after?: readonly string[]
  readonly uses?: readonly string[]
}

export function makeTagPlan(organizationId: string, baseUrl: string, tags: readonly TagBatch[]): Plan {
  const indexOf = new Map(tags.map(({ name }, index) => [name, index]))
  const batches: Batch[] = tags.map(({ name, after = [], uses = [] }, index) => ({
    index,
    type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
    summary: `create tag ${name}`,
    parameters: { userTagName: name, userIds: uses.map((one) => ({ $ref: `tag.${one}` })) },
    changes: [`tag.${name}`],
    after: [...new Set([...after, ...uses])].map((one) => indexOf.get(one)!),
    produces: [{ address: `tag.${name}`, at: ['createUserTagResult', 'userTagId'] }],
  }))
  return makePlanOf({ organizationId, baseUrl, userId: 'alice', publicKey: 'alice' }, batches)
}

/** A plan with the plans of what is inside. */
export function planWithInside(plan: Plan, inside: readonly Plan[]): Plan {
  return withInside(plan, inside, { reads: 0 })
}
