import {
  GAINS,
  type IndirectPath,
  type IndirectPowers,
  type IndirectStep,
  type PowerLine,
  type PowerRow,
} from '../../analysis/index.ts'
import type { PowerReason } from '../../operations/index.ts'
import { amountNote, authorText, deniersText, type Ways, waysText } from '../../plan/index.ts'
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
  /** ISO 8601; present where the organization did not exist at the time that is asked about: when it began. Then nobody can do anything. */
  readonly beganAt?: string
  /** Whom every set of people has that is told, by name; absent where all sets are told. */
  readonly user?: string
  /** What is not known of a former state, in words; absent when there is nothing of the kind. */
  readonly unknown?: readonly string[]
  readonly rows: readonly (Omit<PowerRow, 'lines'> & { readonly lines: readonly WhoCanLine[] })[]
  /** Who could get these powers by moves; absent unless it was asked. */
  readonly indirect?: IndirectPowers
  /** The root quorum and the policies that are named, with who made and last changed them; absent unless it was asked. */
  readonly why?: readonly PowerReason[]
}

/** Of an organization that did not exist yet at a time. */
export function notYetText({ at, beganAt }: { readonly at: string; readonly beganAt: string }): string {
  return `the organization did not exist at ${at}: it began at ${beganAt}`
}

/** Where nobody can do it, or none with a user that was asked about. */
export function nobodyText({ user }: Pick<WhoCanView, 'user'>): string {
  return user === undefined
    ? 'nobody can do what is asked about'
    : `${user} can do nothing of what is asked about, alone or with others`
}

/** What is left out where a user was asked about. */
export function ofUserText(user: string): string {
  return `only what ${user} takes part in: others may have these powers without ${user}`
}

/** A paragraph a power: over what, by which activities, and who, by which policies. */
export const renderWhoCan = view((report: WhoCanView, style: Style): string => {
  const { organization, at, stateDigest, unread, rows, beganAt, user } = report
  const head = `${style.strong(organization.name)} ${style.dim(`${organization.id === '' ? '' : `${organization.id} `}at ${at}, state ${stateDigest}`)}\n`
  if (beganAt !== undefined) return `${head}${notYetText({ at, beganAt })}, and nobody could do anything\n`
  const missing =
    unread.length === 0 ? '' : `${style.warning(`not read, so that more may be possible: ${unread.join(', ')}`)}\n`
  const former = (report.unknown ?? []).map((one) => `${style.warning(`more may be possible: ${one}`)}\n`).join('')
  const part = user === undefined ? '' : `${ofUserText(user)}\n`
  const direct = rows.length === 0 ? `${nobodyText(report)}\n` : rows.map((row) => paragraph(row, style)).join('')
  return `${head}${missing}${former}${part}${direct}${report.indirect ? indirectText(report.indirect, { user, style }) : ''}${(report.why ?? []).map((one) => reasonText(one, style)).join('')}`
})

function reasonText(reason: PowerReason, style: Style): string {
  const fields = Object.entries(reason.fields).map(
    ([name, value]) => `  ${name.padEnd(10)} ${withAmount(valueText(value))}\n`,
  )
  const id = reason.id === undefined ? '' : `  ${style.dim(reason.id)}`
  return `\n${style.strong(reason.address)}${id}\n${fields.join('')}  ${whoseText(reason)}\n`
}

/** Who made and last changed what a power rests on. */
export function whoseText({ createdBy, author }: PowerReason): string {
  const made = createdBy === undefined ? '' : `made by ${createdBy}; `
  return `${made}last changed ${authorText({ author })}`
}

