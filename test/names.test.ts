import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const DECLARED = /^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm

test('names: a type that a file exports has a name that no other file exports, whatever its room', () => {
  const files = globSync('{src,activities,workflows}/**/*.ts', { cwd: root, exclude: ['**/generated/**'] })
  const declared = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(DECLARED)].map(([, name]) => ({ name: name!, file })),
  )
  const byName = Map.groupBy(declared, ({ name }) => name)
  const several = [...byName].filter(([, places]) => places.length > 1)
  expect(declared.length).toBeGreaterThan(1_000)
  expect(several.map(([name, places]) => `${name}: ${places.map(({ file }) => file).join(', ')}`)).toEqual([])
})
