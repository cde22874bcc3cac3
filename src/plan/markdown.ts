/** The plan as Markdown for a pull request: what a reviewer asks first stands first, and the rest folds away. */
import { markdownCode as code, markdownText as inline } from '../diagnostics/index.ts'
import type { Plan } from './document.ts'
import { allPlans, appliedPlans, hasChanges } from './inside.ts'
import { lookAlikeLines, printablePlan, renderChangesAsDiff } from './render.ts'
import { undoLines } from './undo.ts'
import {
  accessLines,
  approvalRounds,
  count,
  editedText,
  renderForecast,
  shortCode,
  summarize,
  targetLines,
  unmanagedText,
} from './words.ts'

/**
 * GitHub refuses a comment over 65,536 characters. What does not fit is cut, the least important first: lines of changes, then rows of
 * activities, then lines about power. A pipeline puts a mark of each change before it (docs/ci.md).
 */
const MOST = 62_000
const MARK_OF_CHANGE = 33
/** However long the rest is, so much is shown of the changes. */
const LEAST_CHANGES = 4_000
/** Rows of activities, and lines about power, where not all fit. */
const MOST_ROWS = 40
/** Characters of a line about power, where not all fit: one that compares many limits may be longer than a comment. */
const MOST_OF_LINE = 400
/** Sub-organizations that are named one by one. */
const MOST_INSIDE = 50
/** Longer than this, changes are folded away. */
const OPEN_LINES = 40

export interface MarkdownOptions {
  /** The changes since the plan was made, one sentence each: the plan is then stale, and says so first. */
  readonly moved?: readonly string[]
}

/** Renders a plan as GitHub-flavoured Markdown. Names and texts from outside are escaped or fenced. */
export function renderPlanMarkdown(given: Plan, options: MarkdownOptions = {}): string {
  const changes = allPlans(given).reduce((sum, one) => sum + one.changes.length, 0)
  const room = Math.max(MOST / 2, MOST - changes * MARK_OF_CHANGE)
  let text = ''
  for (const most of [
    {},
    { activities: MOST_ROWS },
    { activities: MOST_ROWS, power: MOST_ROWS },
    { activities: MOST_ROWS, power: MOST_ROWS, line: MOST_OF_LINE },
  ]) {
    const without = render(given, { ...options, ...most, changes: 0 }).length
    text = render(given, { ...options, ...most, changes: Math.max(LEAST_CHANGES, room - without) })
    if (text.length <= room) return text
  }
  const cut = text.slice(0, text.lastIndexOf('\n', room))
  return `${cut}\n\nThe rest does not fit; \`quorate plan\` shows all of it.\n`
}

/** How much of each part is shown. */
interface Most {
  /** Characters. */
  readonly changes: number
  /** @default all */
  readonly activities?: number
  /** @default all */
  readonly power?: number
  /** Characters of a line about power. @default all */
  readonly line?: number
}

