import { writeFileSync } from 'node:fs'
import { makeRequestSchema, makeScenariosSchema } from './schema.ts'

// Writes the published schemas beside this file; `biome check --write` lays them out. A test makes them again and
// expects no difference.
for (const [file, schema] of [
  ['scenarios.schema.json', makeScenariosSchema()],
  ['request.schema.json', makeRequestSchema()],
] as const)
  writeFileSync(new URL(file, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`)
