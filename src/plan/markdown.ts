/** The plan as Markdown for a pull request: what a reviewer asks first stands first, and the rest folds away. */
import type { Plan } from './document.ts'
import { printable } from './printable.ts'
import { renderChanges } from './render.ts'
import { accessLines, approvalRounds, count, renderForecast, summarize } from './words.ts'

/** GitHub refuses a comment over 65,536 characters; what does not fit is cut from the changes. */
const MOST_CHANGES = 50_000
/** Longer than this, changes are folded away. */
const OPEN_LINES = 40

export interface MarkdownOptions {
  /** What has moved since the plan was made, one sentence each: then it is stale, and says so first. */
  readonly moved?: readonly string[]
}

/** Renders a plan as GitHub-flavoured Markdown. Names and texts from outside are escaped or fenced. */
export function renderPlanMarkdown(plan: Plan, { moved = [] }: MarkdownOptions = {}): string {
  const { organization, actor, changes, batches, guards, access, unmanaged } = plan
  const refused = guards.filter(({ allowed }) => !allowed)
  const passed = guards.filter(({ allowed }) => allowed)
  const rounds = approvalRounds(plan)
  const blocks = [
    `### ${inline(organization.name)}: ${changes.length === 0 ? 'no changes' : summarize(plan)}`,
    moved.length > 0
      ? alert('WARNING', ['**Stale**: the organization has moved since this plan was made.', ...moved.map(inline)])
      : '',
    refused.length > 0
      ? alert(
          'CAUTION',
          refused.map(({ message, bypass }) => `**Refused**: ${inline(message)}; raise with ${code(bypass)}`),
        )
      : '',
    passed.length > 0
      ? alert(
          'IMPORTANT',
          passed.map(({ message, bypass }) => `Allowed by ${code(bypass)}: ${inline(message)}`),
        )
      : '',
    changes.length === 0 ? '' : changesBlock(plan),
    batches.length === 0
      ? ''
      : [
          `**Activities**${rounds > 1 ? `, in ${rounds} rounds of approval` : ''}`,
          '',
          '| # | activity | what will come of it | after |',
          '|--:|---|---|---|',
          ...batches.map(({ index, summary, forecast, after }) =>
            row(
              index + 1,
              inline(summary),
              forecast ? inline(renderForecast(forecast)) : '',
              after.map((n) => n + 1).join(', '),
            ),
          ),
        ].join('\n'),
    access && changes.length > 0
      ? [
          '**Power**',
          '',
          ...accessLines(access).map(({ sign, text }) => `- ${sign === ' ' ? '' : `${code(sign)} `}${inline(text)}`),
        ].join('\n')
      : '',
    [
      `as ${inline(actor.userName)} on ${code(organization.id)}`,
      ...(unmanaged.length > 0
        ? [`${count(unmanaged.length, 'live thing', 'live things')} undeclared and left alone`]
        : []),
      `plan ${code(plan.digest.slice(0, 12))} of ${plan.createdAt}`,
    ].join(' · '),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

function changesBlock({ changes }: Plan): string {
  const text = renderChanges(changes)
  const cut = text.length > MOST_CHANGES ? text.slice(0, text.lastIndexOf('\n', MOST_CHANGES)) : text
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

/** A text from outside in a line of Markdown: nothing in it is markup, and its own backticks stay code. */
function inline(text: string): string {
  const pieces = printable(text).split(/(`[^`]+`)/)
  return pieces
    .map((piece, index) =>
      index % 2 === 1
        ? piece.replaceAll('|', '\\|')
        : piece.replace(/[\\`*_{}[\]()<>#|~!]/g, (c) => `\\${c}`).replaceAll('@', '&#64;'),
    )
    .join('')
}

function code(text: string): string {
  return `\`${printable(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``
}
