/**
 * What the service answers when a policy is created or updated with an expression that it refuses. One text is known
 * from the live service: `invalid policy consensus: Expression cannot be evaluated: parse error: Unrecognized EOF found
 * at 0`; another from its texts, `field does not exist: path` (docs/protocol/policies.md#a-policy). The parse errors
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
    if (text === undefined || text === null) continue
    const errors = checkText(field, text).filter(isError)
    // A text that does not parse is never type-checked by the service.
    const first = errors.find(({ code }) => parseErrors.has(code)) ?? errors[0]
    if (first !== undefined) return `invalid policy ${field}: Expression cannot be evaluated: ${reason(first, text)}`
  }
  return undefined
}

type ParseError = (problem: PolicyProblem, text: string) => string

const invalidToken: ParseError = ({ start }, text) => `Invalid token at ${byteOffset(text, start)}`
const unrecognizedToken: ParseError = ({ start, end }, text) =>
  `Unrecognized token \`${text.slice(start, end)}\` found at ${byteOffset(text, start)}:${byteOffset(text, end)}`

const parseErrors: ReadonlyMap<PolicyProblem['code'], ParseError> = new Map([
  ['policy/unexpected-end', ({ start }, text) => `Unrecognized EOF found at ${byteOffset(text, start)}`],
  ['policy/unexpected-token', unrecognizedToken],
  ['policy/chained-comparison', unrecognizedToken],
  ['policy/unexpected-character', invalidToken],
  ['policy/double-quotes', invalidToken],
  ['policy/unterminated-string', invalidToken],
  ['policy/malformed-number', invalidToken],
])

function reason(problem: PolicyProblem, text: string): string {
  const parseError = parseErrors.get(problem.code)
  if (parseError !== undefined) return `parse error: ${parseError(problem, text)}`
  return problem.code === 'policy/unknown-field'
    ? `field does not exist: ${text.slice(problem.start, problem.end)}`
    : problem.message
}

/** Offsets count bytes of UTF-8, as those of the service's parser do. */
function byteOffset(text: string, offset: number): number {
  return new TextEncoder().encode(text.slice(0, offset)).length
}
