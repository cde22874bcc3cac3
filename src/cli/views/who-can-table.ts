import { csvLine } from '../../diagnostics/index.ts'
import { waysText } from '../../plan/index.ts'
import { view } from '../screen.ts'
import type { WhoCanView } from './who-can.ts'

const COLUMNS = ['power', 'over', 'activities', 'people', 'condition', 'unless', 'policies', 'steps', 'at', 'state']

/** The answer of `quorate who-can` as CSV: a row for each wallet and line, and for each path by moves; `;` between several in a cell. */
export const renderWhoCanCsv = view((report: WhoCanView): string => {
  const { at, stateDigest, rows, indirect } = report
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
        policies.join('; '),
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
