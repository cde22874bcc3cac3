import { printable, printableDeep } from '../diagnostics/index.ts'
import type { Json } from '../protocol/index.ts'
import type { Address } from '../resources/index.ts'
import { amountNote, amountNotes } from './amounts.ts'
import type { Change, Forecast, Guard, Plan } from './document.ts'
import { allPlans, hasChanges, isStandIn } from './inside.ts'
import { likesOf, lookAlikeText } from './look-alikes.ts'
import { undoLines } from './undo.ts'
import { diffLines, saysNothing, shownFields, valueText, wrapText } from './value-text.ts'
import {
  type AccessLine,
  accessLines,
  approvalRounds,
  authorText,
  causeText,
  count,
  fieldCauseText,
  renderForecast,
  shortCode,
  summarize,
  type ToldAccess,
  targetLines,
  unmanagedText,
} from './words.ts'

/** Colours of the tree; the identity by default, terminal colours in the CLI. */
export interface PlanStyles {
  readonly added?: (text: string) => string
  readonly changed?: (text: string) => string
  readonly removed?: (text: string) => string
  readonly warning?: (text: string) => string
  readonly dim?: (text: string) => string
  readonly bold?: (text: string) => string
}

const SIGNS = { create: '+', update: '~', delete: '-', adopt: '=', undecided: '?', forget: '≠' } as const
const COLOURS = {
  create: 'added',
  update: 'changed',
  delete: 'removed',
  adopt: 'warning',
  undecided: 'warning',
  forget: 'warning',
} as const
/** Values whose lines are laid out one below the other (`wrapText`); every other text of a plan is of one line. */
const LINES = ['before', 'after']
/** Most columns of a line, but for what cannot be broken. */
const WIDTH = 100

/**
 * The plan for a terminal. The first line says what a reader needs; then changes with their fields, activities with what
 * will come of them, who gains or loses what, what is left alone, and last what stops the plan. An empty plan ends with
 * `No changes.`
 */
