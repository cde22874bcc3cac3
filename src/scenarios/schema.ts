import type { JsonSchema } from '../resources/index.ts'
import { fileKeys, type KeyRow, requestKeys, scenarioKeys, tableKeys } from './form.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
const COMMENT = 'Generated from src/scenarios/form.ts by src/scenarios/generate.ts.'

/** The JSON Schema of a file of scenarios. */
export function makeScenariosSchema(): JsonSchema {
  return {
    $schema: DIALECT,
    $comment: COMMENT,
    title: 'quorate scenarios',
    description: 'What should come of requests under the policies of the definitions beside this file.',
    ...objectOf(fileKeys),
    $defs: {
      scenario: { ...objectOf(orNothing(scenarioKeys)), type: ['object', 'null'] },
      table: { ...objectOf(tableKeys), required: ['columns', 'rows'] },
    },
  }
}

/** The JSON Schema of a request, as `quorate policy eval --request` reads it. */
export function makeRequestSchema(): JsonSchema {
  return {
    $schema: DIALECT,
    $comment: COMMENT,
    title: 'quorate request',
    description: 'One request, to be decided or explained.',
    ...objectOf(requestKeys),
    required: ['by', 'activity'],
  }
}

/** A key with nothing after it says nothing: so a scenario takes back what its defaults say. */
function orNothing(rows: Readonly<Record<string, KeyRow>>): Readonly<Record<string, KeyRow>> {
  return Object.fromEntries(
    Object.entries(rows).map(([key, { meaning, schema }]) => [
      key,
      { meaning, schema: { anyOf: [schema, { type: 'null' }] } },
    ]),
  )
}

function objectOf(rows: Readonly<Record<string, KeyRow>>): JsonSchema {
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(rows).map(([key, { meaning, schema }]) => [key, { ...schema, description: meaning }]),
    ),
  }
}
