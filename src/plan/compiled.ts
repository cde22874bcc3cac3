import { Ajv2020, type CodeOptions, type ValidateFunction } from 'ajv/dist/2020.js'
import { KINDS } from '../resources/index.ts'
import plan from './plan.schema.json' with { type: 'json' }

/** The kinds are those of the catalogue. A test checks that it is a valid schema. */
export const planSchema = { ...plan, $defs: { ...plan.$defs, kind: { enum: KINDS } } }

/** Compiles the schema of a plan; replaced in what is built, as that of definitions is. */
export function compileSchema(code: CodeOptions = {}): { readonly ajv: Ajv2020; readonly validate: ValidateFunction } {
  const ajv = new Ajv2020({ allowUnionTypes: true, validateSchema: false, meta: false, code })
  return { ajv, validate: ajv.compile(planSchema) }
}
