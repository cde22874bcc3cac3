import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PRODUCERS } from '../../../src/service/outbox/events.ts'
import { WEBHOOK_EVENTS } from '../../../src/webhook/index.ts'

test('webhook events: the documentation says of each whether this service tells it', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/clients.md'), 'utf8')
  const rows = [...docs.matchAll(/^\| (`[A-Z_]+_UPDATES`.*?) \| (yes|not yet)/gm)]
  const said = rows.flatMap(([, names, told]) => [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => [name, told]))
  const known = Object.keys(WEBHOOK_EVENTS).map((name) => [name, name in PRODUCERS ? 'yes' : 'not yet'])
  expect(said.toSorted()).toEqual(known.toSorted())
})
