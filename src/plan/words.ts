/** What a plan's parts are called, for every rendering of it. */
import type { Access, AccessChange, Change, Forecast, Plan } from './document.ts'
import { printable } from './printable.ts'

/** One line about a plan: `9 changes in 4 activities, 2 need another approver`. */
export function summarize(plan: Plan): string {
  const { changes, batches } = plan
  if (changes.length === 0) return 'No changes.'
  const outcomes = (outcome: Forecast['outcome']) =>
    batches.filter(({ forecast }) => forecast?.outcome === outcome).length
  const [waiting, denied] = [outcomes('waits'), outcomes('denied')]
  const parts = [`${count(changes.length, 'change', 'changes')} in ${count(batches.length, 'activity', 'activities')}`]
  if (waiting > 0) parts.push(`${waiting} ${waiting === 1 ? 'needs' : 'need'} another approver`)
  if (denied > 0) parts.push(`${denied} would be denied`)
  const refused = plan.guards.filter(({ allowed }) => !allowed).length
  if (refused > 0) parts.push(`refused by ${count(refused, 'guard', 'guards')}`)
  return parts.join(', ')
}

/** How many activities wait for people one after another, at the longest. */
export function approvalRounds({ batches }: Pick<Plan, 'batches'>): number {
  const rounds: number[] = []
  for (const { after, forecast } of batches) {
    const before = Math.max(0, ...after.map((one) => rounds[one]!))
    rounds.push(before + Number(forecast?.outcome === 'waits'))
  }
  return Math.max(0, ...rounds)
}

/** What will come of an activity, in words. */
export function renderForecast(forecast: Forecast): string {
  switch (forecast.outcome) {
    case 'completes':
      return 'completes at once'
    case 'waits':
      return `waits for ${setsText({ sets: forecast.needed, ...(forecast.any ? { any: forecast.any } : {}) })}`
    case 'denied':
      return `denied: ${printable(forecast.reason)}`
    case 'depends':
      return `depends: ${printable(forecast.reason)}`
    default:
      return forecast satisfies never
  }
}

/** Why a change is there, where it is not plain from the change itself. */
export function causeText({ cause, action }: Change): string | undefined {
  switch (cause) {
    case 'live changed':
      return action === 'create' ? 'drift: somebody deleted it' : 'drift: somebody changed it'
    case 'both changed':
      return 'drift: somebody changed it, and so did its definition'
    case 'live only':
      return 'drift: not in the definitions'
    case 'definition changed':
      return action === 'delete' ? 'taken out of the definitions' : undefined
    case 'declared only':
    case 'differs':
    case 'adopted':
      return undefined
    default:
      return cause satisfies never
  }
}

/** One line a power: gained (`+`), lost (`-`), changed (`~`), or one that says that nothing is. */
export function accessLines(
  access: readonly AccessChange[],
): readonly { readonly sign: '+' | '-' | '~' | ' '; readonly text: string }[] {
  const lines = access.flatMap(({ power, wallet, before, after }) => {
    const [had, has] = [accessText(before), accessText(after)]
    if (had === has) return []
    const what = `${power}${wallet === undefined ? '' : ` of ${printable(wallet)}`}`
    const nobody = accessText({ sets: [] })
    const sign = had === nobody ? ('+' as const) : has === nobody ? ('-' as const) : ('~' as const)
    return [{ sign, text: sign === '+' ? `${what}: ${has}` : `${what}: ${had} → ${has}` }]
  })
  return lines.length > 0 ? lines : [{ sign: ' ', text: 'nobody gains or loses the power to sign, export or decide' }]
}

/** `any 2 of alice, bob, carol; under eth.tx.value < 5: alice`. */
function accessText({ unknown, under = [], ...ways }: Access): string {
  const always = ways.sets.length === 0 ? [] : [setsText(ways)]
  const open = under.map(({ condition, ...rest }) => `${setsText(rest)} under condition \`${printable(condition)}\``)
  const parts = [...always, ...open, ...(unknown === undefined ? [] : [`unknown: ${unknown}`])]
  return parts.length === 0 ? 'nobody' : parts.join('; ')
}

function setsText({ sets, any }: Pick<Access, 'sets' | 'any'>): string {
  if (any)
    return any.of.length === any.count
      ? any.of.map(printable).join(' and ')
      : `any ${any.count} of ${any.of.map(printable).join(', ')}`
  return sets.map((set) => set.map(printable).join(' and ')).join(', or ')
}

/** `1 change`, `2 changes`. */
export function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`
}
