import { Ajv2020, type CodeOptions, type ValidateFunction } from 'ajv/dist/2020.js'
import schema from './plan.schema.json' with { type: 'json' }

/** Compiles the schema of a plan; replaced in what is built, as that of definitions is. A test checks that it is a valid schema. */
export function compileSchema(code: CodeOptions = {}): { readonly ajv: Ajv2020; readonly validate: ValidateFunction } {
  const ajv = new Ajv2020({ allowUnionTypes: true, validateSchema: false, meta: false, code })
  return { ajv, validate: ajv.compile(schema) }
}
