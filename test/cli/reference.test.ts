import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allCodes, renderErrorReference } from '../../src/cli/reference/errors.ts'

const root = join(import.meta.dirname, '../..')
const sources = ['src', 'activities', 'workflows'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('codes.ts') && !name.includes('.gen.'))
    .map((name) => readFileSync(join(root, folder, name), 'utf8')),
)
const families = [...new Set(Object.keys(allCodes).map((code) => code.split('/')[0]))]

describe('reference: errors', () => {
  test('the page is what the tables say', () => {
    expect(readFileSync(join(root, 'docs/errors.md'), 'utf8')).toBe(renderErrorReference())
  })

  test('every code that is used has a row', () => {
    const used = sources.flatMap((text) => [
      ...text.matchAll(new RegExp(`'((?:${families.join('|')})/[a-z][a-z-]+)'`, 'g')),
    ])
    expect(used.length).toBeGreaterThan(150)
    expect([...new Set(used.map((match) => match[1]!))].filter((code) => !(code in allCodes))).toEqual([])
  })

  test('every row is used', () => {
    const text = sources.join('\n')
    const unused = Object.keys(allCodes).filter(
      (code) => !text.includes(`'${code}'`) && !text.includes(`'${code.split('/')[1]}'`),
    )
    expect(unused).toEqual([])
  })
})
