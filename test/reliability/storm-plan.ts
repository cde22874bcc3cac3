import type { Batch } from '../../src/plan/index.ts'
import { makePairs } from '../workflows/made-plan.ts'

/** Pairs before and after the two stops. */
const BEFORE = 11
const AFTER = 12

/** 50 changes, of which two wait for a second person: a higher quorum is asked for, and stands between the two halves. */
export function makeStops(userIds: readonly string[]): readonly Batch[] {
  const pairs = makePairs(BEFORE + AFTER)
  const before = pairs.slice(0, 2 * BEFORE)
  const raise = before.length
  const feature = { name: 'FEATURE_NAME_EMAIL_AUTH', value: '' }
  const between: readonly Batch[] = [
    quorum(
      raise,
      2,
      userIds,
      before.map(({ index }) => index),
    ),
    {
      ...bare(raise + 1, [raise]),
      type: 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
      summary: 'set feature',
      parameters: feature,
      changes: ['feature.email-auth'],
    },
    quorum(raise + 2, 1, userIds, [raise + 1]),
  ]
  const last = raise + 2
  const moved = (index: number) => (index < raise ? index : index + between.length)
  const after = pairs.slice(2 * BEFORE).map(
    (batch): Batch => ({
      ...batch,
      index: moved(batch.index),
      after: [last, ...batch.after.filter((one) => one >= raise).map(moved)],
    }),
  )
  const tag: Batch = {
    ...bare(raise + between.length + after.length, [last]),
    type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
    summary: 'create tag t99',
    parameters: { userTagName: 't99', userIds: [] },
    changes: ['tag.t99'],
    produces: [{ address: 'tag.t99', at: ['createUserTagResult', 'userTagId'] }],
  }
  return [...before, ...between, ...after, tag]
}

const bare = (index: number, after: readonly number[]) => ({ index, after, produces: [] })

function quorum(index: number, threshold: number, userIds: readonly string[], after: readonly number[]): Batch {
  return {
    ...bare(index, after),
    type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
    summary: `a quorum of ${threshold}`,
    parameters: { threshold, userIds: [...userIds] },
    changes: ['rootQuorum'],
  }
}
