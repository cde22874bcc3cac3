import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { makeSchema } from '../../src/definitions/schema.ts'
import { planSchema } from '../../src/plan/compiled.ts'

// Loading compiles the schema without looking whether it is one, which would take longer than all the rest.
test.each([
  { name: 'definitions', schema: makeSchema() },
  { name: 'saved plans', schema: planSchema },
])('schema: what $name are checked by is a schema of the dialect that it names', ({ schema }) => {
  const ajv = new Ajv2020({ strictRequired: false, allowUnionTypes: true })
  const valid = ajv.validateSchema(schema)
  expect(ajv.errors ?? []).toEqual([])
  expect(valid).toBe(true)
})
