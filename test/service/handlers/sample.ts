import type { JsonObject } from '../../../src/protocol/index.ts'
import { closureOf, type MessageSchema, refName } from '../../../src/protocol/schema.ts'

const UUID = '00000000-0000-4000-8000-00000000beef'

/** What satisfies each published check of a text. */
const TEXTS: readonly (readonly [check: RegExp, text: string])[] = [
  [/uuid/, UUID],
  [/tk_api_key|len=66/, `02${'1'.repeat(64)}`],
  [/hexadecimal/, '04ab'],
  [/email/, 'a@acme.test'],
  [/e164/, '+15551234567'],
  [/numeric|positive|decimal/, '6'],
]

/** Makes the least message of a name that passes the decoder's checks: what is required, lists with one element. */
export function sampleOf(name: string): JsonObject {
  const defs = closureOf(name)
  const make = (schema: MessageSchema, checks = schema['x-checks'] ?? ''): unknown => {
    if (schema.$ref !== undefined) return make(defs[refName(schema.$ref)]!, checks)
    if (schema.enum) return schema.enum[0]
    switch (schema.type) {
      case 'object':
        return Object.fromEntries(
          Object.entries(schema.properties ?? {})
            .filter(([member]) => schema.required?.includes(member))
            .map(([member, property]) => [member, make(property)]),
        )
      case 'array':
        return [make(schema.items!)]
      case 'boolean':
        return true
      case 'integer':
        return 1
      default: {
        const oneOf = /oneof=([^ ,]+)/.exec(checks)?.[1]
        const length = Number(/\b(?:len|min)=(\d+)/.exec(checks)?.[1] ?? 0)
        if (length > 0 && length < 66) return '6'.repeat(length)
        return oneOf ?? TEXTS.find(([check]) => check.test(checks))?.[1] ?? (schema.pattern ? '6' : 'sample')
      }
    }
  }
  return make({ $ref: `#/$defs/${name}` }) as JsonObject
}
