import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LONGEST, longestAmongOthers } from './sequence.ts'

test('sequence: the longest files are there', () => {
  expect(LONGEST.filter((file) => !existsSync(join(import.meta.dirname, '..', file)))).toEqual([])
})

test('sequence: every other file is one of the longest, and none is lost', () => {
  const [one, another] = LONGEST as readonly [string, string]
  expect(longestAmongOthers(['a', 'b', another, 'c', one], (file) => file)).toEqual([another, 'a', one, 'b', 'c'])
  expect(longestAmongOthers([one, another, 'a'], (file) => file)).toEqual([one, 'a', another])
  expect(longestAmongOthers(['a', 'b'], (file) => file)).toEqual(['a', 'b'])
})
