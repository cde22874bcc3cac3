import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderGenerated } from '../../src/protocol/generate.ts'
import { activities, authProxyDocument, openApiDocument, proxyEndpoints, queries } from '../../src/protocol/index.ts'

const committed = (name: string) =>
  readFileSync(new URL(`../../src/protocol/generated/${name}`, import.meta.url), 'utf8')

test.each(Object.entries(renderGenerated()))('generate: %s is what the data gives', (name, text) => {
  expect(text === committed(name), `${name} differs: run npm run generate`).toBe(true)
})

test.each([
  { document: openApiDocument({}), all: [activities, queries], most: 300 },
  { document: authProxyDocument(), all: [proxyEndpoints], most: 30 },
])('openapi: every path that is served is in it and no other, and every reference leads somewhere', (row) => {
  const text = JSON.stringify(row.document)
  const { paths, components } = JSON.parse(text) as {
    paths: Record<string, { post: { operationId: string } }>
    components: { schemas: Record<string, unknown> }
  }
  const all = row.all.flatMap((rows) => Object.values<{ path: string }>(rows))
  expect(Object.keys(paths).sort()).toEqual([...new Set(all.map(({ path }) => path))].sort())
  const targets = new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!))
  expect([...targets].filter((name) => !(name in components.schemas))).toEqual([])
  expect(targets.size).toBeGreaterThan(row.most)
  expect(text).not.toContain('#/$defs/')
  const ids = Object.values(paths).map(({ post }) => post.operationId)
  expect(new Set(ids).size).toBe(ids.length)
})
