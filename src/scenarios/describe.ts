/** An explanation in short: for each policy one line that says what it came to and what made the difference. */
import type { Clause, Explanation, PolicyTrace } from '../policy/index.ts'
import { POLICY_WORDS } from './form.ts'

/** One line a policy. */
export function describeTrace({ policies, basis }: Explanation): readonly string[] {
  if (policies.length === 0) return [`no policy was asked: ${basis}`]
  return policies.map(describePolicy)
}

function describePolicy({ name, outcome, fields }: PolicyTrace): string {
  const words: Readonly<Record<string, string>> = POLICY_WORDS
  const word = words[outcome] ?? outcome
  const reasons = fields.flatMap(({ field, clause }) =>
    clause === undefined || clause.value?.text === 'true'
      ? []
      : [`${field}: ${decisiveLeaves(clause).map(say).join('; ')}`],
  )
  return reasons.length === 0 ? `${name}: ${word}` : `${name}: ${word}; ${reasons.join('; ')}`
}

/** The clauses from which the outcome follows, and which hold no other such clause. */
export function decisiveLeaves(clause: Clause): readonly Clause[] {
  const inner = clause.clauses.filter(({ decisive }) => decisive)
  return inner.length === 0 ? [clause] : inner.flatMap(decisiveLeaves)
}

function say({ text, value, error, operands, element }: Clause): string {
  const whole = `\`${oneLine(text)}\` ${error === undefined ? `is ${value?.text ?? 'not evaluated'}` : `errs: ${error.message}`}`
  const values = operands.flatMap((operand) =>
    operand.value === undefined ? [] : [`\`${oneLine(operand.text)}\` is ${operand.value.text}`],
  )
  const of = element === undefined ? [] : [`for ${element.name} ${element.value.text}`]
  const more = [...of, ...values]
  return more.length === 0 ? whole : `${whole} (${more.join(', ')})`
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
