import { mkdirSync, writeFileSync } from 'node:fs'
import { renderErrorReference } from './errors.ts'

// Writes the reference pages that are made from tables. A test renders them again and expects no difference.
const docs = new URL('../../../docs/', import.meta.url)
mkdirSync(docs, { recursive: true })
writeFileSync(new URL('errors.md', docs), renderErrorReference())
