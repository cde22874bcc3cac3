import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { type Advice, lint, readForLint, rules } from '../policy/index.ts'
import type { Address } from '../resources/index.ts'
import { addressFault } from './address-fault.ts'
import type { Draft } from './build.ts'
import type { WrittenExpression } from './expressions.ts'
import { suppressionsOf } from './suppressions.ts'

/** The lint rules that every load runs: a DENY with a mistyped word or address denies nothing, and the API takes it. */
const RULES: ReadonlySet<string> = new Set(['unknown-activity', 'malformed-address'])
const ONLY = Object.fromEntries(
  rules.map(({ name, severity }) => [name, RULES.has(name) ? severity : ('off' as const)]),
)
/** Names without one of which the rules have nothing to say: it saves parsing a second time. */
const TOLD = ['activity', 'to', 'from', 'address', 'key', 'owner', 'signers']

/**
 * Words for activities that no activity has, and addresses that none is, as `policy lint` finds them; warnings, since the API may
 * know more of them.
 */
export function checkMistyped(
  expressions: readonly WrittenExpression[],
  drafts: readonly Draft[],
): readonly Diagnostic[] {
  // Policies that differ in the names they use alone have one text, with the same in place of each name.
  const known = new Map<string, readonly Advice[]>()
  const found = expressions.flatMap(({ address, field, checked: { text, locate } }) => {
    if (!TOLD.some((name) => text.includes(name))) return []
    const key = `${field} ${text}`
    const expression = known.has(key) ? undefined : readForLint(field, text)
    const policies = expression ? [{ name: '', effect: 'allow' as const, fields: { [field]: expression } }] : []
    const advice = known.get(key) ?? lint({ policies, tags: [], users: [], addressFault }, ONLY)
    known.set(key, advice)
    return advice.map(({ rule: { name: rule }, at, message, help }) => {
      const { start = 0, end = start } = 'tag' in at ? {} : at
      const severity = 'warning' as const
      return { address, rule, told: diagnostic(`lint/${rule}`, message, locate(start, end), { severity, help }) }
    })
  })
  if (found.length === 0) return []
  const draftOf = new Map(drafts.map((draft) => [draft.resource.address, draft]))
  const isSilenced = ({ address, rule }: (typeof found)[number]) => {
    const draft = draftOf.get(address)
    return draft !== undefined && isSuppressed(draft, rule)
  }
  return found.filter((one) => !isSilenced(one)).map(({ told }) => told)
}

function isSuppressed({ resource: { address, span, fieldSpans } }: Draft, rule: string): boolean {
  const end = Math.max(span.end, ...Object.values(fieldSpans).map((one) => one.end))
  const subjects: readonly { name: Address; span: typeof span; end: number }[] = [{ name: address, span, end }]
  return suppressionsOf(span.source, subjects).some(
    ({ suppression, subject }) => subject === address && suppression.rule === rule,
  )
}
