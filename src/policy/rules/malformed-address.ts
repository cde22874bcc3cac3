import type { Expression } from '../ast.ts'
import type { Type } from '../types.ts'
import { findingAt, nodesOf, textComparison } from './clauses.ts'
import type { LintRule } from './rule.ts'

/** Fields of Ethereum that hold an address; `''` in one of them is a meaning of its own. */
const FIELDS: ReadonlySet<string> = new Set(['from', 'to', 'address'])

export const malformedAddress: LintRule = {
  name: 'malformed-address',
  severity: 'error',
  summary: 'an address is compared with a text that no address is',
  why: 'The comparison is false for every request. An ALLOW allows nothing; a DENY denies nothing.',
  solve: 'write the whole address, 0x and 40 hex digits',
  bad: `known:
  effect: deny
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.to == '0x52908400098527886e0f7030069857d2e4169ee'`,
  good: `known:
  effect: deny
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.to == '0x52908400098527886e0f7030069857d2e4169ee7'`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const comparison = textComparison(met.node)
      if (comparison === undefined || comparison.value.kind !== 'member') return []
      const type = met.expression.types.get(comparison.value)
      if (!FIELDS.has(comparison.value.name.text)) return []
      return comparison.texts
        .filter((text) => isMalformed(text, type))
        .map((node) => {
          const help = `an address is 0x and 40 hex digits, and this has ${node.value.length} characters`
          return findingAt({ ...met, node }, `\`${node.value}\` is no address`, { help })
        })
    }),
}

/** An account of a wallet may be of any chain: of those that begin with 0x some have 64 digits. */
function isMalformed({ value }: Expression & { kind: 'string' }, type: Type | undefined): boolean {
  // Of what nobody sees in a text, the loader tells.
  if (type?.kind !== 'string' || value === '' || /[^ -~]/.test(value)) return false
  if (type.letters === 'hex') return !/^0x[0-9a-f]{40}$/i.test(value)
  return type.letters === 'address' && /^0x/i.test(value) && !/^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(value)
}
