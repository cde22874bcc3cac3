/** What a lock says anew, beside what a plan changes. */
import { expect, test } from 'vitest'
import { lockNews, type Planned } from '../../src/operations/index.ts'
import { declare, live, lockOfDeclared, ORGANIZATION } from '../plan/organization.ts'
import { planOf } from '../plan/planning.ts'

test('a rename that a plan of a part leaves out is no news of the lock alone', () => {
  const actual = [live('tag.old'), live('tag.far')]
  const desired = [declare('tag.new', {}, { renamedFrom: 'old' }), declare('tag.far')]
  const vouched = lockOfDeclared(actual, actual)
  const next = {
    [ORGANIZATION]: { 'tag.new': vouched[ORGANIZATION]!['tag.old']!, 'tag.far': vouched[ORGANIZATION]!['tag.far']! },
  }
  const newsOf = (targets: readonly string[] | undefined) => {
    const plan = planOf({ actual, desired, lock: vouched, ...(targets ? { targets } : {}) })
    return lockNews({ plan, vouched, lock: () => next } as Partial<Planned> as Planned).renamed
  }
  expect(newsOf(undefined)).toEqual([])
  expect(newsOf(['tag.far'])).toEqual([])
})
