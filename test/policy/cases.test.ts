import { describe, expect, test } from 'vitest'
import { readings } from '../../src/policy/readings.ts'
import { runCase } from '../../src/scenarios/index.ts'
import { caseFiles, readPolicyCases } from './cases.ts'

const cases = readPolicyCases()

/** Cases and variants of each file: one that is not read would pass unseen. */
test('cases: every case and variant is run', () => {
  expect(caseFiles.map((file) => readPolicyCases([file]).length)).toEqual([60 + 84, 21 + 317])
})

test('cases: every case and variant has a name of its own', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
})

test('cases: every reading that a case rests on is listed', () => {
  const labels = new Set(cases.flatMap(({ restsOn }) => restsOn))
  expect([...labels].filter((label) => !Object.hasOwn(readings, label))).toEqual([])
})

test('cases: every case expects an outcome', () => {
  expect(cases.filter(({ expected }) => expected.outcome === undefined)).toEqual([])
})

describe('cases', () => {
  test.each(cases)('cases: $name', (each) => {
    const { differs, ...result } = runCase(each)
    expect(differs, JSON.stringify(result)).toBeUndefined()
  })
})
