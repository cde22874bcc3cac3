import { mkdirSync, writeFileSync } from 'node:fs'
import { pages } from './pages.ts'

// Writes the reference pages that are made from tables. A test renders them again and expects no difference.
const docs = new URL('../../../docs/', import.meta.url)
for (const [name, render] of Object.entries(pages)) {
  const page = new URL(name, docs)
  mkdirSync(new URL('.', page), { recursive: true })
  writeFileSync(page, render())
}
