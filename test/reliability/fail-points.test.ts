import { beforeAll, expect, test } from 'vitest'
import { FAIL_POINTS } from '../service/tamper.ts'
import { dieAt } from './fail-points.ts'
import { line } from './figures.ts'

let undisturbed: Awaited<ReturnType<typeof dieAt>>
beforeAll(async () => {
  undisturbed = await dieAt(undefined)
  console.log(line(undisturbed.figures))
})

test('fail points: without one, every kind of activity is answered at once, and sent again it is the same', () => {
  const { figures } = undisturbed
  expect(figures).toMatchObject({ kept: figures.kinds, unanswered: 0, changed: 0, failed: 0 })
  expect(figures.kinds).toBeGreaterThan(15)
})

test.each(FAIL_POINTS)(
  'fail points: the service dies %s, and sent again each is one activity with one effect',
  async (point) => {
    const { figures, rows } = await dieAt(point)
    console.log(line(figures))
    expect(figures).toMatchObject({ point, changed: 0, failed: 0 })
    expect(rows).toEqual(undisturbed.rows)
    // It died while they were on their way, and before or after the first of them was on disk.
    expect(figures.unanswered).toBeGreaterThan(0)
    const committed = point === 'after-commit' || point === 'before-reply'
    expect([point, figures.kept > 0]).toEqual([point, committed])
  },
  120_000,
)

test('fail points: bytes that are made anew do the same work twice', async () => {
  const types = ['ACTIVITY_TYPE_CREATE_USER_TAG'] as const
  const [once, twice] = [await dieAt('before-reply', { types }), await dieAt('before-reply', { types, naive: true })]
  expect(twice.rows['tags']).toBe(once.rows['tags']! + 1)
})
