import { csvLine, markdownCode, markdownText } from '../../diagnostics/index.ts'
import { amountNote, deniersText, waysText } from '../../plan/index.ts'
import { view } from '../screen.ts'
import { notYetText, valueText, type WhoCanView, whoseText } from './who-can.ts'

const COLUMNS = ['power', 'over', 'activities', 'people', 'condition', 'unless', 'policies', 'steps', 'at', 'state']

/** The answer of `quorate who-can` as CSV: a row for each wallet and line, and for each path by moves; `;` between several in a cell. */
export const renderWhoCanCsv = view((report: WhoCanView): string => {
  const { at, stateDigest, rows, indirect, beganAt } = report
  if (beganAt !== undefined)
    return [COLUMNS, ['', '', '', `nobody: ${notYetText({ at, beganAt })}`, '', '', '', '', at, stateDigest]]
      .map(csvLine)
      .join('')
  const each = (over: readonly string[]) => (over.length === 0 ? [''] : over)
  const direct = rows.flatMap(({ power, over, activities, lines }) =>
    each(over).flatMap((holder) =>
      lines.map(({ condition = '', unless = [], policies, ways }) => [
        power,
        holder,
        activities.join('; '),
        ways === 'unknown' ? 'unknown' : waysText(ways),
        condition,
        unless.join('; '),
        [...policies, ...(condition === '' ? ['the root quorum'] : [])].join('; '),
        '',
      ]),
    ),
  )
  const moved = (indirect?.rows ?? []).flatMap(({ power, over, activities, paths }) =>
    each(over).flatMap((holder) =>
      paths.map(({ people, steps }) => [
        power,
        holder,
        activities.join('; '),
        people.join(' and '),
        steps.flatMap(({ condition }) => condition ?? []).join('; '),
        steps.flatMap(({ unless = [] }) => unless).join('; '),
        steps.flatMap(({ policies }) => policies).join('; '),
        steps.map((step) => `${step.activity}: ${step.people.join(' and ')}`).join('; '),
      ]),
    ),
  )
  return [COLUMNS, ...[...direct, ...moved].map((cells) => [...cells, at, stateDigest])].map(csvLine).join('')
})

/** The answer of `quorate who-can` as Markdown: a table for each power, and one of what they rest on where that was asked. */
export const renderWhoCanMarkdown = view((report: WhoCanView): string => {
  const { organization, at, stateDigest, unread, unknown = [], rows, indirect, why, beganAt } = report
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
        [...policies.map(markdownCode), ...(condition === undefined ? ['the root quorum'] : [])].join(', '),
        condition === undefined ? '' : conditionCode(condition),
        unless.map((one) => `${markdownText(deniersText(deniedBy))} denies ${conditionCode(one)}`).join(', '),
      ]),
    ),
  ])
  const paths = [
    ...(indirect?.roots.length ? [{ power: 'as good as the root quorum', over: [], paths: indirect.roots }] : []),
    ...(indirect?.rows ?? []),
  ]
  const moved = paths.flatMap(({ power, over, paths: ways }) => [
    heading(`${power}, by moves`, over),
    ...table(
      ['who', 'steps'],
      ways.map(({ people, isConditional, steps }) => [
        `${markdownText(people.join(' and ') || 'anybody')}${isConditional ? ', perhaps' : ''}`,
        steps.map((step) => `${markdownCode(step.activity)}: ${markdownText(step.people.join(' and '))}`).join('; '),
      ]),
    ),
  ])
  const limits = indirect?.limits.length
    ? [`**More may be possible**: ${markdownText(indirect.limits.join('; '))}`, '']
    : []
  const reasons = (why ?? []).map((one) => [
    markdownCode(one.address),
    Object.entries(one.fields)
      .map(([name, value]) => `${name}: ${markdownCode(valueText(value))}`)
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
    ...(beganAt !== undefined
      ? [`**Nobody**: ${markdownText(notYetText({ at, beganAt }))}.`, '']
      : rows.length === 0
        ? ['Nobody can do what is asked about.', '']
        : direct),
    ...moved,
    ...limits,
    ...(why ? [heading('What they rest on', []), ...table(['what', 'text', 'whose'], reasons)] : []),
  ].join('\n')
})

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
