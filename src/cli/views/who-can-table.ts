import { csvLine, markdownCode, markdownText } from '../../diagnostics/index.ts'
import { amountNote, deniersText, waysText } from '../../plan/index.ts'
import { view } from '../screen.ts'
import {
  nobodyText,
  noMovesText,
  notYetText,
  ofUserText,
  ROOT_QUORUM,
  stepPolicies,
  valueText,
  type WhoCanView,
  whoseText,
} from './who-can.ts'

const COLUMNS = [
  ...['power', 'over', 'activities', 'people', 'condition', 'unless', 'policies', 'steps', 'at', 'state'],
  // What is not known: of the row, or, where it has nothing else, of the answer.
  'unknown',
  'policyIds',
]

/** The answer of `quorate who-can` as CSV: a row for each wallet and line, for each path by moves, and for each thing that is not known; `;` between several in a cell. */
export const renderWhoCanCsv = view(
  (report: WhoCanView, policyIds: ReadonlyMap<string, string> = new Map()): string => {
    const { at, stateDigest, unread, unknown = [], rows, indirect, beganAt } = report
    const row = (cells: Readonly<Partial<Record<string, string>>>) => {
      const whole: typeof cells = { ...cells, at, state: stateDigest }
      return csvLine(COLUMNS.map((name) => whole[name] ?? ''))
    }
    if (beganAt !== undefined)
      return [csvLine(COLUMNS), row({ people: `nobody: ${notYetText({ at, beganAt })}` })].join('')
    const idsOf = (policies: readonly string[]) => policies.flatMap((name) => policyIds.get(name) ?? []).join('; ')
    const each = (over: readonly string[]) => (over.length === 0 ? [''] : over)
    const direct = rows.flatMap(({ power, over, activities, lines }) =>
      each(over).flatMap((holder) =>
        lines.map(({ condition = '', unless = [], policies, ways }) =>
          row({
            power,
            over: holder,
            activities: activities.join('; '),
            people: ways === 'unknown' ? 'unknown' : waysText(ways),
            condition,
            unless: unless.join('; '),
            policies: [...policies, ...(condition === '' ? [ROOT_QUORUM] : [])].join('; '),
            unknown: ways === 'unknown' ? TOO_MANY : '',
            policyIds: idsOf(policies),
          }),
        ),
      ),
    )
    const paths = [
      ...(indirect?.roots.length ? [{ power: AS_GOOD, over: [], activities: [], paths: indirect.roots }] : []),
      ...(indirect?.rows ?? []),
    ]
    const moved = paths.flatMap(({ power, over, activities, paths: ways }) =>
      each(over).flatMap((holder) =>
        ways.map(({ people, isConditional, steps }) =>
          row({
            power,
            over: holder,
            activities: activities.join('; '),
            people: people.join(' and ') || 'anybody',
            condition: steps.flatMap(({ condition }) => condition ?? []).join('; '),
            unless: steps.flatMap(({ unless = [] }) => unless).join('; '),
            policies: steps.flatMap(stepPolicies).join('; '),
            steps: steps.map((step) => `${step.activity}: ${step.people.join(' and ')}`).join('; '),
            unknown: isConditional ? 'perhaps: conditions are taken to be met' : '',
            policyIds: idsOf(steps.flatMap(({ policies }) => policies)),
          }),
        ),
      ),
    )
    const limits = [
      ...(unread.length > 0 ? [`not read: ${unread.join(', ')}`] : []),
      ...[...unknown, ...(indirect?.limits ?? [])].map((one) => `more may be possible: ${one}`),
    ].map((one) => row({ unknown: one }))
    return [csvLine(COLUMNS), ...direct, ...moved, ...limits].join('')
  },
)

const AS_GOOD = 'as good as the root quorum'
const TOO_MANY = 'there are too many sets of people to try them all'

