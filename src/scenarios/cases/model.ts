import type { Decision, Outcome, PolicyContext, PolicyText } from '../../policy/index.ts'

/** The outcome of a case, in one word. */
export type CaseOutcome = 'allow' | 'deny' | 'pending' | 'error'

/** One case or variant, ready to run. */
export interface PolicyCase {
  readonly name: string
  /** Labels of the readings it rests on. */
  readonly restsOn: readonly string[]
  readonly policies: readonly PolicyText[]
  readonly context: PolicyContext
  readonly expected: CaseExpectation
}

/** The expectations of a case; an absent member is not compared. */
export interface CaseExpectation {
  readonly outcome?: string
  /** For `error`: refused when it is written, an error of evaluation, or either of the two. @default any */
  readonly stage?: string
  readonly final?: string
  readonly policies?: Readonly<Record<string, string>>
}

/** One line of the report. */
export interface CaseResult {
  readonly name: string
  readonly outcome: CaseOutcome
  readonly final: Decision['outcome']
  readonly policies: Readonly<Record<string, Outcome>>
  readonly expected: CaseExpectation
  readonly ok: boolean
  /** What differs, in words; absent when nothing does. */
  readonly differs?: readonly string[]
}
