import { format, inspect } from 'node:util'
import { serialize } from 'node:v8'
import { expect, test } from 'vitest'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'

const PLANTED = 'planted-20fa65df11f24833'
const secret = new Secret(PLANTED)

for (const { name, shown } of [
  { name: 'text', shown: String(secret) },
  { name: 'a template', shown: `${secret}` },
  { name: 'JSON', shown: JSON.stringify({ a: [secret] }) },
  { name: 'inspection', shown: inspect({ a: secret }) },
  { name: 'inspection of everything', shown: inspect(secret, { showHidden: true, depth: 9, getters: true }) },
  { name: 'inspection without custom forms', shown: inspect(secret, { customInspect: false, showHidden: true }) },
  { name: 'a log line', shown: format('%s %o %O %j', secret, secret, secret, secret) },
  { name: 'members', shown: JSON.stringify(Object.entries({ ...secret })) },
  { name: 'every property', shown: JSON.stringify(Reflect.ownKeys(secret)) },
  { name: 'a copy', shown: inspect(structuredClone(secret)) },
  { name: 'serialized bytes', shown: serialize(secret).toString('latin1') },
  { name: 'an error about it', shown: String(new Error(`bad ${secret}`).stack) },
]) {
  test(`secret: ${name} does not show it`, () => {
    expect(shown).not.toContain(PLANTED)
    expect(shown).not.toContain(Buffer.from(PLANTED).toString('base64'))
  })
}

test('secret: its forms say that something is there', () => {
  expect([String(secret), JSON.stringify(secret), inspect(secret)]).toEqual(['[secret]', '"[secret]"', '[secret]'])
})

test('secret: only `reveal` opens it', () => {
  expect(secret.reveal()).toBe(PLANTED)
})

test('logger: the silent one takes everything and says nothing', () => {
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    expect(silentLogger[level]('message', { a: 1 })).toBeUndefined()
  }
})
