import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ACTIVITY_STATUSES, isTerminal, isWaiting } from '../../src/protocol/index.ts'
import { parseSchema } from '../../src/protocol/schema.ts'

test('status: the statuses are those of the schema', () => {
  expect([...ACTIVITY_STATUSES].sort()).toEqual([...parseSchema('ActivityStatus').enum!].sort())
})

test('status: three are final, two wait for people, none is both', () => {
  expect(ACTIVITY_STATUSES.filter(isTerminal)).toEqual([
    'ACTIVITY_STATUS_COMPLETED',
    'ACTIVITY_STATUS_FAILED',
    'ACTIVITY_STATUS_REJECTED',
  ])
  expect(ACTIVITY_STATUSES.filter(isWaiting)).toEqual([
    'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
  ])
})

test('status: a status that is not known yet is neither', () => {
  expect([isTerminal('ACTIVITY_STATUS_NEW'), isWaiting('ACTIVITY_STATUS_NEW')]).toEqual([false, false])
})

test('status: workflows run the file, so it imports nothing', () => {
  const text = readFileSync(new URL('../../src/protocol/status.ts', import.meta.url), 'utf8')
  expect(text).not.toMatch(/^\s*(import|export .* from)\b/m)
})
