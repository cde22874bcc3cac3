import type { Span } from '../diagnostics/index.ts'
import type { PolicyContext } from '../policy/index.ts'
import type { ExpectedOutcome } from './form.ts'

/** A scenario ready to be played. */
export interface Scenario {
  readonly name: string
  readonly span: Span
  readonly why?: string
  readonly context: PolicyContext
  readonly expected: Expectation
}

/** The expectations of a scenario, each with its place; an absent member is not compared. */
export interface Expectation {
  readonly span: Span
  readonly outcome?: Spanned<ExpectedOutcome>
  readonly decidedBy?: Spanned<readonly string[]>
  readonly errors?: Spanned<readonly string[]>
  readonly policies?: readonly (Spanned<string> & { readonly policy: string })[]
  /** Sorted sets of names, sorted. */
  readonly needs?: Spanned<readonly (readonly string[])[]>
}

export interface Spanned<T> {
  readonly value: T
  readonly span: Span
}

/** A place in a file, as reports say it. */
export interface FilePosition {
  readonly path: string
  readonly line: number
  readonly column: number
}

/** The result of one scenario. Plain data: every report is made from it. */
export interface ScenarioResult extends FilePosition {
  readonly name: string
  readonly ok: boolean
  readonly why?: string
  readonly got: {
    readonly outcome: 'allow' | 'deny' | 'pending'
    readonly decidedBy: readonly string[]
    readonly errors: readonly string[]
  }
  readonly differences: readonly UnmetExpectation[]
  /** On failure: what made the difference, a line a policy. */
  readonly because: readonly string[]
}

/** One expectation that was not met. */
export interface UnmetExpectation extends FilePosition {
  /** `outcome`, `decidedBy`, `errors`, `needs`, or `policies.NAME`. */
  readonly what: string
  readonly expected: string
  readonly got: string
}
