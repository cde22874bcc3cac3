import { findingAt, nodesOf, textComparison } from './clauses.ts'
import type { Finding, LintRule } from './rule.ts'

export const quotedNumber: LintRule = {
  name: 'quoted-number',
  severity: 'warning',
  summary: 'a number is compared with a text',
  why: 'The documentation compares the numbers of an EIP-7702 authorization with texts, and types them as numbers. A number in quotes relies on one reading of the two; a number does not.',
  solve: 'remove the quotes',
  bad: `delegate:
  effect: deny
  condition: eth.eip_7702_authorization.chain_id == '0'`,
  good: `delegate:
  effect: deny
  condition: eth.eip_7702_authorization.chain_id == 0`,
  fixable: true,
  check(input) {
    const findings: Finding[] = []
    for (const met of nodesOf(input)) {
      const comparison = textComparison(met.node)
      if (comparison === undefined || met.expression.types.get(comparison.value)?.kind !== 'number') continue
      for (const node of comparison.texts) {
        if (!/^(?:0|-?[1-9]\d*)$/.test(node.value)) continue
        const isAlone = met.node.kind === 'compare' && met.node.operator !== 'in'
        findings.push(
          findingAt({ ...met, node }, `\`'${node.value}'\` is a text, and this is compared with a number`, {
            help: `write \`${node.value}\``,
            // In a list the others would have to become numbers with it.
            ...(isAlone ? { fix: { start: node.start, end: node.end, text: node.value } } : {}),
          }),
        )
      }
    }
    return findings
  },
}
