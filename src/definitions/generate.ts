import { writeFileSync } from 'node:fs'
import { renderSchema } from './render-schema.ts'

// Writes the published schema beside this file. A test regenerates it and expects no difference.
writeFileSync(new URL('quorate.schema.json', import.meta.url), renderSchema())
