/** A rotation of a key for people; programs get the same as JSON. */
import type { RotationOrder, RotationProgress } from '../../../activities/index.ts'
import { sinkInWords } from '../../../activities/index.ts'
import { EXIT, type ExitCode, printable } from '../../diagnostics/index.ts'
import { shortCode } from '../../plan/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { age, ago } from './activity.ts'

/** What will be done, before it is. */
export const renderRotationOrder = view(
  ({ user, key, drop, overlapMs, sink, expiresIn }: RotationOrder, style: Style): string => {
    const rows = [
      ['user', printable(user.name)],
      ['key', `${printable(key.name)}  ${key.publicKey}`],
      ...(drop === undefined ? [] : [['drops', style.warning(`${printable(drop.name)}  ${drop.publicKey}`)]]),
      ['new key', expiresIn === undefined ? 'does not expire' : `expires ${age(expiresIn * 1000)} after it is made`],
      ['goes to', printable(sinkInWords(sink))],
      ['overlap', overlapMs === 0 ? 'none: the old key is deleted at once' : age(overlapMs)],
    ]
    return rows.map(([name, text]) => `  ${style.dim(name!.padEnd(8))} ${text}\n`).join('')
  },
)

type Times = readonly (readonly [name: string, at: string])[]

const colours = { done: 'good', failed: 'error', partial: 'error' } as const

/** How it stands, and at its end what was done; with its times for a report of many. */
export const renderRotation = view(
  (progress: RotationProgress, style: Style, now: number, times: Times = []): string => {
    const { state, user, key, old, waiting, deletesAt, proof, error } = progress
    const colour = state in colours ? colours[state as keyof typeof colours] : waiting ? 'warning' : 'dim'
    const head = `${style[colour](waiting ? `waiting (${state})` : state)}  ${printable(key)} of ${printable(user)}\n`
    const rows = [
      ['old key', `${old.publicKey}  ${old.id}`],
      [
        'new key',
        progress.new === undefined
          ? ''
          : [progress.new.publicKey, progress.new.id].filter((one) => one !== '').join('  '),
      ],
      [
        'waits',
        waiting === undefined
          ? ''
          : `${shortCode(waiting.fingerprint)}, requested ${ago(now - Date.parse(waiting.since))}, approved by ${waiting.approved.map(printable).join(', ') || 'nobody'}; others vote with \`quorate approve ${shortCode(waiting.fingerprint)}\``,
      ],
      [
        'deletes',
        state === 'overlap' && deletesAt !== undefined ? `the old key at ${deletesAt}, with no further command` : '',
      ],
      ['proof', proof === undefined ? '' : PROOFS[proof]],
      ['error', error === undefined ? '' : style.error(printable(error.message))],
      ['next', error?.next === undefined ? '' : printable(error.next)],
      ...Object.entries(progress.activities).map(([part, id]) => [part, `activity ${id}`]),
      ...times,
    ]
    const shown = rows.filter(([, text]) => text !== '')
    const width = times.length > 0 ? 11 : 8
    return head + shown.map(([name, text]) => `  ${style.dim(name!.padEnd(width))} ${text}\n`).join('')
  },
)

const PROOFS = {
  refused: 'the API refused a request with the old key',
  'not registered': 'the old key is no longer registered; its private key was not here to try a request with it',
} as const

/** During the overlap everything is in order; the rest goes on by itself. */
export function exitOfRotation({ state, waiting }: RotationProgress): ExitCode {
  if (state === 'partial') return EXIT.partial
  if (state === 'failed') return EXIT.error
  return waiting === undefined ? EXIT.done : EXIT.waiting
}
