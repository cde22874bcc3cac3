import type { FieldType, Model, SchemaField } from './model.ts'

type Schema = { readonly [keyword: string]: unknown }

/**
 * Writes one JSON Schema (2020-12) for each message and word list, as text that is parsed when it is first needed.
 * Beyond the standard keywords: `x-checks` holds the validator's tags of the value, `x-refused` the names of the
 * literal refusals of a fault in it; `default` is what an absent field counts as.
 */
export function renderSchemas(model: Model): string {
  const enums = [...model.enums].map(([name, words]) => [name, { type: 'string', enum: words }] as const)
  const messages = model.messages.map((message) => {
    const properties = message.fields.map((field) => [field.name, propertyOf(field, model, message.inRequest)] as const)
    const required = message.fields.filter((field) => isRequired(field, message.inRequest)).map(({ name }) => name)
    const schema: Schema = {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
    }
    return [message.name, schema] as const
  })
  const lines = [...enums, ...messages].map(([name, schema]) => `  ${name}: ${quote(JSON.stringify(schema))},\n`)
  return [
    '// Generated from src/protocol/data by src/protocol/generate.ts. Do not edit.\n',
    `/** JSON Schema 2020-12 of each message, as text: parsing all of them at start-up would cost every command. */\nexport const schemaTexts: Readonly<Record<string, string>> = {\n${lines.join('')}}\n`,
  ].join('\n')
}

/**
 * Whether leaving the field out is a fault. In a request, what protobuf cannot tell from its zero value counts as
 * that: a list is empty and a boolean false, unless a check requires it.
 */
function isRequired(field: SchemaField, inRequest: boolean): boolean {
  if (field.optional || field.emptyWhenAbsent) return false
  if (!inRequest) return true
  if (field.repeated || field.type.kind === 'boolean') return tags(field).own.includes('required')
  return true
}

function propertyOf(field: SchemaField, model: Model, inRequest: boolean): Schema {
  const { own, items } = tags(field)
  const one = valueSchema(field.type)
  const isMessage = field.type.kind === 'named' && !model.enums.has(field.type.name)
  const withItems = items.length === 0 || isMessage ? one : { ...one, 'x-checks': items.join(',') }
  const present: Schema = field.repeated ? { type: 'array', items: withItems } : one
  const value: Schema = field.nullWhenAbsent ? { anyOf: [present, { type: 'null' }] } : present
  return {
    ...value,
    ...(own.length === 0 ? {} : { 'x-checks': own.join(',') }),
    ...(field.refused === undefined ? {} : { 'x-refused': field.refused }),
    ...(inRequest && !field.optional && !isRequired(field, inRequest) ? { default: zeroOf(field) } : {}),
  }
}

/** The checks of the value itself, and those of its elements, which follow `dive`. */
function tags({ checks, repeated }: SchemaField): { own: readonly string[]; items: readonly string[] } {
  const all = checks === undefined ? [] : checks.split(',')
  const dive = all.indexOf('dive')
  if (dive < 0) return { own: all, items: [] }
  if (!repeated) throw new Error('only lists are dived into')
  return { own: all.slice(0, dive), items: all.slice(dive + 1) }
}

function zeroOf(field: SchemaField): unknown {
  if (field.repeated) return []
  return field.type.kind === 'boolean' ? false : ''
}

function valueSchema(type: FieldType): Schema {
  switch (type.kind) {
    case 'string':
    case 'bytes':
      return { type: 'string' }
    case 'boolean':
      return { type: 'boolean' }
    case 'int32':
      return { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }
    case 'uint32':
      return { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 }
    case 'int64':
      return { type: 'string', pattern: '^-?[0-9]{1,19}$' }
    case 'uint64':
      return { type: 'string', pattern: '^[0-9]{1,20}$' }
    case 'text map':
      return { type: 'object', additionalProperties: { type: 'string' } }
    case 'words':
      return { type: 'string', enum: type.words }
    case 'named':
      return { $ref: `#/$defs/${type.name}` }
  }
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
