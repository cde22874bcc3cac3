/** What SARIF 2.1.0 asks of the objects that a linter writes (OASIS, §3): what each must have, and all that it may have. */
import { Ajv, type SchemaObject } from 'ajv'

const text = { type: 'string', minLength: 1 }
const closed = (properties: Record<string, SchemaObject>, required: readonly string[] = []): SchemaObject => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
})
const list = (items: SchemaObject): SchemaObject => ({ type: 'array', items })
const position = { type: 'integer', minimum: 1 }
const level = { enum: ['none', 'note', 'warning', 'error'] }
// §3.11: a message has its text, or the id of one; a linter writes the text.
const message = closed({ text, markdown: text }, ['text'])
const multiformat = closed({ text, markdown: text }, ['text'])
const region = closed({ startLine: position, startColumn: position, endLine: position, endColumn: position }, [
  'startLine',
])
const location = closed({
  id: { type: 'integer' },
  message,
  physicalLocation: closed({ artifactLocation: closed({ uri: text, uriBaseId: text }), region }),
})
const rule = closed(
  {
    id: text,
    name: text,
    shortDescription: multiformat,
    fullDescription: multiformat,
    help: multiformat,
    helpUri: { type: 'string', pattern: '^https?://' },
    defaultConfiguration: closed({ level, enabled: { type: 'boolean' } }),
  },
  ['id'],
)
const result = closed(
  {
    ruleId: text,
    ruleIndex: { type: 'integer', minimum: 0 },
    level,
    message,
    locations: list(location),
    relatedLocations: list(location),
    suppressions: list(closed({ kind: { enum: ['inSource', 'external'] }, justification: text }, ['kind'])),
  },
  ['message'],
)
const driver = closed({ name: text, semanticVersion: text, version: text, informationUri: text, rules: list(rule) }, [
  'name',
])
const run = closed(
  {
    tool: closed({ driver }, ['driver']),
    columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
    results: list(result),
  },
  ['tool'],
)

/** Tells a SARIF log from what is none; `errors` says what is wrong with it. */
export const isSarif = new Ajv({ allErrors: true }).compile(
  closed({ $schema: text, version: { const: '2.1.0' }, runs: list(run) }, ['version', 'runs']),
)
