import { Ajv2020, type CodeOptions, type ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../resources/index.ts'
import { makeSchema } from './schema.ts'

/**
 * Compiles the schema, which takes longer than to check many files: in what is built, this module is replaced by what it
 * compiles (`src/build/precompile.ts`).
 */
export function compileSchema(code: CodeOptions = { optimize: false }): {
  readonly ajv: Ajv2020
  readonly validate: ValidateFunction
} {
  // That the schema is one is for tests: compiling the schema of schemas takes longer than all the rest.
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strictRequired: false,
    validateSchema: false,
    meta: false,
    inlineRefs: false,
    code,
  })
  return { ajv, validate: ajv.compile(bySection(makeSchema())) }
}

/**
 * The same schema with a function for each section: whoever checks a file then has to make ready only what checks the sections
 * that it has, and not one function for all.
 */
function bySection(schema: JsonSchema): JsonSchema {
  const sections = schema['properties'] as Readonly<Record<string, JsonSchema>>
  const refs = Object.keys(sections).map((key) => [key, { $ref: `#/$defs/${key}` }])
  return { ...schema, properties: Object.fromEntries(refs), $defs: sections }
}
