import { readFileSync } from 'node:fs'
import { createSource } from '../../src/diagnostics/index.ts'
import { type PolicyCase, readCases } from '../../src/scenarios/index.ts'

export const caseFiles = ['policy-cases.yaml', 'language-cases.yaml'] as const

/** All cases of the files, each followed by its variants; the form is explained at the head of `policy-cases.yaml`. */
export function readPolicyCases(files: readonly string[] = caseFiles): readonly PolicyCase[] {
  return files.flatMap((file) => {
    const { cases, diagnostics } = readCases(createSource(file, readFileSync(new URL(file, import.meta.url), 'utf8')))
    if (diagnostics.length > 0) throw new TypeError(diagnostics[0]!.message)
    return cases
  })
}
