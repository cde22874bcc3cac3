import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fingerprintOf, readPagination, resourceLimits } from '../../src/protocol/index.ts'

test.each([
  { name: 'nothing', given: undefined, expected: { limit: 10 } },
  { name: 'empty texts', given: { limit: '', before: '', after: '' }, expected: { limit: 10 } },
  { name: 'the least', given: { limit: '1' }, expected: { limit: 1 } },
  { name: 'the most', given: { limit: '100', after: 'x' }, expected: { limit: 100, after: 'x' } },
  { name: 'a cursor', given: { before: 'y' }, expected: { limit: 10, before: 'y' } },
])('pagination: $name', ({ given, expected }) => {
  expect(readPagination(given)).toEqual(expected)
})

test.each(['0', '101', '-1', '1.5', 'ten', '0x10', ' 5', '99999999999999999999'])(
  'pagination: a limit of %j is refused',
  (limit) => {
    expect(() => readPagination({ limit })).toThrow(
      'invalid request body: field `paginationOptions.limit` must be from 1 to 100',
    )
  },
)

test('limits: a sub-organization has fewer tags and no sub-organizations, and is else like its parent', () => {
  const { parent, subOrganization } = resourceLimits
  const differs = Object.keys(parent).filter(
    (name) => parent[name as keyof typeof parent] !== subOrganization[name as keyof typeof parent],
  )
  expect(differs.sort()).toEqual(['subOrganizations', 'tags'])
  expect([subOrganization.subOrganizations, subOrganization.tags, parent.tags]).toEqual([0, 10, 100])
  expect([parent.wallets, parent.privateKeys, parent.users, parent.policies]).toEqual([100, 1000, 100, 100])
})

test('limits: the page about them has every resource, with its numbers', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/protocol/limits.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (.+) \| (.+) \|$/gm)].map(([, name, ...most]) => [name, most])
  const { parent, subOrganization } = resourceLimits
  const shown = (most: number) => (most === Number.POSITIVE_INFINITY ? 'any number' : String(most))
  const names = Object.keys(parent) as (keyof typeof parent)[]
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(names.map((name) => [name, [shown(parent[name]), shown(subOrganization[name])]])),
  )
})

test('fingerprint: is the hash of the bytes as they were sent (docs/protocol/stamps.md#test-vectors)', () => {
  const body = '{"organizationId":"00000000-0000-4000-8000-000000000001"}'
  const expected = 'sha256:d2d5c37920bfde68c8b84d52721b7764a99fd88056fd84a97d6a2b02fabab704'
  expect(fingerprintOf(body)).toBe(expected)
  expect(fingerprintOf(new TextEncoder().encode(body))).toBe(expected)
  expect(fingerprintOf(`${body}\n`)).not.toBe(expected)
})
