/** An explanation for people: as a tree on the terminal and as Markdown. Both say the lines that `linesOf` makes of the JSON. */
import { markdownCode, markdownText, printable } from '../../diagnostics/index.ts'
import { factorsText, timedText } from '../../plan/index.ts'
import type { Clause, Explanation, Needs, PolicyTrace } from '../../policy/index.ts'
import { decisiveLeaves } from '../../scenarios/index.ts'
import { isDenied, type SendForecast } from '../../sending/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'

/** One line of a trace. */
export interface TraceLine {
  readonly depth: number
  readonly kind: 'policy' | 'field' | 'clause' | 'operand' | 'note'
  readonly text: string
  /** Its value. */
  readonly value?: string
  /** Whether this made the difference: the outcome follows from it, and from nothing inside of it. */
  readonly decisive?: boolean
}

/** The words for outcomes. */
export const outcomeWords: Readonly<Record<string, string>> = {
  OUTCOME_ALLOW: 'allow',
  OUTCOME_DENY_EXPLICIT: 'deny',
  OUTCOME_DENY_IMPLICIT: 'deny',
  OUTCOME_REQUIRES_CONSENSUS: 'pending',
}

const policyWords: Readonly<Record<string, string>> = {
  OUTCOME_ALLOW: 'allows',
  OUTCOME_DENY_EXPLICIT: 'denies',
  OUTCOME_DENY_IMPLICIT: 'does not apply',
  OUTCOME_REQUIRES_CONSENSUS: 'waits for approvals',
  OUTCOME_ERROR: 'errs',
  OUTCOME_TIME_INACTIVE: 'is not active at this time',
}

const bases: Readonly<Record<Explanation['basis'], string>> = {
  'root-quorum': 'the root quorum has approved, and policies are not asked',
  'root-only': 'only the root quorum may do it',
  policy: 'by policy',
  'own-credentials': 'no policy decides, and everybody may change their own credentials',
  'quorum-begun': 'no policy allows it, and the root quorum has begun to approve',
  'nothing-allows': 'no policy allows it',
}

/** The outcome, what decided it, who else would have to approve, and whether that may change with time, in one line. */
export const headline = view(({ outcome, basis, decidedBy, needs, timedBy }: Explanation): string => {
  const by =
    basis === 'policy' ? `${decidedBy.length === 1 ? 'policy' : 'policies'} ${decidedBy.join(', ')}` : bases[basis]
  const more = needs === undefined ? '' : `; needs ${renderNeeds(needs)}`
  return `${outcomeWords[outcome] ?? outcome}: ${by}${more}${timedText(timedBy)}`
})

/** What comes of a send: the outcome, and what its submitter has to prove besides, unless it is denied. */
export const forecastLine = view(({ explanation, factors }: SendForecast): string => {
  const more = factors === undefined || isDenied(explanation) ? '' : `; needs ${factorsText(factors)}`
  return `${headline(explanation)}${more}`
})

/** Who else would have to approve, in words. */
export const renderNeeds = view((needs: Needs): string => {
  if (needs === 'nobody') return 'more approvals than there are people to give them'
  if (needs === 'too-many') return 'approvals in more ways than can be listed'
  if (needs.any) return `any ${needs.any.count} of ${needs.any.of.join(', ')}`
  return needs.sets.map((set) => set.join(' and ')).join(', or ')
})

/** Every line of the trace, in order. */
export function linesOf({ policies, items }: Explanation): readonly TraceLine[] {
  if (items !== undefined)
    return items.flatMap((item, index) => [
      { depth: 0, kind: 'note' as const, text: `call ${index + 1}`, value: headline(item) },
      ...item.policies.flatMap((policy) => policyLines(policy, 1)),
    ])
  return policies.flatMap((policy) => policyLines(policy, 0))
}

function policyLines({ name, effect, outcome, error, fields }: PolicyTrace, depth: number): readonly TraceLine[] {
  const kind = effect === 'EFFECT_DENY' ? 'DENY' : 'ALLOW'
  // A policy that applies does so for all of its fields; one that does not, for those that do not hold.
  const applies = outcome === 'OUTCOME_ALLOW' || outcome === 'OUTCOME_DENY_EXPLICIT'
  return [
    { depth, kind: 'policy', text: `${name} (${kind})`, value: policyWords[outcome] ?? outcome },
    ...(error === undefined
      ? []
      : [{ depth: depth + 1, kind: 'note' as const, text: `${error.kind}: ${error.message}` }]),
    ...fields.flatMap(({ field, clause }): readonly TraceLine[] => {
      if (clause === undefined) return [{ depth: depth + 1, kind: 'field', text: field, value: 'not evaluated' }]
      const leaves = new Set(applies || clause.value?.text !== 'true' ? decisiveLeaves(clause) : [])
      return [
        { depth: depth + 1, kind: 'field', text: field, value: cameTo(clause) },
        ...clauseLines(clause, depth + 2, leaves),
      ]
    }),
  ]
}

function clauseLines(clause: Clause, depth: number, leaves: ReadonlySet<Clause>): readonly TraceLine[] {
  const { element, operands, clauses } = clause
  const of = element === undefined ? '' : printable(`${element.name} = ${element.value.text}: `)
  return [
    {
      depth,
      kind: 'clause',
      text: `${of}${oneLine(clause.text)}`,
      value: cameTo(clause),
      ...(leaves.has(clause) ? { decisive: true } : {}),
    },
    ...operands.map(
      ({ text, value }): TraceLine => ({
        depth: depth + 1,
        kind: 'operand',
        text: oneLine(text),
        value: printable(value?.text ?? 'error'),
      }),
    ),
    ...clauses.flatMap((each) => clauseLines(each, depth + 1, leaves)),
  ]
}

function cameTo({ value, error }: Clause): string {
  return printable(error === undefined ? (value?.text ?? 'not evaluated') : `error, ${error.message}`)
}

function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, ' '))
}

/** The layout of an expression is not that of its explanation: `oneLine` joins its lines. */
const LINES = { lines: ['text'] }

/** The tree for a terminal; `>` marks what made the difference. */
export const renderExplanation = view((explanation: Explanation, style: Style): string => {
  const lines = linesOf(explanation).map(({ depth, kind, text, value, decisive }) => {
    const mark = decisive ? style.strong('>') : ' '
    const shown = kind === 'policy' || decisive ? style.strong(text) : text
    const joint = kind === 'operand' ? ' = ' : ': '
    return `${mark} ${'  '.repeat(depth)}${shown}${value === undefined ? '' : `${joint}${colour(value, style)}`}\n`
  })
  return `${style.strong(headline(explanation))}\n\n${lines.join('')}`
}, LINES)

function colour(value: string, style: Style): string {
  if (value === 'true' || value === 'allows') return style.good(value)
  if (value === 'false' || value === 'denies') return style.warning(value)
  return value.startsWith('error') || value === 'errs' ? style.error(value) : value
}

/** The same as Markdown, for a pull request; bold marks what made the difference. */
export const renderExplanationMarkdown = view((explanation: Explanation): string => {
  const lines = linesOf(explanation).map(({ depth, kind, text, value, decisive }) => {
    const joint = kind === 'operand' ? ' = ' : ': '
    const put = kind === 'clause' || kind === 'operand' ? markdownCode : markdownText
    const said = value === undefined ? '' : `${joint}${put(value)}`
    return `${'  '.repeat(depth)}- ${decisive ? `**${put(text)}${said}**` : `${put(text)}${said}`}\n`
  })
  return `**${markdownText(headline(explanation))}**\n\n${lines.join('')}`
}, LINES)
