/** What a plan says of taking it back, and the guard of one that nobody could take back. */
import { printable } from '../diagnostics/index.ts'
import { parseAllow } from './allow.ts'
import type { Access, Guard, Plan, Undo } from './document.ts'
import { compareText } from './lock.ts'
import { count, waysText } from './words.ts'

/** Most things that are named one by one of those that nobody can put back. */
const MOST_LOST = 10

/** Whether nobody at all could take it back. */
export function isNobody({ activities, ways, byMoves, unknown }: Undo): boolean {
  return activities > 0 && ways.length === 0 && byMoves === undefined && unknown === undefined
}

/**
 * A plan with what was found out about taking it back, and refused where nobody could, or only perhaps after others decide, and no
 * bypass lets that pass.
 */
export function withUndo(plan: Plan, undo: Undo, allow: Iterable<string>): Plan {
  const { byMoves, ...rest } = undo
  const isStuck = isNobody(byMoves?.isConditional ? rest : undo)
  const guards = isStuck ? [...plan.guards, noUndo(plan, undo, allow)] : plan.guards
  return { ...plan, undo, guards }
}

function noUndo({ changes }: Plan, undo: Undo, allow: Iterable<string>): Guard {
  const { stuck = 'nothing', byMoves } = undo
  const asThingsAre = byMoves ? ' as things then are' : ''
  const moves = byMoves ? `; ${moversText(byMoves)}` : ''
  return {
    name: 'no-undo',
    message: `afterwards nobody could take it back${asThingsAre}: no set of people could ${printable(stuck)}${moves}`,
    addresses: [...new Set(changes.map(({ address }) => address))].sort(compareText),
    bypass: '--allow no-undo',
    allowed: parseAllow(allow).has('no-undo'),
  }
}

/** A line about taking a plan back. */
export interface UndoLine {
  /** `!`: somebody has to know it before the plan is approved. */
  readonly sign: ' ' | '!' | '?'
  readonly text: string
}

/** Who could take it back, in how many activities, and what nobody can put back. */
export function undoLines(plan: Pick<Plan, 'undo' | 'access' | 'changes'>): readonly UndoLine[] {
  const { undo } = plan
  if (!undo) return []
  const { activities, lost = [] } = undo
  const named = lost.slice(0, MOST_LOST).map(
    ({ address, why }): UndoLine => ({
      sign: '!',
      text: `nobody can put ${printable(address)} back: ${printable(why)}`,
    }),
  )
  const more = lost.length - named.length
  return [
    ...(activities === 0 ? [] : [whoLine(undo)]),
    ...named,
    ...(more > 0
      ? [{ sign: '!' as const, text: `and ${more} more that nobody can put back (\`--json\` lists all)` }]
      : []),
    ...(gainsExport(plan)
      ? [
          {
            sign: '!' as const,
            text: 'a key that is exported before it is taken back stays with the user who exported it',
          },
        ]
      : []),
  ]
}

function whoLine({ activities, ways, stuck, byMoves, isTimed, unknown }: Undo): UndoLine {
  const how = `in ${count(activities, 'activity', 'activities')}`
  if (ways.length > 0) {
    const otherwise = isTimed ? '; at other times others can, or nobody' : ''
    return { sign: ' ', text: `${waysText(ways)} can take it back, ${how}${otherwise}` }
  }
  if (unknown !== undefined) return { sign: '?', text: `not known who can take it back, ${how}: ${printable(unknown)}` }
  const what = stuck === undefined ? '' : `: no set of people could ${printable(stuck)}`
  const otherwise = isTimed ? '; at other times somebody may' : ''
  if (!byMoves) return { sign: '!', text: `nobody can take it back, ${how}${what}${otherwise}` }
  return { sign: '!', text: `nobody can take it back as things then are${what}; ${moversText(byMoves)}` }
}

/** Who could, after they have changed who decides. */
function moversText({ people, isConditional }: NonNullable<Undo['byMoves']>): string {
  const who = people.length === 0 ? 'anybody' : people.map((name) => printable(name)).join(' and ')
  return `${who} could by changing who decides first${isConditional ? ', perhaps' : ''}`
}

/** Whether people may export what lives, who might not before. */
function gainsExport({ access = [], changes }: Pick<Plan, 'access' | 'changes'>): boolean {
  const made = new Set(changes.flatMap(({ action, address }) => (action === 'create' ? [address] : [])))
  return access.some(({ power, wallet, before, after }) => {
    if (power !== 'export' || (wallet !== undefined && made.has(wallet))) return false
    const had = setsOf(before)
    return setsOf(after).some((set) => !had.some((old) => old.every((name) => set.includes(name))))
  })
}

function setsOf({ ways, under = [] }: Access): readonly (readonly string[])[] {
  return [...ways, ...under.flatMap((one) => one.ways)].flatMap(({ sets }) => sets)
}