/** The answer of `quorate who-can` as Markdown: a table for each power, and one of what they rest on where that was asked. */
export const renderWhoCanMarkdown = view((report: WhoCanView): string => {
  const { organization, at, stateDigest, unread, unknown = [], rows, indirect, why, beganAt, user } = report
  const code = (texts: readonly string[]) => texts.map(markdownCode).join(', ')
  const missing = unread.length === 0 ? [] : [`**Not read, so that more may be possible**: ${code(unread)}`, '']
  const direct = rows.flatMap(({ power, over, activities, lines }) => [
    heading(power, over),
    code(activities),
    '',
    ...table(
      ['who', 'by', 'under condition', 'unless'],
      lines.map(({ ways, policies, condition, unless = [], deniedBy }) => [
        ways === 'unknown' ? '**unknown**: there are too many sets of people to try' : markdownText(waysText(ways)),
        [...policies.map(markdownCode), ...(condition === undefined ? [ROOT_QUORUM] : [])].join(', '),
        condition === undefined ? '' : conditionCode(condition),
        unless.map((one) => `${markdownText(deniersText(deniedBy))} denies ${conditionCode(one)}`).join(', '),
      ]),
    ),
  ])
  const paths = [
    ...(indirect?.roots.length ? [{ power: AS_GOOD, over: [], paths: indirect.roots }] : []),
    ...(indirect?.rows ?? []),
  ]
  const moved = paths.flatMap(({ power, over, paths: ways }) => [
    heading(`${power}, by moves`, over),
    ...table(
      ['who', 'steps'],
      ways.map(({ people, isConditional, steps }) => [
        `${markdownText(people.join(' and ') || 'anybody')}${isConditional ? ', perhaps' : ''}`,
        steps
          .map((step) => {
            const { activity, people: voters, policies, condition, unless = [], deniedBy } = step
            const by = policies.length > 0 ? policies.map(markdownCode) : stepPolicies(step).map(markdownText)
            const told = [
              `${markdownCode(activity)}: ${markdownText(voters.join(' and '))}, by ${by.join(', ')}`,
              ...(condition === undefined ? [] : [`under condition ${conditionCode(condition)}`]),
              ...unless.map((one) => `unless ${markdownText(deniersText(deniedBy))} denies ${conditionCode(one)}`),
            ]
            return told.join(', ')
          })
          .join('; '),
      ]),
    ),
  ])
  const limits = indirect?.limits.length
    ? [`**More may be possible**: ${markdownText(indirect.limits.join('; '))}`, '']
    : []
  const reasons = (why ?? []).map((one) => [
    `${markdownCode(one.address)}${one.id === undefined ? '' : ` ${markdownCode(one.id)}`}`,
    Object.entries(one.fields)
      .map(([name, value]) => `${name}: ${conditionCode(valueText(value))}`)
      .join('; '),
    markdownText(whoseText(one)),
  ])
  return [
    `## Who can, in ${markdownText(organization.name)}`,
    '',
    `At ${markdownText(at)}, state ${markdownCode(stateDigest)}.`,
    '',
    ...missing,
    ...unknown.flatMap((one) => [`**More may be possible**: ${markdownText(one)}`, '']),
    ...(user === undefined ? [] : [`Told is ${markdownText(ofUserText(user))}.`, '']),
    ...(beganAt !== undefined
      ? [`**Nobody**: ${markdownText(notYetText({ at, beganAt }))}.`, '']
      : rows.length === 0
        ? [`${markdownText(sentence(nobodyText(report), user))}.`, '']
        : direct),
    ...moved,
    ...(indirect && paths.length === 0 ? [`${markdownText(sentence(noMovesText(user), user))}.`, ''] : []),
    ...limits,
    ...(why ? [heading('What they rest on', []), ...table(['what', 'text', 'whose'], reasons)] : []),
  ].join('\n')
})

/** With a capital letter, unless it begins with the name of the user who was asked about. */
function sentence(text: string, user: string | undefined): string {
  return user === undefined ? `${text[0]!.toUpperCase()}${text.slice(1)}` : text
}

/** An open condition, with its amounts also in coins. */
function conditionCode(condition: string): string {
  return `${markdownCode(condition)}${amountNote(condition)}`
}

function heading(power: string, over: readonly string[]): string {
  return `### ${markdownText(power)}${over.length === 0 ? '' : ` over ${over.map(markdownCode).join(', ')}`}\n`
}

/** Cells are Markdown already. */
function table(columns: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line), '']
}
