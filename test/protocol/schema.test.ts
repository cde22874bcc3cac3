import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { activities, mayHold, queries } from '../../src/protocol/index.ts'
import { closureOf, schemaNames } from '../../src/protocol/schema.ts'
import { sampleOf } from '../service/handlers/sample.ts'

const messages = [
  ...Object.values(activities).map(({ intent }) => intent),
  ...Object.values(queries).map(({ request }) => request),
]

describe('may hold', () => {
  test.each([
    { message: activities.ACTIVITY_TYPE_OAUTH_LOGIN.intent, name: 'oidcToken', expected: true },
    { message: activities.ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7.intent, name: 'oidcToken', expected: true },
    { message: activities.ACTIVITY_TYPE_CREATE_MFA_POLICY.intent, name: 'oidcToken', expected: false },
    { message: activities.ACTIVITY_TYPE_CREATE_MFA_POLICY.intent, name: 'type', expected: true },
    // A map, whose members have any name.
    { message: 'WalletKitSettingsParams', name: 'oidcToken', expected: true },
  ])('may hold: $name in $message: $expected', ({ message, name, expected }) => {
    expect(mayHold(message, new Set([name]))).toBe(expected)
  })

  test('may hold: whatever a sample of a message holds, at any depth', () => {
    expect(messages.length).toBeGreaterThan(100)
    for (const message of messages) {
      const names = new Set<string>()
      JSON.stringify(sampleOf(message), (name, value) => {
        if (name !== '' && !/^\d+$/.test(name)) names.add(name)
        return value
      })
      for (const name of names) expect(mayHold(message, new Set([name])), `${message} ${name}`).toBe(true)
    }
    expect(schemaNames().length).toBeGreaterThan(messages.length)
  })
})

test('schemas: each is valid by the schema of schemas', () => {
  const ajv = new Ajv2020({ strict: false })
  expect(ajv.validateSchema({ $defs: closureOf(...schemaNames()) }), ajv.errorsText(ajv.errors)).toBe(true)
  expect(ajv.validateSchema({ $defs: { Broken: { type: 'obj' } } })).toBe(false)
})
