import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Reads a file of vectors; throws if it does not hold as many cases as its first line says. */
export function readVectors<Case>(path: string): readonly Case[] {
  const lines = readFileSync(join(import.meta.dirname, path), 'utf8')
    .trim()
    .split('\n')
  const [head, ...cases] = lines.map((line) => JSON.parse(line) as unknown)
  const { cases: count } = head as { readonly cases: number }
  if (cases.length !== count) throw new Error(`${path}: expected ${count} cases, got ${cases.length}`)
  return cases as readonly Case[]
}