function render(
  given: Plan,
  {
    moved = [],
    changes: most,
    activities = Number.POSITIVE_INFINITY,
    power = Number.POSITIVE_INFINITY,
    line = Number.POSITIVE_INFINITY,
  }: MarkdownOptions & Most,
): string {
  const plan = printablePlan(given)
  const { organization, actor, changes, batches, access } = plan
  const left = unmanagedText(plan)
  const guards = appliedPlans(plan).flatMap((one) =>
    one.guards.map((guard) => ({ ...guard, message: insideText(plan, one, guard.message) })),
  )
  const refused = guards.filter(({ allowed }) => !allowed)
  const passed = guards.filter(({ allowed }) => allowed)
  const rounds = approvalRounds(plan)
  const alike = allPlans(plan).flatMap((one) => lookAlikeLines(one).map((text) => insideText(plan, one, text)))
  const blocks = [
    `### ${inline(organization.name)}: ${hasChanges(plan) ? summarize(plan) : 'no changes'}`,
    moved.length > 0
      ? alert('WARNING', ['**Stale**: the organization has moved since this plan was made.', ...moved.map(inline)])
      : '',
    plan.target ? alert('NOTE', ['**Part of a plan**', ...targetLines(plan).map(inline)]) : '',
    refused.length > 0
      ? alert(
          'CAUTION',
          refused.map(({ message, bypass }) => `**Refused**: ${inline(message)}; to let it pass, add ${code(bypass)}`),
        )
      : '',
    alike.length > 0 ? alert('WARNING', ['**Names that look alike**', ...alike.map(inline)]) : '',
    passed.length > 0
      ? alert(
          'IMPORTANT',
          passed.map(({ message, bypass }) => `Allowed by ${code(bypass)}: ${inline(message)}`),
        )
      : '',
    hasChanges(plan) ? changesBlock(plan, most) : '',
    batches.length === 0
      ? ''
      : [
          `**Activities**${rounds > 1 ? `, in ${rounds} rounds of approval` : ''}`,
          '',
          '| # | activity | what will come of it | after |',
          '|--:|---|---|---|',
          ...batches
            .slice(0, activities)
            .map(({ index, summary, forecast, after }) =>
              row(
                index + 1,
                inline(summary),
                `${forecast ? inline(renderForecast(forecast)) : ''}${waitingText(plan, index)}`,
                after.map((n) => n + 1).join(', '),
              ),
            ),
          ...moreText(batches.length - activities),
          ...voteHint(plan),
        ].join('\n'),
    access && changes.length > 0
      ? [
          '**Power**',
          '',
          ...accessLines(plan)
            .slice(0, power)
            .flatMap(({ sign, text, people = [] }) => [
              sign === ' ' ? `- ${inline(shorten(text, line))}` : `- ${code(sign)} **${inline(shorten(text, line))}**`,
              ...people.map((one) => `  - **${inline(shorten(one, line))}**`),
            ]),
          ...moreText(accessLines(plan).length - power),
        ].join('\n')
      : '',
    undoBlock(plan),
    insideBlock(plan),
    [
      `as ${inline(actor.userName)} on ${code(organization.id)}`,
      ...(left === undefined ? [] : [inline(left)]),
      `plan ${code(plan.digest.slice(0, 12))} of ${plan.createdAt}`,
      ...(plan.commit === undefined ? [] : [`commit ${code(plan.commit.slice(0, 12))}${editedText(plan.uncommitted)}`]),
    ].join(' · '),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

/** `; already waiting as 7f3a-19c2` of a batch that was asked for before. */
function waitingText({ waiting = [] }: Plan, index: number): string {
  const found = waiting.find(({ batch }) => batch === index)
  return found ? `; already waiting as ${code(shortCode(found.fingerprint))}` : ''
}

/** How somebody whose approval is needed gives it. */
function voteHint({ batches, waiting = [] }: Plan): readonly string[] {
  if (!batches.some(({ forecast }) => forecast?.outcome === 'waits')) return []
  const name = waiting[0] ? shortCode(waiting[0].fingerprint) : 'CODE'
  const when = waiting[0] ? '' : 'Once it is applied, '
  const how = `${code('quorate approvals')} lists what waits for you, ${code(`quorate review ${name}`)} shows it, ${code(`quorate approve ${name}`)} votes.`
  return ['', `${when}${how}`]
}

/** Lines about a sub-organization begin with its name. */
function insideText(plan: Plan, one: Plan, text: string): string {
  return one === plan ? text : `${one.organization.name}: ${text}`
}

/** Who could take it back; a plan of nothing but what is inside says nothing of itself. */
function undoBlock(plan: Plan): string {
  const lines = plan.changes.length === 0 ? [] : undoLines(plan)
  if (lines.length === 0) return ''
  const texts = lines.map(({ sign, text }) =>
    sign === ' ' ? `- ${inline(text)}` : `- ${code(sign)} **${inline(text)}**`,
  )
  return ['**Undo**', '', ...texts].join('\n')
}

/** One line for each sub-organization that differs, of at most so many. */
function insideBlock({ subOrganizations: inside = [] }: Plan): string {
  const changed = inside.filter(hasChanges)
  if (changed.length === 0) return ''
  const lines = changed.slice(0, MOST_INSIDE).map((one) => `- ${inline(`${one.organization.name}: ${summarize(one)}`)}`)
  const more = changed.length > MOST_INSIDE ? [`- and ${changed.length - MOST_INSIDE} more`] : []
  return ['**Sub-organizations**', '', ...lines, ...more].join('\n')
}

/** Says how much was cut. */
function moreText(more: number): readonly string[] {
  return more > 0 ? ['', `and ${more} more; \`quorate plan\` shows them all.`] : []
}

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)} …, and ${text.length - most} more characters`
}

function changesBlock(plan: Plan, most: number): string {
  const text = renderChangesAsDiff(plan)
  const changes = allPlans(plan).flatMap((one) => one.changes)
  const cut = text.length > most ? text.slice(0, Math.max(0, text.lastIndexOf('\n', most))) : text
  const lines = text.split('\n').length
  const left = lines - cut.split('\n').length
  const ticks = '`'.repeat(Math.max(3, ...(cut.match(/`+/g) ?? []).map(({ length }) => length + 1)))
  const more = left > 0 ? `\n\n${left} more lines; \`quorate plan\` shows them all.` : ''
  const block = `${ticks}diff\n${cut}\n${ticks}${more}`
  return lines <= OPEN_LINES
    ? block
    : `<details><summary>${count(changes.length, 'change', 'changes')}</summary>\n\n${block}\n\n</details>`
}

function alert(kind: string, lines: readonly string[]): string {
  return [`> [!${kind}]`, ...lines.map((line) => `> - ${line}`)].join('\n')
}

function row(...cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`
}
