/**
 * What the service answers when a policy is created or updated with an expression that it refuses. One text is known
 * from the live service: `invalid policy consensus: Expression cannot be evaluated: parse error: Unrecognized EOF found
 * at 0`; another from its texts, `field does not exist: path` (facts: policy-language §1, protocol §9). The parse errors
 * are those of the parser generator that words them so; the rest are our own messages in the same form.
 */
import { checkText, isError } from './expression.ts'
import type { PolicyField } from './model.ts'
import type { PolicyProblem } from './problem.ts'

const fields = ['consensus', 'condition', 'time'] as const satisfies readonly PolicyField[]

/**
 * Says why a policy is refused, or undefined when it is not. An absent field holds; an empty `time` is always active, an
 * empty `consensus` or `condition` is a parse error.
 */
export function writeRefusal(
  policy: Readonly<Partial<Record<PolicyField, string | null | undefined>>>,
): string | undefined {
  for (const field of fields) {
    const text = policy[field]
    if (text === undefined || text === null || (field === 'time' && text === '')) continue
    const [first] = checkText(field, text).filter(isError)
    if (first !== undefined) return `invalid policy ${field}: Expression cannot be evaluated: ${reason(first, text)}`
  }
  return undefined
}

function reason({ code, message, start, end }: PolicyProblem, text: string): string {
  // Offsets count bytes, as those of the service's parser do.
  const at = (offset: number) => new TextEncoder().encode(text.slice(0, offset)).length
  switch (code) {
    case 'policy/unexpected-end':
      return `parse error: Unrecognized EOF found at ${at(start)}`
    case 'policy/unexpected-token':
    case 'policy/chained-comparison':
      return `parse error: Unrecognized token \`${text.slice(start, end)}\` found at ${at(start)}:${at(end)}`
    case 'policy/unexpected-character':
    case 'policy/double-quotes':
    case 'policy/unterminated-string':
    case 'policy/malformed-number':
      return `parse error: Invalid token at ${at(start)}`
    case 'policy/unknown-field':
      return `field does not exist: ${text.slice(start, end)}`
    default:
      return message
  }
}
