import type { Expression } from '../ast.ts'
import type { Type } from '../types.ts'
import { findingAt, nodesOf, textComparison } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const mixedCaseHex: LintRule = {
  name: 'mixed-case-hex',
  severity: 'warning',
  summary: 'hex text has upper-case letters',
  why: 'Letter case of addresses and calldata does not count here, but for typed data the documentation asks for lower case and warns that anything else may never match.',
  solve: 'write it in lower case',
  bad: `permit:
  effect: deny
  condition: eth.eip_712.domain.verifying_contract == '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'`,
  good: `permit:
  effect: deny
  condition: eth.eip_712.domain.verifying_contract == '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'`,
  fixable: true,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const comparison = textComparison(met.node)
      if (comparison === undefined || !isHex(met.expression.types.get(comparison.value))) return []
      return comparison.texts.filter(isMixed).map((node) => {
        const text = `'${node.value.toLowerCase()}'`
        return findingAt({ ...met, node }, `\`${node.value}\` has upper-case letters`, {
          help: `write \`${text}\``,
          fix: { start: node.start, end: node.end, text },
        })
      })
    }),
}

function isMixed({ value }: Expression & { kind: 'string' }): boolean {
  return /^0x[0-9a-f]*$/i.test(value) && value !== value.toLowerCase()
}

/** Where letter case does not count, so that writing it otherwise changes nothing. */
function isHex(type: Type | undefined): boolean {
  if (type?.kind === 'dynamic') return type.origin === 'abi' || type.origin === 'eip-712'
  return type?.kind === 'string' && (type.letters === 'hex' || type.letters === 'address')
}
