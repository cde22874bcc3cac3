import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { blockedBatches, collectIds, fillParameters, makeBody, outline, readyBatches } from '../../src/plan/index.ts'
import { acme } from './organization.ts'
import { planOf } from './planning.ts'

const plan = planOf({ desired: acme() })
const slim = outline(plan)

describe('walk', () => {
  test('an outline holds no parameters and stays small', () => {
    expect(slim.batches[2]).toEqual({
      index: 2,
      type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
      summary: 'create 2 users with 2 API keys',
      after: [0, 1],
      changes: 4,
    })
    expect(slim).toMatchObject({ digest: plan.digest, organizationId: plan.organization.id })
  })

  test('ready is what has not started and waits for nothing', () => {
    expect(readyBatches(slim, [])).toEqual([0, 1, 5, 6])
    expect(readyBatches(slim, ['done', 'waiting', 'not-started'])).toEqual([5, 6])
    expect(readyBatches(slim, ['done', 'done'])).toEqual([2, 5, 6])
  })

  test('what a failed batch stands in the way of is blocked by it, the rest goes on', () => {
    expect(blockedBatches(slim, ['done', 'done', 'failed'])).toEqual([
      { index: 3, because: 2 },
      { index: 4, because: 3 },
      { index: 7, because: 3 },
      { index: 8, because: 3 },
      { index: 9, because: 3 },
    ])
    expect(readyBatches(slim, ['done', 'done', 'failed'])).toEqual([5, 6])
  })

  test('references and texts are filled in at any depth', () => {
    const value = {
      a: [{ $ref: 'tag.a' }, 1, null],
      b: { $text: ["x == '", { $ref: 'tag.a' }, "'"] },
      c: { d: { $ref: 'user.b' } },
    }
    expect(fillParameters(value, { 'tag.a': '1', 'user.b': '2' })).toEqual({
      a: ['1', 1, null],
      b: "x == '1'",
      c: { d: '2' },
    })
  })

  test('an unknown reference is an error, also one that every object has', () => {
    for (const address of ['tag.b', 'constructor']) {
      const fill = () => fillParameters({ $ref: address }, { 'tag.a': '1' })
      expect(fill).toThrow(
        expect.objectContaining({ code: 'plan/unknown-id', message: `the id of \`${address}\` is not known` }),
      )
    }
  })

  test('ids are taken out of a result by the paths of the plan', () => {
    const result = { createUsersResult: { userIds: ['id-bob', 'id-carol'] } }
    expect(collectIds(plan.batches[2]!, result)).toEqual({ 'user.bob': 'id-bob', 'user.carol': 'id-carol' })
    for (const short of [{}, null, { createUsersResult: { userIds: ['id-bob'] } }]) {
      expect(() => collectIds(plan.batches[2]!, short)).toThrow(expect.objectContaining({ code: 'plan/no-result' }))
    }
  })

  test('a body is the exact text, its members in the order of the API', () => {
    const body = makeBody({ type: 'T', organizationId: 'o', parameters: { z: 1, a: 'é' }, timestampMs: 1746736509954 })
    expect(body).toBe('{"type":"T","timestampMs":"1746736509954","organizationId":"o","parameters":{"z":1,"a":"é"}}')
  })

  test('the file reaches no Node built-in: types apart, it imports diagnostics alone', () => {
    const text = readFileSync(join(import.meta.dirname, '../../src/plan/walk.ts'), 'utf8')
    const imports = [...text.matchAll(/^import (?!type)[^']*'([^']+)'/gm)].map(([, path]) => path)
    expect(imports).toEqual(['../diagnostics/index.ts'])
  })
})
