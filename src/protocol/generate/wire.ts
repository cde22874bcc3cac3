import type { FieldType, Model, SchemaField } from './model.ts'

/** Writes the TypeScript types of every message and word list, and the maps from activities and queries to them. */
export function renderWire(model: Model): string {
  const enums = [...model.enums].map(
    ([name, words]) => `export type ${name} =\n${words.map((word) => `  | '${word}'`).join('\n')}\n`,
  )
  const messages = model.messages.map(({ name, fields }) => {
    if (name === 'Any') return "export type Any = { readonly '@type'?: string; readonly [member: string]: Json }\n"
    if (fields.length === 0) return `export type ${name} = { readonly [member: string]: never }\n`
    return `export type ${name} = {\n${fields.map(fieldLine).join('')}}\n`
  })
  const intents = model.activities.map(({ type, intent }) => `  readonly ${type}: ${intent}\n`)
  const results = model.activities.map(({ type, result }) => `  readonly ${type}: ${result ?? 'Result'}\n`)
  const queries = model.queries.map(
    ({ path, request, response }) =>
      `  readonly ${lastSegment(path)}: { readonly request: ${request}; readonly response: ${response} }\n`,
  )
  return [
    '// Generated from src/protocol/data by src/protocol/generate.ts. Do not edit.\n',
    "import type { Json } from '../json.ts'\n",
    ...enums,
    ...messages,
    `/** The intent of each activity type. */\nexport type ActivityIntents = {\n${intents.join('')}}\n`,
    `/** The result of each activity type; a vote is answered with the result of the activity it votes on. */\nexport type ActivityResults = {\n${results.join('')}}\n`,
    `/** Request and response of each query. */\nexport type QueryTypes = {\n${queries.join('')}}\n`,
  ].join('\n')
}

export function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function fieldLine(field: SchemaField): string {
  const type = typeText(field.type)
  const whole = field.repeated ? `readonly ${type.includes('|') ? `(${type})` : type}[]` : type
  return `  readonly ${field.name}${field.optional || field.emptyWhenAbsent ? '?' : ''}: ${whole}\n`
}

function typeText(type: FieldType): string {
  switch (type.kind) {
    case 'string':
    case 'bytes':
    case 'int64':
    case 'uint64':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'int32':
    case 'uint32':
      return 'number'
    case 'text map':
      return '{ readonly [key: string]: string }'
    case 'named':
      return type.name
    case 'words':
      return type.words.map((word) => `'${word}'`).join(' | ')
  }
}