/** A field of a reason: an expression as definitions write it, people by their addresses. */
export function valueText(value: PowerReason['fields'][string]): string {
  if (Array.isArray(value)) return value.map((one) => String(one).replace(/^\$\{(.*)\}$/, '$1')).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function indirectText(
  { rows, roots, limits }: IndirectPowers,
  { user, style }: { readonly user: string | undefined; readonly style: Style },
): string {
  const groups = [
    ...(roots.length === 0
      ? []
      : [{ head: style.strong('as good as the root quorum, by moves'), under: '', paths: roots }]),
    ...rows.map(({ power, over, activities, paths }) => ({
      head: [`${style.strong(`${power}, by moves`)}`, ...(over.length === 0 ? [] : [over.join(', ')])].join('  '),
      under: typesText(activities, style),
      paths,
    })),
  ]
  const told = groups.map(
    ({ head, under, paths }) => `\n${head}\n${under}${paths.map((one) => pathText(one, style)).join('')}`,
  )
  const none = groups.length === 0 ? `\n${noMovesText(user)}\n` : ''
  const more = limits.length === 0 ? '' : `\n${style.warning(`more may be possible: ${limits.join('; ')}`)}\n`
  return `${told.join('')}${none}${more}`
}

/** Where nobody, or not the user who was asked about, gets more by moves. */
export function noMovesText(user: string | undefined): string {
  return user === undefined
    ? 'nobody gets more power of this kind by moves'
    : `${user} gets no more power of this kind by moves`
}

function pathText({ people, isConditional, steps }: IndirectPath, style: Style): string {
  const who = people.length === 0 ? 'anybody' : people.join(' and ')
  const lines = steps.map((step, index) => {
    const { activity, people: voters, condition, unless = [], deniedBy, gains } = step
    const [first, ...rest] = stepPolicies(step)
    const by = first === ROOT_QUORUM ? `as ${first}` : `by ${[first, ...rest].join(', ')}`
    const told = [
      `    ${index + 1}. ${activity.replace('ACTIVITY_TYPE_', '')}: ${voters.join(' and ')}${style.dim(`  ${by}`)}\n`,
      ...(condition === undefined ? [] : [`       under condition: ${withAmount(condition)}\n`]),
      ...unless.map((one) => `       unless ${deniersText(deniedBy)} denies: ${withAmount(one)}\n`),
      ...(gains === undefined ? [] : [`       ${gains}\n`]),
    ]
    return told.join('')
  })
  return `  ${who}${isConditional ? style.warning(', perhaps') : ''}\n${lines.join('')}`
}

export const ROOT_QUORUM = 'the root quorum'

/** By what a step is carried out: its policies, or else the root quorum or the right to one's own credentials. */
export function stepPolicies({ policies, gains }: Pick<IndirectStep, 'policies' | 'gains'>): readonly string[] {
  if (policies.length > 0) return policies
  return [gains === GAINS.own ? 'the built-in right to change one’s own credentials' : ROOT_QUORUM]
}

/** By what people have a power directly: the root quorum needs no policy, and no condition. */
export function byText({ condition, policies }: Pick<WhoCanLine, 'condition' | 'policies'>): string {
  const by = policies.length === 0 ? [] : [`by ${policies.join(', ')}`]
  return [...by, ...(condition === undefined ? ['as the root quorum'] : [])].join(', or ')
}

/** An open condition, with its amounts also in coins. */
function withAmount(condition: string): string {
  return `${condition}${amountNote(condition)}`
}

/** Columns of a line of types, of which a power may have dozens. */
const WIDTH = 100

function typesText(activities: readonly string[], style: Style): string {
  const lines: string[] = []
  for (const [index, activity] of activities.entries()) {
    const text = activity.replace('ACTIVITY_TYPE_', '') + (index < activities.length - 1 ? ',' : '')
    const last = lines.at(-1)
    if (last === undefined || last.length + text.length > WIDTH) lines.push(`  ${text}`)
    else lines[lines.length - 1] = `${last} ${text}`
  }
  return lines.map((one) => `${style.dim(one)}\n`).join('')
}

function paragraph({ power, over, activities, lines }: WhoCanView['rows'][number], style: Style): string {
  const head = [style.strong(power), ...(over.length === 0 ? [] : [over.join(', ')])].join('  ')
  return `\n${head}\n${typesText(activities, style)}${lines.map((one) => lineText(one, style)).join('')}`
}

function lineText(line: WhoCanLine, style: Style): string {
  const { condition, unless = [], deniedBy, ways } = line
  const who =
    ways === 'unknown' ? style.warning('unknown: there are too many sets of people to try them all') : waysText(ways)
  const by = style.dim(`  ${byText(line)}`)
  const under = condition === undefined ? '' : `    under condition: ${withAmount(condition)}\n`
  const stopped = unless.map((one) => `    unless ${deniersText(deniedBy)} denies: ${withAmount(one)}\n`).join('')
  return `  ${who}${by}\n${under}${stopped}`
}
