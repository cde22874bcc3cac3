import type { PowerLine, PowerRow } from '../../analysis/index.ts'
import { type Ways, waysText } from '../../plan/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'

/** A line with its sets of people written out. */
export interface WhoCanLine extends Omit<PowerLine, 'people'> {
  readonly ways: readonly Ways[] | 'unknown'
}

/** The answer of `quorate who-can`, and its JSON. */
export interface WhoCanView {
  readonly organization: { readonly id: string; readonly name: string }
  /** ISO 8601. */
  readonly at: string
  /** Of the state that was read. */
  readonly stateDigest: string
  /** Kinds that the key in use may not read, so that what they would add is unknown. */
  readonly unread: readonly string[]
  readonly rows: readonly (Omit<PowerRow, 'lines'> & { readonly lines: readonly WhoCanLine[] })[]
}

/** A paragraph a power: over what, by which activities, and who, by which policies. */
export const renderWhoCan = view((report: WhoCanView, style: Style): string => {
  const { organization, at, stateDigest, unread, rows } = report
  const head = `${style.strong(organization.name)} ${style.dim(`${organization.id} at ${at}, state ${stateDigest}`)}\n`
  const missing =
    unread.length === 0 ? '' : `${style.warning(`not read, so that more may be possible: ${unread.join(', ')}`)}\n`
  if (rows.length === 0) return `${head}${missing}nobody has any of these powers\n`
  return `${head}${missing}${rows.map((row) => paragraph(row, style)).join('')}`
})

function paragraph({ power, over, activities, lines }: WhoCanView['rows'][number], style: Style): string {
  const head = [style.strong(power), ...(over.length === 0 ? [] : [over.join(', ')])].join('  ')
  const types = style.dim(`  ${activities.map((one) => one.replace('ACTIVITY_TYPE_', '')).join(', ')}`)
  return `\n${head}\n${types}\n${lines.map((one) => lineText(one, style)).join('')}`
}

function lineText({ condition, unless = [], policies, ways }: WhoCanLine, style: Style): string {
  const who =
    ways === 'unknown' ? style.warning('unknown: there are too many sets of people to try them all') : waysText(ways)
  const by = policies.length === 0 ? '' : style.dim(`  by ${policies.join(', ')}, or by right`)
  const under = condition === undefined ? '' : `    under condition: ${condition}\n`
  const stopped = unless.map((one) => `    unless a policy denies: ${one}\n`).join('')
  return `  ${who}${by}\n${under}${stopped}`
}
