import { afterHeld, type DriftRow, type WatchState } from '../../../activities/index.ts'
import type { Watched } from '../../operations/index.ts'
import { authorText, driftText, shortCode } from '../../plan/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'

/** Most rows that are named one by one. */
const MOST_ROWS = 20
const SIGNS: Readonly<Record<DriftRow['action'], string>> = {
  create: '+',
  update: '~',
  delete: '-',
  adopt: '=',
  undecided: '?',
  forget: '≠',
}

/** A watched organization as data; the values that its definitions refer to are not shown. */
export function watchJson({ watch, ...rest }: Watched): object {
  const { given: _, ...shown } = watch
  return { watch: shown, ...rest }
}

/** How a watched organization stands: last good, what has drifted and by whom, what waits since when, and the next look. */
export const renderWatch = view((watched: Watched, style: Style, nowMs: number): string => {
  const { watch, state, untold = {}, paused, isLost, isUnknown = false, nextAt } = watched
  const head = `${style.strong(watch.organization)}: ${headline(state)}\n`
  const next = isUnknown
    ? 'next look: not known, and none while Temporal is away'
    : isLost
      ? 'nobody looks: Temporal has no Schedule for it; begin again with `quorate watch add FOLDER`'
      : paused !== undefined
        ? `paused${paused === '' ? '' : ` (${paused})`}; go on with \`quorate watch resume\``
        : nextAt === undefined
          ? 'next look: as soon as a worker is there'
          : `next look at ${nextAt}`
  const facts = [
    `last as defined: ${state?.goodAt ?? 'never'}; last look: ${state?.lookedAt ?? 'none yet'}`,
    next,
    ...(state?.held
      ? [`held since ${state.held.since}: ${state.held.why} (${state.held.code}); ${afterHeld(state.held)}`]
      : []),
    ...(state?.taken ? [takenText(state.taken)] : []),
    ...(state?.refused
      ? [
          `new definitions are held since ${state.refused.since}: ${state.refused.why} (${state.refused.code}); the former ones still apply, and nothing is repaired`,
        ]
      : []),
    ...(state?.away
      ? [`no definitions could be fetched since ${state.away.since}: ${state.away.why} (${state.away.code})`]
      : []),
    ...(state?.error ? [failingText(state.error)] : []),
    ...Object.entries(untold).map(
      ([name, { why, since, nextAt: again }]) =>
        `notifications do not reach ${name} since ${since}: ${why}; tried again after ${again}`,
    ),
    ...(state?.repair && !state.held
      ? [
          `repair: plan ${state.repair.planDigest.slice(0, 12)}, ${state.repair.begun ? 'begun; `quorate status` says how it stands' : 'to be begun'}`,
        ]
      : []),
    ...(state?.proposal && (!state.repair || state.held)
      ? [
          `proposed: \`quorate apply sha256:${state.proposal}${state.held?.code === 'cli/rejected' ? ' --ask-again' : ''}\` puts it back`,
        ]
      : []),
  ]
  const rows = (state?.drift ?? [])
    .slice(0, MOST_ROWS)
    .flatMap((row) => [
      `${SIGNS[row.action]} ${row.address}  ${driftText(row)}, since ${row.since} (${row.mode})${row.pending ? `, asked for by activity ${row.pending}` : ''}`,
      ...[authorText(row)].flatMap((text) => (text === undefined ? [] : [`    ${text}`])),
    ])
  const more = (state?.drift.length ?? 0) - MOST_ROWS
  const waiting = (state?.waiting ?? [])
    .slice(0, MOST_ROWS)
    .map(({ type, fingerprint, since, approvedBy, lapsed = [] }) => {
      const hours = Math.floor((nowMs - Date.parse(since)) / 3_600_000)
      const age = hours < 1 ? 'under an hour' : `${hours} h`
      const by = approvedBy.length === 0 ? 'nobody' : approvedBy.join(', ')
      return `waits: ${type.replace('ACTIVITY_TYPE_', '')} ${shortCode(fingerprint)}, since ${since} (${age}), approved by ${by}${lapsed.length === 0 ? '' : `; please vote again: ${lapsed.join(', ')}`}`
    })
  const vote = waiting.length === 0 ? [] : ['see each with `quorate review CODE`, and vote with `quorate approve CODE`']
  const lines = [...facts, ...rows, ...(more > 0 ? [`and ${more} more (\`--json\` has all)`] : []), ...waiting, ...vote]
  return head + lines.map((text) => `  ${text}\n`).join('')
})

function headline(state: Watched['state']): string {
  if (!state) return 'not looked at yet'
  if (state.error) return 'the last look failed'
  if (state.held || state.refused) return `held, ${count(state.drift.length)}`
  return state.drift.length === 0 ? 'as defined' : count(state.drift.length)
}

function failingText({ since, message, code, next }: NonNullable<WatchState['error']>): string {
  return `looks fail since ${since}: ${message} (${code})${next === undefined ? '' : `; ${next}`}`
}

function takenText({ at, by, commit }: NonNullable<WatchState['taken']>): string {
  return commit === undefined
    ? `definitions: signed at ${at} with ${by}`
    : `definitions: commit ${commit}, signed by ${by}, of ${at}`
}

function count(rows: number): string {
  return `${rows} ${rows === 1 ? 'thing is' : 'things are'} not as defined`
}
