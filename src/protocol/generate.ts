/**
 * Writes `generated/` from `data/` (`npm run generate`): the catalogue's rows, the wire types and the schemas.
 * The output is a function of the data alone; a test renders it again and expects no difference.
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

if (import.meta.main) {
  const write = (name: string, text: string) => writeFileSync(new URL(`./generated/${name}`, import.meta.url), text)
  for (const [name, text] of Object.entries(renderGenerated())) write(name, text)
}
