import { makeSchema } from '../../definitions/index.ts'
import {
  type FieldRow,
  formatAddress,
  type JsonSchema,
  KINDS,
  kinds,
  type ResourceKind,
} from '../../resources/index.ts'
import { cell } from './cell.ts'

/** Renders the reference page of definitions, `docs/definitions.md`. */
export function renderDefinitionReference(): string {
  const top = KINDS.map((kind) => kinds[kind]).filter(({ parent }) => !parent)
  const properties = makeSchema()['properties'] as Readonly<Record<string, JsonSchema>>
  const sections = new Set(top.map(({ form }) => form.key))
  const general = Object.entries(properties)
    .filter(([key]) => !sections.has(key))
    .map(([key, schema]) => `| \`${key}\` | ${typeOf(schema)} | ${cell(String(schema['description'] ?? ''))} |`)
  return `# Definitions

Generated from the rows of the kinds and the published JSON Schema by \`npm run generate\`.

A folder of \`*.yaml\` files is one organization. How it is split into files, and in which order, means nothing.

| key | type | meaning |
|---|---|---|
${general.join('\n')}

${top.map((kind) => section(kind, [])).join('\n')}`
}

function section(kind: ResourceKind, above: readonly ResourceKind[]): string {
  const path = [...above, kind].map(({ form }) => form.key).join('.*.')
  const children = KINDS.map((name) => kinds[name]).filter(({ parent }) => parent === kind.kind)
  const written = Object.entries(kind.fields).filter(([, row]) => row.schema)
  const rows = written.map(([name, row]) => fieldLine(name, row))
  const names = kind.form.shape === 'one' || kind.form.shape === 'value' ? [] : ['…']
  return `## ${path}

${facts(kind).join(' ')}

${rows.length === 0 ? 'It has no fields.\n' : `| field | type | meaning | when it changes |\n|---|---|---|---|\n${rows.join('\n')}\n`}
Shown as \`${formatAddress(kind.kind)}${[...above.map(() => '…'), ...names].map((name) => `.${name}`).join('')}\`.

\`\`\`yaml
${example(kind, above)}
\`\`\`

${children.map((child) => section(child, [...above, kind])).join('\n')}`
}

const SHAPES: Readonly<Record<ResourceKind['form']['shape'], (kind: ResourceKind) => string>> = {
  map: ({ many }) => `A map of ${many} by name.`,
  values: ({ many }) => `A map of ${many} by name, each with its value, \`true\` for none, or \`false\` to remove it.`,
  list: ({ many }) => `A list of ${many}.`,
  one: ({ one }) => `The ${one}.`,
  value: ({ one }) => `A single value of the ${one}.`,
}

function facts(kind: ResourceKind): readonly string[] {
  const { form, referable, remove, deleteNeedsTombstone, rides, parent } = kind
  return [
    SHAPES[form.shape](kind),
    ...(rides && parent ? [`New ones come with their ${kinds[parent].one} in one activity.`] : []),
    ...(form.renamable ? ['Renamed with `renamedFrom: <old name>`, which keeps the live one.'] : []),
    ...(remove
      ? [
          deleteNeedsTombstone
            ? 'Deleted with `delete: true` alone.'
            : `Deleted with \`${form.shape === 'values' ? 'false' : 'delete: true'}\`, or under \`manage:\` when it is in no definition.`,
        ]
      : []),
    ...(referable ? [`\`\${${kind.kind}.NAME}\` in an expression is its id.`] : []),
  ]
}

function fieldLine(name: string, row: FieldRow): string {
  const required = row.required ? ', required' : ''
  const change = row.immutable
    ? `cannot: ${row.immutable}`
    : row.compare === 'never'
      ? 'means nothing later'
      : 'is updated'
  return `| \`${name}\` | ${typeOf(row.schema!, row)}${required} | ${cell(row.meaning)} | ${cell(change)} |`
}

/** A schema in words. */
function typeOf(schema: JsonSchema, row?: FieldRow): string {
  if (row?.names)
    return schema['type'] === 'array' ? `names of ${kinds[row.names].many}` : `name of a ${kinds[row.names].one}`
  if (row?.expression) return 'expression'
  const values = schema['enum'] as readonly unknown[] | undefined
  if (values) return values.map((value) => `\`${String(value)}\``).join(', ')
  if ('const' in schema) return `\`${String(schema['const'])}\``
  if (schema['title'] !== undefined) return cell(String(schema['title']))
  const types = [schema['type'] ?? 'text'].flat().filter((type) => type !== 'null') as string[]
  const words = { string: 'text', integer: 'whole number', object: 'map', array: 'list' } as Readonly<
    Record<string, string>
  >
  return types.map((type) => words[type] ?? type).join(' or ')
}

/** A definition of the least that is needed: what is required, or the first field of a kind that requires nothing. */
function example(kind: ResourceKind, above: readonly ResourceKind[]): string {
  const written = Object.entries(kind.fields).filter(([, row]) => row.schema)
  const needed = written.filter(([, row]) => row.required)
  const shown = needed.length > 0 ? needed : written.slice(0, 1)
  const lines: string[] = []
  let indent = ''
  for (const holder of above) {
    lines.push(`${indent}${holder.form.key}:`)
    indent += '  '
    if (holder.form.shape === 'map') {
      lines.push(`${indent}NAME:`)
      indent += '  '
    }
  }
  const fields = shown.map(([name, row]) => `${name}: ${sample(row)}`)
  const flow = fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
  const { key, shape } = kind.form
  if (shape === 'value') lines.push(`${indent}${key}: ${sample(shown[0]![1])}`)
  else if (shape === 'one') lines.push(`${indent}${key}: ${flow}`)
  else if (shape === 'list') lines.push(`${indent}${key}:`, `${indent}  - ${flow}`)
  else if (shape === 'values') lines.push(`${indent}${key}:`, `${indent}  NAME: true`)
  else lines.push(`${indent}${key}:`, `${indent}  NAME: ${flow}`)
  return lines.join('\n')
}

function sample(row: FieldRow): string {
  const { schema = {} } = row
  const values = schema['enum'] as readonly unknown[] | undefined
  if (values) return String(values[0])
  if ('const' in schema) return String(schema['const'])
  const [type] = [schema['type'] ?? 'string'].flat()
  if (type === 'array') return row.names ? '[NAME]' : '[…]'
  if (type === 'integer') return String(schema['minimum'] ?? 1)
  if (type === 'boolean') return 'true'
  return type === 'object' ? '{ … }' : '…'
}
