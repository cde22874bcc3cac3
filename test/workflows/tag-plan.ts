import { type Batch, digestOf, type Plan } from '../../src/plan/index.ts'

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
  const plan: Plan = {
    format: 'quorate.plan/1',
    organization: { name: 'acme', id: organizationId, baseUrl },
    actor: { userId: 'alice', userName: 'alice', publicKey: 'alice' },
    definitionsDigest: '0'.repeat(64),
    liveDigest: '0'.repeat(64),
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
