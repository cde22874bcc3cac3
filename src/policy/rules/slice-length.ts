import { findingAt, nodesOf, textComparison } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const sliceLength: LintRule = {
  name: 'slice-length',
  severity: 'error',
  summary: 'a slice is compared with a text of another length',
  why: 'Positions count characters, and `0x` counts: a selector is `[0..10]`, not `[0..4]`. A text of another length never equals the slice.',
  solve: 'count the characters, `0x` included',
  bad: `approve:
  effect: deny
  condition: eth.tx.data[0..4] == '0x095ea7b3'`,
  good: `approve:
  effect: deny
  condition: eth.tx.data[0..10] == '0x095ea7b3'`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const comparison = textComparison(met.node)
      if (comparison?.value.kind !== 'slice') return []
      const { from, to } = comparison.value
      if (from.kind !== 'int' || to.kind !== 'int') return []
      const length = to.value - from.value
      return comparison.texts
        .filter(({ value }) => BigInt([...value].length) > length)
        .map((node) =>
          findingAt(
            { ...met, node },
            `this has ${[...node.value].length} characters, and the slice at most ${length}`,
            {
              help:
                from.value === 0n ? `write \`[0..${[...node.value].length}]\`` : 'count the characters, `0x` included',
            },
          ),
        )
    }),
}
