import type { ErrorObject } from 'ajv'
import { type ApiError, apiError, apiErrorAt } from './api-error.ts'
import { type RefusalName, refusals } from './refusals.ts'
import { type MessageSchema, refName } from './schema.ts'

/** Turns the first error of a check into the refusal that names the JSON field and the rule. */
export function faultOf(
  error: ErrorObject,
  root: MessageSchema,
  defs: Readonly<Record<string, MessageSchema>>,
): ApiError {
  const steps = error.instancePath.split('/').slice(1).map(unescapePointer)
  if (error.keyword === 'required') {
    const missing = String(error.params['missingProperty'])
    const own = schemaAt(root, [...steps, missing], defs)['x-refused']?.missing
    const field = fieldOf([...steps, missing])
    return own === undefined ? apiError('missingField', field) : refusal(own, field)
  }
  // Lists show their fault at an element, but the refusal of its own stands at the list.
  const own = [steps, steps.slice(0, -1)].map((path) => schemaAt(root, path, defs)['x-refused']?.invalid)
  const literal = own[0] ?? (/^[0-9]+$/.test(steps.at(-1) ?? '') ? own[1] : undefined)
  if (literal !== undefined) return refusal(literal, fieldOf(steps))
  if (error.keyword === 'x-checks' && error.params['tag'] === 'email') return apiErrorAt(fieldOf(steps), 'invalidEmail')
  return apiError('invalidField', fieldOf(steps), ruleOf(error))
}

function ruleOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'x-checks':
      return error.message!
    case 'type':
      return `must be ${article[error.params['type'] as string] ?? error.params['type']}`
    case 'enum': {
      const words = error.params['allowedValues'] as readonly string[]
      return words.length <= 12 ? `must be one of ${words.join(', ')}` : `is none of its ${words.length} words`
    }
    case 'minimum':
    case 'maximum':
      return `must be ${error.params['comparison']} ${error.params['limit']}`
    case 'pattern':
      return 'must be a whole number in decimal digits'
    default:
      return error.message ?? 'is not valid'
  }
}

const article: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'a boolean',
  integer: 'a whole number',
  object: 'an object',
  array: 'a list',
}

function refusal(name: string, field: string): ApiError {
  if (!Object.hasOwn(refusals, name)) throw new Error(`no refusal is named ${name}`)
  return apiErrorAt(field, name as Extract<RefusalName, 'invalidCurve'>)
}

/** The schema of a value inside a message, by the path to it. */
function schemaAt(
  root: MessageSchema,
  steps: readonly string[],
  defs: Readonly<Record<string, MessageSchema>>,
): MessageSchema {
  let schema = root
  for (const step of steps) {
    const target = schema.$ref === undefined ? schema : defs[refName(schema.$ref)]!
    schema = (target.type === 'array' ? target.items : target.properties?.[step]) ?? {}
  }
  return schema
}

/** `users`, `0`, `userName` → `users[0].userName`. */
function fieldOf(steps: readonly string[]): string {
  return steps.map((step, i) => (/^[0-9]+$/.test(step) ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')
}

/** Undoes the escapes of a JSON pointer. */
function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
