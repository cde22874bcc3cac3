import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { type Advice, lint, readForLint, rules } from '../policy/index.ts'
import type { Address } from '../resources/index.ts'
import type { Draft } from './build.ts'
import type { WrittenExpression } from './expressions.ts'
import { suppressionsOf } from './suppressions.ts'

const RULE = 'unknown-activity'
/** The one lint rule that every load runs: a DENY with a mistyped word denies nothing, and the API takes it. */
const ONLY = Object.fromEntries(rules.map(({ name, severity }) => [name, name === RULE ? severity : ('off' as const)]))
/** Without the name of this root the rule has nothing to say: it saves parsing a second time. */
const ROOT = 'activity'

/** Words for activities that no activity has, as `policy lint` finds them; a warning, since the API may know more of them. */
export function checkActivityWords(
  expressions: readonly WrittenExpression[],
  drafts: readonly Draft[],
): readonly Diagnostic[] {
  // Policies that differ in the names they use alone have one text, with the same in place of each name.
  const known = new Map<string, readonly Advice[]>()
  const found = expressions.flatMap(({ address, field, checked: { text, locate } }) => {
    if (!text.includes(ROOT)) return []
    const key = `${field} ${text}`
    const expression = known.has(key) ? undefined : readForLint(field, text)
    const policies = expression ? [{ name: '', effect: 'allow' as const, fields: { [field]: expression } }] : []
    const advice = known.get(key) ?? lint({ policies, tags: [], users: [] }, ONLY)
    known.set(key, advice)
    return advice.map(({ at, message, help }) => {
      const { start = 0, end = start } = 'tag' in at ? {} : at
      const severity = 'warning' as const
      return { address, told: diagnostic(`lint/${RULE}`, message, locate(start, end), { severity, help }) }
    })
  })
  const written = new Set(found.map(({ address }) => address))
  const suppressed = new Set(
    drafts
      .filter((draft) => written.has(draft.resource.address) && isSuppressed(draft))
      .map(({ resource }) => resource.address),
  )
  return found.filter(({ address }) => !suppressed.has(address)).map(({ told }) => told)
}

function isSuppressed({ resource: { address, span, fieldSpans } }: Draft): boolean {
  const end = Math.max(span.end, ...Object.values(fieldSpans).map((one) => one.end))
  const subjects: readonly { name: Address; span: typeof span; end: number }[] = [{ name: address, span, end }]
  return suppressionsOf(span.source, subjects).some(
    ({ suppression, subject }) => subject === address && suppression.rule === RULE,
  )
}
