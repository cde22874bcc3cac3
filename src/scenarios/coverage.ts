/** Coverage by place: the counts of each clause of each policy, at its place in its file. */
import type { WrittenExpression } from '../definitions/index.ts'
import { toSpanJson } from '../diagnostics/index.ts'
import type { PolicyCount, PolicyField } from '../policy/index.ts'
import { formatAddress } from '../resources/index.ts'
import { referenceText } from './world.ts'

/** A clause: each of its two outcomes is covered when some scenario saw it. Plain data. */
export interface CoveredClause {
  readonly policy: string
  readonly field: PolicyField
  readonly text: string
  readonly path: string
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
  readonly timesTrue: number
  readonly timesFalse: number
  readonly timesError: number
  /** The clauses and values that no scenario covered; absent when all are covered. */
  readonly missing?: 'never evaluated' | 'never true' | 'never false'
}

export interface Coverage {
  /** By place, an outer clause before those inside of it. */
  readonly clauses: readonly CoveredClause[]
  /** Outcomes seen, of two for each clause. */
  readonly covered: number
  readonly outcomes: number
  /** 0 to 100; 100 when there is nothing to cover. */
  readonly percent: number
}

/** Puts counts where the clauses stand. */
export function coverageOf(counts: readonly PolicyCount[], expressions: readonly WrittenExpression[]): Coverage {
  const clauses = counts.flatMap(({ policyId, fields }) =>
    fields.flatMap(({ field, clauses: counted }): readonly CoveredClause[] => {
      const address = formatAddress('policy', policyId)
      const written = expressions.find((one) => one.address === address && one.field === field)
      if (written === undefined) return []
      const { locate } = written.fill(referenceText)
      return counted.map(({ start, end, text, ...times }) => {
        const missing = missingOf(times)
        return {
          policy: policyId,
          field,
          text,
          ...toSpanJson(locate(start, end)),
          ...times,
          ...(missing === undefined ? {} : { missing }),
        }
      })
    }),
  )
  const covered = clauses.reduce(
    (sum, { timesTrue, timesFalse }) => sum + Number(timesTrue > 0) + Number(timesFalse > 0),
    0,
  )
  const outcomes = 2 * clauses.length
  return {
    clauses: clauses.sort((a, b) =>
      a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line || a.column - b.column,
    ),
    covered,
    outcomes,
    // Rounded down: 100 says that nothing is missing.
    percent: outcomes === 0 ? 100 : Math.floor((1000 * covered) / outcomes) / 10,
  }
}

function missingOf({
  timesTrue,
  timesFalse,
}: {
  readonly timesTrue: number
  readonly timesFalse: number
}): CoveredClause['missing'] {
  if (timesTrue === 0 && timesFalse === 0) return 'never evaluated'
  return timesTrue === 0 ? 'never true' : timesFalse === 0 ? 'never false' : undefined
}
