import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { openApiDocument } from '../../src/protocol/index.ts'

test('open api: a value that the check lets be left out may be an empty text, and one without is held to its format', () => {
  const { components } = openApiDocument() as unknown as { components: { schemas: Record<string, object> } }
  const ajv = new Ajv2020({ strict: false, formats: { email: /^\S+@\S+$/, uuid: /^[0-9a-f-]{36}$/ } })
  ajv.addSchema({ $id: 'served', components })
  const accepts = (name: string, value: unknown) =>
    ajv.compile({ $ref: `served#/components/schemas/${name}` })(value) as boolean
  const change = (userEmail: string) => ({ userId: '00000000-0000-4000-8000-000000000001', userEmail })
  expect(accepts('UpdateUserEmailIntent', change(''))).toBe(true)
  expect(accepts('UpdateUserEmailIntent', change('a@acme.test'))).toBe(true)
  expect(accepts('UpdateUserEmailIntent', change('nobody'))).toBe(false)
  expect(accepts('UpdateUserEmailIntent', { userId: '', userEmail: '' })).toBe(false)
})
