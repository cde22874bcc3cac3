import { readTransactionFacts } from '../chain/index.ts'
import type { Diagnostic } from '../diagnostics/index.ts'
import {
  type CompiledPolicy,
  compileCounted,
  compilePolicy,
  type PolicyContext,
  type PolicyCount,
} from '../policy/index.ts'
import { createLocate } from './lines.ts'
import type { ScenarioResult } from './model.ts'
import { play } from './play.ts'
import type { TransactionReader } from './read-request.ts'
import { readScenarios } from './read-scenarios.ts'
import type { SuitePart } from './split.ts'
import { votersOf, type World } from './world.ts'

export interface PlayOptions {
  /** Only scenarios whose name has this in it, in any case. */
  readonly filter?: string | undefined
  /** Counts the values of every clause of every policy. @default false */
  readonly coverage?: boolean | undefined
}

/** The results of the scenarios of one file. Plain data, so that another thread can send it. */
export interface FileResult {
  readonly path: string
  readonly results: readonly ScenarioResult[]
  /** Mistakes in the file; the scenarios they are in were not played. */
  readonly diagnostics: readonly Diagnostic[]
}

/** The results of some files, and the counts of each clause over all their scenarios. */
export interface Played {
  readonly files: readonly FileResult[]
  /** Empty without coverage. */
  readonly counts: readonly PolicyCount[]
}

/** Plays the scenarios of some files or parts of them, in their order. */
export function playFiles(parts: readonly SuitePart[], world: World, options: PlayOptions): Played {
  const { policies, counts } = compileAll(world, options.coverage === true)
  const stage = { policies, peopleAt: (now: bigint) => votersOf(world, now), nameOf: (id: string) => world.names[id] }
  const wanted = options.filter?.toLowerCase() ?? ''
  const files = parts.map((part): FileResult => {
    const { source } = part
    const { scenarios, diagnostics } = readScenarios(source, { world, readTransaction })
    const locate = createLocate(part)
    const chosen = scenarios.filter(({ name }) => name.toLowerCase().includes(wanted))
    return { path: source.path, results: chosen.map((scenario) => play(scenario, { ...stage, locate })), diagnostics }
  })
  return { files, counts: counts() }
}

/** Decodes as the service does. */
export const readTransaction: TransactionReader = (request) => readTransactionFacts(request) as Partial<PolicyContext>

function compileAll(
  { policies }: World,
  coverage: boolean,
): { readonly policies: readonly CompiledPolicy[]; readonly counts: () => readonly PolicyCount[] } {
  if (!coverage) return { policies: policies.map(compilePolicy), counts: () => [] }
  const counted = policies.map(compileCounted)
  return { policies: counted.map(({ compiled }) => compiled), counts: () => counted.map((one) => one.counts()) }
}
