import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stampCodes } from '../../src/stamp/index.ts'

test('stamp codes: what is thrown and what is explained are the same list', () => {
  const room = join(import.meta.dirname, '../../src/stamp')
  const files = readdirSync(room).filter((name) => name !== 'codes.ts')
  const text = files.map((name) => readFileSync(join(room, name), 'utf8')).join('\n')
  const thrown = [...text.matchAll(/QuorateError\('(stamp\/[a-z-]+)'/g)].map(([, code]) => code!)
  const faults = [...text.matchAll(/StampError\('([a-z]+)'/g)].map(([, reason]) => `stamp/${reason}`)
  expect([...new Set([...thrown, ...faults])].sort()).toEqual(Object.keys(stampCodes).sort())
})
