/**
 * Writes `generated/` from `data/` (`npm run generate`): the catalogue's rows, the wire types, the schemas and the
 * OpenAPI document. The output is a function of the data alone; a test renders it again and expects no difference.
 */
import { writeFileSync } from 'node:fs'
import { renderCatalogue } from './generate/catalogue.ts'
import { readModel } from './generate/model.ts'
import { renderSchemas } from './generate/schemas.ts'
import { renderWire } from './generate/wire.ts'

/** Renders every generated TypeScript file, by its name in `generated/`. */
export function renderGenerated(): Readonly<Record<string, string>> {
  const model = readModel()
  const catalogue = renderCatalogue(model)
  return {
    'names.gen.ts': catalogue.names,
    'catalogue.gen.ts': catalogue.rows,
    'wire.gen.ts': renderWire(model),
    'schemas.gen.ts': renderSchemas(model),
  }
}

/** Renders the OpenAPI document. It is built from the generated rows and schemas, so those come first. */
export async function renderOpenApi(): Promise<string> {
  const { openApiDocument } = await import('./open-api.ts')
  return `${JSON.stringify(openApiDocument(), null, 1)}\n`
}

if (import.meta.main) {
  const write = (name: string, text: string) => writeFileSync(new URL(`./generated/${name}`, import.meta.url), text)
  for (const [name, text] of Object.entries(renderGenerated())) write(name, text)
  write('openapi.gen.json', await renderOpenApi())
}
