/** Which applies inside an organization may begin: the rules, without a Temporal server. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ApplyNews, InsideOutline } from '../../activities/model.ts'
import { InsideRun } from '../../workflows/inside-run.ts'

const OWN = 'own'
const outlineOf = (living: number, made: number, isOwnFirst = true): InsideOutline => ({
  isOwnFirst,
  organizations: [
    ...Array.from({ length: living }, (_, n) => ({ name: `living-${n}` })),
    ...Array.from({ length: made }, (_, n) => ({ name: `made-${n}`, madeBy: n })),
  ],
})

function begun(outline: InsideOutline, given: { readonly isOwnElsewhere?: boolean } = {}): InsideRun {
  const run = new InsideRun({ planDigest: OWN, run: 'token', ...given })
  run.begin(outline)
  return run
}

const own = (state: ApplyNews['state'], made: readonly number[] = [], hasDone = made.length > 0): ApplyNews => ({
  planDigest: OWN,
  state,
  made,
  hasDone,
})
const of = (index: number, state: ApplyNews['state']): ApplyNews => ({
  planDigest: `plan-${index}`,
  state,
  made: [],
  hasDone: false,
})

/** Begins what may begin, as the workflow does. */
function beginAll(run: InsideRun): readonly number[] {
  run.leaveLost()
  const indices = run.startable()
  for (const index of indices) {
    run.enter(index)
    run.change(index, { organizationId: `org-${index}`, planDigest: `plan-${index}` })
    run.began(index)
    run.leave(index)
  }
  return indices
}

const statesOf = (run: InsideRun) => run.progress().organizations.map(({ state }) => state)

describe('applies inside: what may begin', () => {
  test('news that come before the plan is read are kept, and nothing is called waiting', () => {
    const run = new InsideRun({ planDigest: OWN, run: 'token' })
    run.hear(own('done', [0]))
    expect(run.progress()).toMatchObject({ state: 'running', organizations: [] })
    run.begin(outlineOf(0, 1))
    expect([beginAll(run), run.progress().state]).toEqual([[0], 'running'])
  })

  test('what lives begins when the own apply has come to rest, what is made when it is there', () => {
    const run = begun(outlineOf(1, 2))
    expect([beginAll(run), run.progress().state]).toEqual([[], 'running'])
    run.hear(own('running', [1]))
    expect(beginAll(run)).toEqual([2])
    run.hear(own('waiting'))
    expect(beginAll(run)).toEqual([0])
    for (const index of [0, 2]) run.hear(of(index, 'done'))
    expect(run.progress().state).toBe('waiting')
    run.hear(own('done', [0]))
    expect(beginAll(run)).toEqual([1])
    run.hear(of(1, 'done'))
    expect([statesOf(run), run.progress().state]).toEqual([['done', 'done', 'done'], 'over'])
  })

  test('four run at once; those that wait for people keep nobody from beginning', () => {
    const run = begun(outlineOf(7, 0, false))
    expect(beginAll(run)).toEqual([0, 1, 2, 3])
    expect(beginAll(run)).toEqual([])
    run.hear(of(1, 'waiting'))
    run.hear(of(2, 'failed'))
    expect(beginAll(run)).toEqual([4, 5])
    run.hear(of(1, 'running'))
    run.hear(of(0, 'done'))
    expect(beginAll(run)).toEqual([])
  })

  test.each([
    { name: 'nothing of it could be done', news: own('failed'), states: ['left', 'left'] },
    { name: 'a part of it could be done', news: own('rejected', [], true), states: ['running', 'left'] },
    { name: 'it was cancelled', news: own('cancelled', [], true), states: ['left', 'left'] },
    { name: 'it was stale', news: own('stale'), states: ['left', 'left'] },
  ])('when the own apply has ended, and $name', ({ news, states }) => {
    const run = begun(outlineOf(1, 1))
    run.hear(news)
    beginAll(run)
    expect(statesOf(run)).toEqual(states)
  })

  test('beside the own apply of another run, what lives begins and nothing else', () => {
    const run = begun(outlineOf(1, 1), { isOwnElsewhere: true })
    beginAll(run)
    expect(statesOf(run)).toEqual(['running', 'left'])
  })

  test('cancelled, nothing more begins', () => {
    const run = begun(outlineOf(6, 0, false))
    beginAll(run)
    run.cancel()
    run.hear(of(0, 'done'))
    expect([beginAll(run), run.progress().state]).toEqual([[], 'cancelled'])
  })

  test('whatever is told in whatever order, with runs that end and are gone on with: each begins once, and all come to rest', () => {
    fc.assert(
      fc.property(fc.nat(6), fc.nat(6), fc.array(fc.nat(200)), (living, made, choices) => {
        let run = begun(outlineOf(living, made))
        const begins: number[] = []
        const open: number[] = []
        const done: number[] = []
        const step = (choice: number) => {
          const started = beginAll(run)
          begins.push(...started)
          open.push(...started)
          if (choice % 5 === 0) run = new InsideRun({ planDigest: OWN, run: 'token', carried: run.carry() })
          if (choice % 3 === 0 && done.length < made) {
            done.push(done.length)
            run.hear(own(done.length === made ? 'done' : 'running', done.slice(-1)))
          } else if (open.length > 0) run.hear(of(open.splice(choice % open.length, 1)[0]!, 'done'))
        }
        for (const choice of choices) step(choice)
        while (done.length < made) step(3)
        run.hear(own('done', done))
        for (let left = living + made + 5; left > 0; left--) step(1)
        expect(begins.toSorted((a, b) => a - b)).toEqual(Array.from({ length: living + made }, (_, index) => index))
        expect(run.progress().state).toBe('over')
      }),
      { numRuns: 200 },
    )
  })
})
