import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codes } from '../../src/plan/index.ts'

test('codes: every code that the room says has a row, and every row is said', () => {
  const room = join(import.meta.dirname, '../../src/plan')
  const files = readdirSync(room).filter((name) => name.endsWith('.ts') && name !== 'codes.ts')
  const said = files.flatMap((name) => readFileSync(join(room, name), 'utf8').match(/(?<=')plan\/[a-z-]+(?=')/g) ?? [])
  expect([...new Set(said)].sort()).toEqual(Object.keys(codes).sort())
})
