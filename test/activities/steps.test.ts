import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toFailure } from '../../activities/failure.ts'
import { applyCodes } from '../../activities/index.ts'
import { intentText } from '../../activities/intent.ts'
import { readVotes } from '../../activities/vote-state.ts'
import { ClientError, clientCodes } from '../../src/client/index.ts'
import { LiveError, codes as liveCodes } from '../../src/live/index.ts'
import { APPROVAL_WINDOW_MS, type Json, type Wire } from '../../src/protocol/index.ts'

const HOUR = 3_600_000
const T0 = Date.parse('2026-01-01T00:00:00Z')
type Given = readonly [who: string, afterHours: number, kind?: 'reject']

function activity(votes: readonly Given[]): Wire.Activity {
  const at = (hours: number) => ({ seconds: String((T0 + hours * HOUR) / 1000), nanos: '0' })
  return {
    createdAt: at(0),
    votes: votes.map(([who, hours, kind]) => ({
      userId: who,
      user: { userName: who },
      publicKey: `key-of-${who}`,
      selection: kind === 'reject' ? 'VOTE_SELECTION_REJECTED' : 'VOTE_SELECTION_APPROVED',
      createdAt: at(hours),
    })),
  } as unknown as Wire.Activity
}

describe('votes: which approvals count', () => {
  const cases: { name: string; votes: readonly Given[]; hours: number; approved: string[]; mine: boolean }[] = [
    { name: 'the submission is the first', votes: [['alice', 0]], hours: 1, approved: ['alice'], mine: true },
    {
      name: 'others add to it',
      votes: [
        ['alice', 0],
        ['bob', 23],
      ],
      hours: 23.5,
      approved: ['alice', 'bob'],
      mine: true,
    },
    {
      name: 'all lapse after 24 hours',
      votes: [
        ['alice', 0],
        ['bob', 23],
      ],
      hours: 24,
      approved: [],
      mine: false,
    },
    {
      name: 'a later one opens the next window',
      votes: [
        ['alice', 0],
        ['bob', 30],
      ],
      hours: 31,
      approved: ['bob'],
      mine: false,
    },
    {
      name: 'cast again, it counts again',
      votes: [
        ['alice', 0],
        ['bob', 30],
        ['alice', 31],
      ],
      hours: 32,
      approved: ['bob', 'alice'],
      mine: true,
    },
    {
      name: 'the next window lapses too',
      votes: [
        ['alice', 0],
        ['bob', 30],
      ],
      hours: 54,
      approved: [],
      mine: false,
    },
    { name: "somebody else's submission is not mine", votes: [['bob', 0]], hours: 1, approved: ['bob'], mine: false },
    {
      name: 'a rejection is no approval',
      votes: [
        ['alice', 0],
        ['bob', 1, 'reject'],
      ],
      hours: 2,
      approved: ['alice'],
      mine: true,
    },
  ]
  test.each(cases)('$name', ({ votes, hours, approved, mine }) => {
    const read = readVotes(activity(votes), 'key-of-alice', T0 + hours * HOUR)
    expect({ approved: read.approved, mine: read.mine }).toEqual({ approved, mine })
  })

  test('no approval older than a window ever counts', () => {
    const hours = fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 8 })
    fc.assert(
      fc.property(hours, fc.integer({ min: 0, max: 200 }), (given, later) => {
        const all = [0, ...given].sort((a, b) => a - b)
        const now = T0 + (all.at(-1)! + later) * HOUR
        const { approved } = readVotes(activity(all.map((hour) => [`u${hour}`, hour])), 'key', now)
        return approved.every((name) => now - (T0 + Number(name.slice(1)) * HOUR) < APPROVAL_WINDOW_MS)
      }),
    )
  })
})

describe('intents: what is equal', () => {
  test.each<[string, Json, Json, boolean]>([
    ['order of members', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ['null says nothing', { a: 1, b: null }, { a: 1 }, true],
    ['nor does an empty list', { a: 1, b: [] }, { a: 1 }, true],
    ['an empty text does', { a: '' }, {}, false],
    ['order of a list', { a: [1, 2] }, { a: [2, 1] }, false],
    ['another value', { a: 1 }, { a: 2 }, false],
  ])('%s', (_, one, other, equal) => {
    expect(intentText(one) === intentText(other)).toBe(equal)
  })
})

describe('failures: what Temporal is told', () => {
  test('every code of the API, of reading and of applying is retried by its row', () => {
    for (const [code, row] of Object.entries(clientCodes)) {
      const failure = toFailure(new ClientError(code as keyof typeof clientCodes, 'said', { submitted: 'no' }))
      expect({ code: failure.type, again: !failure.nonRetryable }).toEqual({
        code,
        again: 'retryable' in row && row.retryable,
      })
    }
    for (const [code, row] of Object.entries(liveCodes)) {
      const failure = toFailure(new LiveError(code as keyof typeof liveCodes, 'said'))
      expect({ code, again: !failure.nonRetryable }).toEqual({ code, again: 'retryable' in row && row.retryable })
    }
    expect(toFailure(new Error('boom'))).toMatchObject({ type: 'apply/unexpected', nonRetryable: true })
    for (const code of Object.keys(applyCodes)) expect(code).toMatch(/^(apply|rotate)\/[a-z-]+$/)
  })

  test('how long the API asks to wait is passed on', () => {
    const error = new ClientError('client/rate-limited', 'busy', { submitted: 'no', retryAfterMs: 7_000 })
    expect(toFailure(error).nextRetryDelay).toBe(7_000)
  })

  test('neither a cause, a stack nor an endless text gets into a history', () => {
    const cause = new Error('planted-secret')
    const failure = toFailure(
      new ClientError('client/invalid', 'x'.repeat(10_000), {
        submitted: 'no',
        cause,
        facts: { long: 'y'.repeat(10_000) },
      }),
    )
    expect(JSON.stringify([failure.message, failure.details, failure.stack, failure.cause])).not.toContain(
      'planted-secret',
    )
    expect(JSON.stringify(failure.details).length + failure.message.length).toBeLessThan(5_000)
    expect(failure.stack).toBe('')
  })
})
