import { describe, expect, test } from 'vitest'
import { line } from './figures.ts'
import { type Call, findFault, findOrder, type Model } from './linearizable.ts'
import { recordQuorums } from './quorum-history.ts'
import { type Answered, type Asked, quorumModel } from './quorum-model.ts'

describe('linearizability', () => {
  type Cell = { readonly write?: number }
  const cell: Model<number, Cell, number> = {
    initial: 0,
    apply: (state, { write }) => ({ state: write ?? state, answer: write ?? state }),
  }
  const call = (asked: Cell, from: number, to: number, answered?: number): Call<Cell, number> => ({
    ...{ asked, from, to },
    ...(answered === undefined ? {} : { answered }),
  })
  const cases: { name: string; calls: Call<Cell, number>[]; isExplained: boolean }[] = [
    {
      name: 'a read beside a write may see either',
      calls: [call({ write: 1 }, 0, 9, 1), call({}, 1, 2, 0), call({}, 3, 4, 1)],
      isExplained: true,
    },
    {
      name: 'a read after a write that was answered is stale',
      calls: [call({ write: 1 }, 0, 1, 1), call({}, 2, 3, 0)],
      isExplained: false,
    },
    {
      name: 'two reads that see a write come and go',
      calls: [call({ write: 1 }, 0, 9, 1), call({}, 1, 2, 1), call({}, 3, 4, 0)],
      isExplained: false,
    },
    {
      name: 'a write that nobody was answered may happen late, or never',
      calls: [call({ write: 1 }, 0, 1), call({}, 2, 3, 0), call({}, 4, 5, 1)],
      isExplained: true,
    },
    {
      name: 'a write that nobody was answered happens once',
      calls: [
        call({ write: 1 }, 0, 1),
        call({ write: 2 }, 0, 2, 2),
        call({}, 3, 4, 1),
        call({}, 5, 6, 2),
        call({}, 7, 8, 1),
      ],
      isExplained: false,
    },
  ]
  test.each(cases)('linearizability: $name', ({ calls, isExplained }) => {
    expect(findOrder(calls, cell) !== undefined).toBe(isExplained)
  })

  test('linearizability: an approval that counted after its voter had left the quorum is found', () => {
    const becomes = { threshold: 1, members: ['a'] }
    const calls: Call<Asked, Answered>[] = [
      {
        asked: { kind: 'propose', by: 'a', body: '1' },
        from: 0,
        to: 1,
        answered: { status: 'CONSENSUS_NEEDED', votes: ['a'] },
      },
      {
        asked: { kind: 'propose', by: 'a', body: '2', becomes },
        from: 2,
        to: 3,
        answered: { status: 'CONSENSUS_NEEDED', votes: ['a'] },
      },
      {
        asked: { kind: 'approve', by: 'c', of: '2', body: '3' },
        from: 4,
        to: 5,
        answered: { status: 'COMPLETED', votes: ['a', 'c'] },
      },
      {
        asked: { kind: 'approve', by: 'b', of: '1', body: '4' },
        from: 6,
        to: 7,
        answered: { status: 'COMPLETED', votes: ['a', 'b'] },
      },
    ]
    const model = quorumModel({ threshold: 2, members: ['a', 'b', 'c'] })
    expect(findOrder(calls.slice(0, 3), model)).toEqual([0, 1, 2])
    expect(findOrder(calls, model)).toBeUndefined()
    expect(findFault(calls, model)).toHaveLength(4)
    expect(findFault(calls.slice(0, 3), model)).toBeUndefined()
    // Beside each other, either may have been first.
    expect(findOrder(calls.with(3, { ...calls[3]!, from: 4 }), model)).toEqual([0, 1, 3, 2])
  })
})

test('votes and quorum changes: one order explains what everybody was answered, while a service is killed', async () => {
  const figures = await recordQuorums({ kills: 1, store: 'SQLite' })
  console.log(line(figures))
  expect(figures.unexplained).toBe(0)
  expect(figures.organizations).toBeGreaterThan(0)
  expect(figures.completed).toBeGreaterThan(0)
})