export function renderPlanText(given: Plan, styles: PlanStyles = {}): string {
  const plan = printablePlan(given)
  const paint = painter(styles)
  const { subOrganizations: inside = [] } = plan
  const empty = !hasChanges(plan)
  const same = inside.filter((one) => !hasChanges(one)).length
  const blocks = [
    ...planBlocks(plan, paint),
    ...inside.filter(isWorthShowing).flatMap((one) => planBlocks(one, paint, `${printable(one.organization.name)}/`)),
    same === 0 ? '' : paint('dim', `${count(same, 'sub-organization is', 'sub-organizations are')} as defined`),
    empty ? (plan.target ? 'No changes in what `--target` names.' : 'No changes.') : '',
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

/** A plan with every text printable, without the part of the live state that it was made from, which is large and never shown. */
export function printablePlan(plan: Plan): Plan {
  const shown = (one: Plan): Plan => ({ ...one, live: { every: [], things: [] } })
  const { subOrganizations: inside } = plan
  return printableDeep({ ...shown(plan), ...(inside ? { subOrganizations: inside.map(shown) } : {}) }, { lines: LINES })
}

/** Guards may refuse a plan without changes too: if something lives that is in no definition and lets people in. */
function isWorthShowing(plan: Plan): boolean {
  return hasChanges(plan) || (!plan.comparedOnly && plan.guards.length > 0)
}

/** One organization's part; `within` stands before each address of a sub-organization. */
function planBlocks(plan: Plan, paint: Paint, within = ''): readonly string[] {
  const { organization, actor, batches, changes, comparedOnly } = plan
  const id = isStandIn(organization.id) ? 'made by this plan' : organization.id
  const place = `${id} at ${printable(organization.baseUrl)}, as ${printable(actor.userName)}`
  const name = printable(organization.name)
  const head = hasChanges(plan) ? `${name}: ${summarize(plan)}` : name
  const rounds = approvalRounds(plan)
  const likes = likesOf(plan)
  return [
    [paint('bold', head), paint('dim', place), ...targetLines(plan).map((text) => paint('warning', text))].join('\n'),
    changes.map((change) => renderChange(change, paint, { within, like: likes.get(change.address) })).join('\n'),
    batches.length === 0 || comparedOnly
      ? ''
      : [
          paint('bold', rounds > 1 ? `Activities, in ${rounds} rounds of approval` : 'Activities'),
          ...renderBatches(plan, paint),
        ].join('\n'),
    plan.access && changes.length > 0 ? renderAccess(plan, paint) : '',
    changes.length > 0 ? renderUndo(plan, paint) : '',
    renderLookAlikes(plan, paint),
    paint('dim', asides(plan).join('\n')),
    comparedOnly ? '' : plan.guards.map((guard) => renderGuard(guard, paint)).join('\n'),
  ]
}

type Paint = (style: keyof PlanStyles, text: string) => string

function painter(styles: PlanStyles): Paint {
  return (style, text) => (text === '' ? '' : (styles[style]?.(text) ?? text))
}

/** Stands before what a style paints, with the sign that says which; no text from outside holds it. */
const MARK = '\u0002'
const MARKED = new RegExp(`${MARK}([-+!])`, 'g')
/** A line of a comparison, or the head of what is created or deleted: its own sign goes to the first column. */
const SIGNED = new RegExp(`${MARK}([-+])\\1 `)
const marked = (sign: '+' | '-' | '!') => (text: string) => `${MARK}${sign}${text}`

/** The changes as GitHub's `diff` colours them: each line with its sign in the first column, `!` for what is changed. */
export function renderChangesAsDiff(plan: Plan): string {
  const styles = { added: marked('+'), removed: marked('-'), changed: marked('!'), warning: marked('!') }
  let of = ' '
  return renderChanges(plan, styles)
    .split('\n')
    .map((line) => {
      const signs = new Set([...line.matchAll(MARKED)].map(([, sign]) => sign!))
      const text = line.replace(SIGNED, '  ').replaceAll(MARKED, '')
      const own = signs.size === 1 ? [...signs][0]! : signs.size > 1 ? '!' : undefined
      const isHead = !line.startsWith(' ')
      if (isHead) of = own === '+' || own === '-' ? own : ' '
      const sign = own ?? of
      return text.startsWith(' ') ? `${sign}${text.slice(1)}` : `${sign} ${text}`
    })
    .join('\n')
}

/** The changes alone, inside and out. */
function renderChanges(plan: Plan, styles: PlanStyles): string {
  const [own, ...inside] = allPlans(printablePlan(plan))
  const lines = (one: Plan, within: string) => {
    const likes = likesOf(one)
    return one.changes.map((change) =>
      renderChange(change, painter(styles), { within, like: likes.get(change.address) }),
    )
  }
  return [...lines(own!, ''), ...inside.flatMap((one) => lines(one, `${printable(one.organization.name)}/`))].join('\n')
}

/** Changes without the reason for each, as for the effect of an activity. */
export function renderEffects(changes: readonly Change[], styles: PlanStyles = {}): string {
  const paint = painter(styles)
  return changes.map((change) => renderChange(change, paint, { within: '', like: undefined, isBare: true })).join('\n')
}

function renderChange(
  change: Change,
  paint: Paint,
  {
    within,
    like,
    isBare = false,
  }: { readonly within: string; readonly like: Address | undefined; readonly isBare?: boolean },
): string {
  const { action, address, kind, at, id } = change
  const cause = isBare ? undefined : causeText(change)
  const notes = [at ?? (action === 'delete' ? id : undefined), cause].filter((one) => one !== undefined)
  const alike = like === undefined ? '' : `  ${paint('warning', `looks like ${printable(like)}`)}`
  const note = (notes.length === 0 ? '' : paint('dim', `  ${notes.map(printable).join(', ')}`)) + alike
  const author = authorText(change)
  const by = author === undefined ? '' : `\n    ${paint('warning', printable(author))}`
  const head = `${paint(COLOURS[action], `${SIGNS[action]} ${kind === 'subOrganization' ? '' : within}${printable(address)}`)}${note}${by}`
  if (action === 'adopt') {
    const creator = change.creator == null ? 'nobody known' : printable(change.creator)
    return `${head}\n    was there before: ${id ?? ''}, created by ${paint('warning', creator)}`
  }
  if (action === 'delete' || action === 'undecided' || action === 'forget') return head
  const fields = shownFields(change)
  const width = Math.max(0, ...fields.map(({ field }) => field.length))
  return [head, ...fields.flatMap((field) => renderField(field, action, width, paint))].join('\n')
}

function renderField(
  { field, before, after, cause }: Change['fields'][number],
  action: 'create' | 'update',
  width: number,
  paint: Paint,
): readonly string[] {
  const label = `    ${printable(field).padEnd(width)}  `
  const below = ' '.repeat(label.length)
  const room = WIDTH - label.length - 2
  const lines = (value: typeof before) => wrapText(typeof value === 'string' ? oneText(value) : valueText(value), room)
  const noteOf = (value: typeof before) => amountNotes(typeof value === 'string' ? value : '')
  const [noteBefore, noteAfter] = [noteOf(before), noteOf(after)]
  if (action === 'create')
    return lines(after).map((line, index) => (index === 0 ? label : below) + line + paint('dim', noteAfter(line)))
  const [old, now] = [valueText(before), valueText(after)]
  const [oldNote, nowNote] = [noteBefore(old), noteAfter(now)]
  const why = cause === undefined ? '' : `  ${fieldCauseText(cause)}`
  if (old.length + oldNote.length + now.length + nowNote.length + why.length + 3 <= room)
    return [
      `${label}${paint('removed', old)}${paint('dim', oldNote)} → ${paint('added', now)}${paint('dim', nowNote + why)}`,
    ]
  const colours = { '+': 'added', '-': 'removed', ' ': 'dim' } as const
  const both = saysNothing(before) || saysNothing(after) ? [[old], [now]] : [lines(before), lines(after)]
  const [had, has] = both.map((texts) => texts.flatMap((text) => wrapText(text, room)))
  const compared = diffLines(had!, has!).map(
    ({ sign, text }) =>
      paint(colours[sign], `${sign} ${text}`) + paint('dim', (sign === '-' ? noteBefore : noteAfter)(text)),
  )
  const rows = cause === undefined ? compared : [paint('dim', fieldCauseText(cause)), ...compared]
  return rows.map((text, index) => (index === 0 ? label : below) + text)
}

/**
 * Two values as lines to be compared: of expressions of several lines those that differ, amounts also in coins; anything else whole,
 * as JSON.
 */
export function renderDifference(
  before: Json | undefined,
  after: Json | undefined,
): readonly [readonly string[], readonly string[]] {
  const whole = (value: Json | undefined) => {
    const text = value === undefined ? 'nothing' : JSON.stringify(value)
    return [printable(text) + (typeof value === 'string' ? amountNote(value) : '')]
  }
  if (typeof before !== 'string' || typeof after !== 'string') return [whole(before), whole(after)]
  const [had, has] = [wrapText(before, WIDTH - 17), wrapText(after, WIDTH - 17)]
  const compared = diffLines(had, has)
  const side = (sign: '-' | '+', text: string) =>
    compared.filter((one) => one.sign === sign).map((one) => one.text + amountNotes(text)(one.text))
  const [lost, gained] = [side('-', before), side('+', after)]
  // Blanks alone may differ, which lines do not show.
  return had.length + has.length === 2 || lost.length + gained.length === 0
    ? [whole(before), whole(after)]
    : [lost.length === 0 ? ['nothing'] : lost, gained.length === 0 ? ['nothing'] : gained]
}

/** A text as it is, its lines kept; bare where it is one reference. */
function oneText(text: string): string {
  return text.includes('\n') ? text : valueText(text)
}

function renderBatches({ batches, waiting = [] }: Plan, paint: Paint): readonly string[] {
  const asked = new Map(waiting.map(({ batch, fingerprint }) => [batch, shortCode(fingerprint)]))
  const marks = batches.map(({ index, summary }) => `  ${String(index + 1).padStart(2)}. ${printable(summary)}`)
  const width = Math.min(48, Math.max(...marks.map(({ length }) => length)))
  return batches.flatMap(({ forecast, after }, index) => {
    const mark = marks[index]!
    const order = after.length === 0 ? '' : `after ${after.map((one) => one + 1).join(', ')}`
    if (!forecast) return [order === '' ? mark : `${mark.padEnd(width)}  ${paint('dim', order)}`]
    const style = styleOf(forecast)
    const code = asked.get(index)
    const said = `${renderForecast(forecast)}${code === undefined ? '' : `; already waiting as ${code}`}`
    const tail = order === '' ? '' : paint('dim', `; ${order}`)
    const fits = mark.length <= width && width + 2 + said.length + order.length + 2 <= WIDTH
    if (fits) return [`${mark.padEnd(width)}  ${paint(style, said)}${tail}`]
    return [`${mark}${tail}`, ...wrapText(said, WIDTH - 6).map((line) => `      ${paint(style, line)}`)]
  })
}

function styleOf({ outcome }: Forecast): 'dim' | 'removed' | 'warning' {
  return outcome === 'completes' ? 'dim' : outcome === 'denied' || outcome === 'rejected' ? 'removed' : 'warning'
}

/** The lines about power, in the order of `accessLines`. */
export function renderPower(plan: ToldAccess, styles: PlanStyles = {}): string {
  return renderAccess(plan, painter(styles))
}

function renderAccess(plan: ToldAccess, paint: Paint): string {
  const lines = accessLines(plan).flatMap((row) => {
    const { sign, people = [] } = row
    const style = sign === '-' ? 'added' : 'warning'
    const texts = [...powerTexts(row), ...people.flatMap((one) => hang('  ', one))]
    const lines = texts.map((line, index) => `  ${index === 0 ? sign : ' '} ${line}`)
    // The most visible lines: who may do more, less or something else than before.
    return lines.map((line) => (sign === ' ' ? paint('dim', line) : paint('bold', paint(style, line))))
  })
  return [paint('bold', 'Power'), ...lines].join('\n')
}

/** The lines about who could take the change back, the most important ones emphasized. */
function renderUndo(plan: Plan, paint: Paint): string {
  const lines = undoLines(plan).flatMap(({ sign, text }) =>
    wrapText(text, WIDTH - 4).map((line, index) => {
      const said = `  ${index === 0 ? sign : ' '} ${line}`
      return sign === ' ' ? paint('dim', said) : paint('warning', said)
    }),
  )
  return lines.length === 0 ? '' : [paint('bold', 'Undo'), ...lines].join('\n')
}

/** On one line where that holds it; else what was and what will be below each other, to be compared. */
function powerTexts({ text, whose, before, after }: AccessLine): readonly string[] {
  if (whose === undefined || text.length <= WIDTH - 4) return wrapText(text, WIDTH - 4)
  return [...wrapText(whose, WIDTH - 4), ...hang('  before  ', before!), ...hang('  after   ', after!)]
}

/** A text behind a label, its further lines below its first. */
function hang(label: string, text: string): readonly string[] {
  const below = ' '.repeat(label.length)
  return text
    .split(/(?<=;) (?=under condition |unless )/)
    .flatMap((part) => wrapText(part, WIDTH - 4 - label.length))
    .map((line, index) => (index === 0 ? label : below) + line)
}

/** Most look-alikes that are named one by one. */
const MOST_ALIKE = 20

/** The lines about names that look alike. */
export function lookAlikeLines({ lookAlikes: all = [] }: Plan): readonly string[] {
  const more = all.length > MOST_ALIKE ? [`and ${all.length - MOST_ALIKE} more (\`--json\` lists all)`] : []
  return [...all.slice(0, MOST_ALIKE).map(lookAlikeText), ...more]
}

function renderLookAlikes(plan: Plan, paint: Paint): string {
  const lines = lookAlikeLines(plan).flatMap((text) =>
    wrapText(text, WIDTH - 4).map((line, index) => paint('warning', `  ${index === 0 ? '!' : ' '} ${line}`)),
  )
  return lines.length === 0 ? '' : [paint('bold', 'Names that look alike'), ...lines].join('\n')
}

function renderGuard({ message, bypass, allowed, addresses }: Guard, paint: Paint): string {
  if (allowed) return paint('dim', `allowed by ${bypass}: ${message}`)
  const names = wrapText(addresses.map((one) => printable(one)).join(', '), WIDTH - 4).map((line) => `    ${line}`)
  return [
    `${paint('removed', 'refused:')} ${message}; to let it pass, add ${bypass}`,
    paint('dim', names.join('\n')),
  ].join('\n')
}

/** The lines about resources that the plan does not manage, and about the number of requests. */
function asides(plan: Plan): readonly string[] {
  const { requests, gone = [], batches, waiting = [], folder = '.' } = plan
  const lines: string[] = []
  if (gone.length > 0) {
    const names = gone.slice(0, 5).map((one) => printable(one))
    const more = gone.length > 5 ? ` and ${gone.length - 5} more` : ''
    const rows = count(gone.length, 'row of the lock names', 'rows of the lock name')
    lines.push(
      `${rows} what is neither defined nor live any more: ${names.join(', ')}${more}; the next apply takes ${gone.length === 1 ? 'it' : 'them'} out`,
    )
  }
  const left = unmanagedText(plan)
  const listed = `quorate unmanaged${folder === '.' ? '' : ` ${printable(folder)}`}`
  if (left !== undefined) lines.push(...wrapText(`${left} (listed by \`${listed}\`)`, WIDTH))
  if (requests) {
    const { reads, perSecond } = requests
    // A waiting activity is found again, and a rejected one is not submitted again.
    const rejected = batches.filter(({ forecast }) => forecast?.outcome === 'rejected')
    const submits = requests.submits - waiting.length - rejected.length
    const rate = perSecond === undefined ? '' : ` at ${perSecond} a second`
    lines.push(`read by ${count(reads, 'request', 'requests')}; ${submits} to submit${rate}`)
  }
  return lines
}
