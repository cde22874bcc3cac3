import { Ajv2020 } from 'ajv/dist/2020.js'
import { type QueryName, queries } from '../../../src/protocol/index.ts'
import { closureOf, type MessageSchema } from '../../../src/protocol/schema.ts'

/**
 * Says what in an answer differs from the published shape of its query: a required member that is missing, a wrong type,
 * or a member that the shape does not have. Published clients check the first two.
 */
export function shapeFaults(name: QueryName, answer: unknown): string[] {
  const { response } = queries[name]
  const defs = Object.fromEntries(Object.entries(closureOf(response)).map(([key, schema]) => [key, close(schema)]))
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  const validate = ajv.compile({ $ref: `#/$defs/${response}`, $defs: defs })
  validate(answer)
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${name}${instancePath} ${message} ${JSON.stringify(params)}`
  })
}

function close(schema: MessageSchema): object {
  return schema.type === 'object' && schema.properties ? { ...schema, additionalProperties: false } : schema
}
