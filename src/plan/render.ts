import { canonicalJson } from '../encoding/index.ts'
import type { Value } from '../resources/index.ts'
import type { Batch, Change, Forecast, Guard, Plan } from './document.ts'
import { printable } from './printable.ts'

/** Colours of the tree; the identity by default, terminal colours in the CLI. */
export interface PlanStyles {
  readonly added?: (text: string) => string
  readonly changed?: (text: string) => string
  readonly removed?: (text: string) => string
  readonly warning?: (text: string) => string
  readonly dim?: (text: string) => string
  readonly bold?: (text: string) => string
}

const SIGNS = { create: '+', update: '~', delete: '-', adopt: '=' } as const
const COLOURS = { create: 'added', update: 'changed', delete: 'removed', adopt: 'warning' } as const

/** One line about a plan: `9 changes in 4 activities, 2 need another approver`. */
export function summarize(plan: Plan): string {
  const { changes, batches } = plan
  if (changes.length === 0) return 'No changes.'
  const waiting = batches.filter(({ forecast }) => forecast?.outcome === 'waits').length
  const denied = batches.filter(({ forecast }) => forecast?.outcome === 'denied').length
  const parts = [`${count(changes.length, 'change', 'changes')} in ${count(batches.length, 'activity', 'activities')}`]
  if (waiting > 0) parts.push(`${waiting} ${waiting === 1 ? 'needs' : 'need'} another approver`)
  if (denied > 0) parts.push(`${denied} would be denied`)
  return parts.join(', ')
}

/** The plan for a terminal: changes with their fields, activities with what will come of them, guards, what is left alone. */
export function renderPlanText(plan: Plan, styles: PlanStyles = {}): string {
  const { organization, actor } = plan
  const paint = painter(styles)
  const head = `${printable(organization.name)} ${paint('dim', `${organization.id} at ${printable(organization.baseUrl)}, as ${printable(actor.userName)}`)}`
  const blocks = [
    head,
    plan.changes.map((change) => renderChange(change, paint)).join('\n'),
    plan.batches.length === 0
      ? ''
      : [paint('bold', 'Activities'), ...plan.batches.map((one) => renderBatch(one, paint))].join('\n'),
    plan.guards.map((guard) => renderGuard(guard, paint)).join('\n'),
    plan.unmanaged.length === 0
      ? ''
      : paint(
          'dim',
          `${count(plan.unmanaged.length, 'live thing is', 'live things are')} not in the definitions and left alone`,
        ),
    plan.changes.length === 0 ? 'No changes.' : paint('bold', summarize(plan)),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

/** What will come of an activity, in words. */
export function renderForecast(forecast: Forecast): string {
  switch (forecast.outcome) {
    case 'completes':
      return 'completes at once'
    case 'waits':
      return `waits for ${renderNeeded(forecast)}`
    case 'denied':
      return `denied: ${printable(forecast.reason)}`
    case 'depends':
      return `depends: ${printable(forecast.reason)}`
    default:
      return forecast satisfies never
  }
}

type Paint = (style: keyof PlanStyles, text: string) => string

function painter(styles: PlanStyles): Paint {
  return (style, text) => styles[style]?.(text) ?? text
}

function renderChange(change: Change, paint: Paint): string {
  const { action, address, fields, at, id } = change
  const colour = COLOURS[action]
  const note = at ?? (action === 'delete' ? id : undefined)
  const head = `${paint(colour, `${SIGNS[action]} ${printable(address)}`)}${note ? paint('dim', `  ${printable(note)}`) : ''}`
  if (action === 'adopt') {
    const creator = change.creator == null ? 'nobody known' : printable(change.creator)
    return `${head}\n    was there before: ${id ?? ''}, created by ${paint('warning', creator)}`
  }
  if (action === 'delete') return head
  const said = fields.filter(({ before, after }) => action === 'update' || !isEmpty(before ?? after))
  const width = Math.max(0, ...said.map(({ field }) => field.length))
  const lines = said.map(({ field, before, after }) => {
    const label = `    ${printable(field).padEnd(width)}  `
    if (action === 'create') return label + show(after)
    const [old, now] = [show(before), show(after)]
    if (old.length + now.length <= 80) return `${label}${paint('removed', old)} → ${paint('added', now)}`
    return `${label}${paint('removed', `- ${old}`)}\n${' '.repeat(label.length)}${paint('added', `+ ${now}`)}`
  })
  return [head, ...lines].join('\n')
}

function renderBatch({ index, summary, forecast, after }: Batch, paint: Paint): string {
  const mark = `  ${String(index + 1).padStart(2)}. ${printable(summary)}`
  const order = after.length === 0 ? '' : paint('dim', `, after ${after.map((one) => one + 1).join(', ')}`)
  if (!forecast) return mark + order
  const style = forecast.outcome === 'completes' ? 'dim' : forecast.outcome === 'denied' ? 'removed' : 'warning'
  return `${mark}${order}\n      ${paint(style, renderForecast(forecast))}`
}

function renderGuard({ message, bypass, allowed, addresses }: Guard, paint: Paint): string {
  const names = addresses.map((one) => printable(one)).join(', ')
  if (allowed) return paint('dim', `allowed by ${bypass}: ${message}`)
  return `${paint('removed', 'refused:')} ${message}; raise with ${bypass}\n    ${paint('dim', names)}`
}

function renderNeeded({ needed, any }: Extract<Forecast, { outcome: 'waits' }>): string {
  if (any) return `any ${any.count} of ${any.of.map(printable).join(', ')}`
  return needed.map((set) => set.map(printable).join(' and ')).join(', or ')
}

/** Left out of what is created: it says nothing. */
function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === null || value === ''
}

/** A value in one line: texts without references as they are, everything else as JSON. */
function show(value: Value | undefined): string {
  if (value === undefined || value === null) return '(none)'
  return printable(typeof value === 'string' ? value : canonicalJson(value))
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`
}
