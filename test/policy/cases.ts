import { readFileSync } from 'node:fs'
import { createSource } from '../../src/diagnostics/index.ts'
import { type PolicyCase, readCases } from '../../src/scenarios/index.ts'

/** All cases of `policy-cases.yaml`, each followed by its variants; the form is explained at the head of that file. */
export function readPolicyCases(): readonly PolicyCase[] {
  const text = readFileSync(new URL('policy-cases.yaml', import.meta.url), 'utf8')
  const { cases, diagnostics } = readCases(createSource('policy-cases.yaml', text))
  if (diagnostics.length > 0) throw new TypeError(diagnostics[0]!.message)
  return cases
}
