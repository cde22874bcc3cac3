/** Copies of the analysis with one mistake put into each. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished } from 'vitest'

const SRC = join(import.meta.dirname, '../../src')
/** Rooms that are copied, so that mistakes can be put into them; the others are the real ones. */
const COPIED = ['analysis', 'policy']

export interface Mutant {
  readonly mistake: string
  readonly file: string
  /** A text that the file has once. */
  readonly from: string
  readonly to: string
}

/** A module of the analysis, where a text of one of its files is changed; for the test that asks for it. */
export async function mutated<Module>({ file, from, to }: Mutant, module: string): Promise<Module> {
  const copy = mkdtempSync(join(tmpdir(), 'quorate-mutants-'))
  onTestFinished(() => rmSync(copy, { recursive: true }))
  for (const room of readdirSync(SRC)) {
    if (COPIED.includes(room)) cpSync(join(SRC, room), join(copy, room), { recursive: true })
    else symlinkSync(join(SRC, room), join(copy, room))
  }
  const text = readFileSync(join(copy, file), 'utf8')
  expect(text.split(from), `the text to change in ${file}`).toHaveLength(2)
  writeFileSync(
    join(copy, file),
    text.replace(from, () => to),
  )
  return import(pathToFileURL(join(copy, module)).href)
}
