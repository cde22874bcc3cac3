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

What the lock file says was defined here, and is no longer, is a change like any other. Most kinds are deleted, behind
\`--allow-delete\`. Where a deletion would destroy keys or people, and where the API knows no deletion, the plan stops until
a definition says \`delete: true\` or \`forget:\` names the address, as in \`forget: [user.bob, wallet.old]\`: then it stays live,
with what it holds, and its row leaves the lock at the next apply.

A field is no exception: one that was written and is taken out again is set back to what it is without, as a change of the plan. Where
the API cannot do that, the plan stops until it is written again, or \`--allow removal\` gives it up: it stays live and is managed no
longer. The lock file keeps which fields were written.

| key | type | meaning |
|---|---|---|
${general.join('\n')}

${assets(properties['assets']!)}
${top.map((kind) => section(kind, [])).join('\n')}`
}

/** The tokens that sends may name: nothing of them is live, so they are no kind. */
function assets({ additionalProperties, description }: JsonSchema): string {
  const { properties, required } = additionalProperties as {
    readonly properties: Readonly<Record<string, JsonSchema>>
    readonly required: readonly string[]
  }
  const rows = Object.entries(properties).map(
    ([name, schema]) =>
      `| \`${name}\` | ${typeOf(schema)}${required.includes(name) ? ', required' : ''} | ${cell(String(schema['description']))} |`,
  )
  return `## assets

${description}

| field | type | meaning |
|---|---|---|
${rows.join('\n')}

\`\`\`yaml
assets:
  usdc: { chain: "eip155:1", address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", decimals: 6, symbol: USDC }
  usdcOnSolana: { chain: "solana:mainnet", address: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v, decimals: 6, symbol: USDC }
\`\`\`
`
}

function section(kind: ResourceKind, above: readonly ResourceKind[]): string {
  if (kind.form.shape === 'folder') return nestedFolders(kind)
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

/** What is written in the folder of a sub-organization, and what comes of it. */
function nestedFolders(kind: ResourceKind): string {
  return `## ${kind.form.key}

${facts(kind).join(' ')} \`organization\` is its name in the API as well, and it is found by that: it has neither \`id\` nor \`name\`.
Its addresses read \`customer-1/policy.treasury\`; its parent sees it as \`${formatAddress(kind.kind, 'customer-1')}\`.

\`\`\`yaml
# customer-1/organization.yaml
organization: customer-1
rootQuorum: { threshold: 1, users: [ann] }
users:
  ann: { apiKeys: { laptop: { curve: P256, publicKey: 02… } } }
wallets:
  main: { accounts: [{ path: "m/44'/60'/0'/0/0", curve: secp256k1, format: ethereum }] }
\`\`\`

Its parent makes it in one activity, with the members of its root quorum and their API keys and passkeys, its first wallet by
name, and without the login features that are set to \`false\`. Everything else is made from inside, by a user of its own: with
the key in use where that is the key of such a user, or with the key \`NAME.key\` in the folder of
\`QUORATE_SUB_ORGANIZATION_KEYS\`. Without either, what is inside is compared, and the plan says who could apply it. It is
deleted from inside as well; \`withoutExport: true\` deletes it although not all of its keys were exported. Where its folder, or
its name under \`each\`, is just taken away, the plan stops and asks.

Only what definitions mention, or mentioned when the lock was written, is looked for: other sub-organizations of the parent are neither read nor listed.

Many of one kind are one folder with \`each\`: a sub-organization for each name, out of the same definitions. The values are
those of \`\${var.…}\`, before any others; \`\${var.organization}\` is the name. \`delete\`, \`withoutExport\` and \`renamedFrom\` of one
stand beside its values.

\`\`\`yaml
# customers/customers.yaml
each:
  customer-1: { ownerKey: 02…, limit: '1000' }
  customer-2: { ownerKey: 03…, limit: '5000' }
  customer-3: { delete: true }
\`\`\`
`
}

const SHAPES: Readonly<Record<ResourceKind['form']['shape'], (kind: ResourceKind) => string>> = {
  map: ({ many }) => `A map of ${many} by name.`,
  values: ({ many }) => `A map of ${many} by name, each with its value, \`true\` for none, or \`false\` to remove it.`,
  list: ({ many }) => `A list of ${many}.`,
  one: ({ one }) => `The ${one}.`,
  value: ({ one }) => `A single value of the ${one}.`,
  folder: ({ one }) => `Each ${one} is a nested folder of the same form.`,
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
            ? 'Deleted with `delete: true` alone; taken out of the definitions, it is asked about.'
            : `Deleted with \`${form.shape === 'values' ? 'false' : 'delete: true'}\`, when it is taken out of the definitions, or under \`manage:\` when it is in none.`,
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
