/**
 * The states of a send, as people and programs are told them. There is this one table: `send`, `sends`, the report of a batch, their
 * JSON and their exit codes read it (docs/sends.md).
 */
import { failedHow, type RowState, type SendProgress } from '../../activities/index.ts'
import { EXIT, type ExitCode } from '../diagnostics/index.ts'
import { shortCode } from '../plan/index.ts'
import { type Finality, isFinality } from './finality.ts'
import type { ReplacedBy } from './replaced-by.ts'

interface StateRow {
  /** Whether it never changes. */
  readonly isOver: boolean
  readonly exit: ExitCode
  /** What is to be done about it; nothing where the send itself says it better, or nothing is. */
  readonly next?: string
}

const open = (next?: string): StateRow => ({ isOver: false, exit: EXIT.waiting, ...(next && { next }) })
const unpaid = (next?: string): StateRow => ({ isOver: true, exit: EXIT.partial, ...(next && { next }) })

export const SEND_STATES = {
  'not begun': open(),
  submitting: open(),
  unknown: open('nothing: it is asked about with the same bytes, which are paid once at most'),
  // By the code of its activity, where that is known: `nextOf`.
  waiting: open('approve it by its code, which `quorate approvals` shows, or end it with `quorate reject`'),
  broadcasting: open(),
  stuck: open(
    'wait: it goes on by itself as soon as it can; on Ethereum `quorate sends replace` offers more for one that is broadcast, and `quorate sends cancel` ends it',
  ),
  // Paid, and nobody waits for more; but a block may be taken back until it is final.
  included: { isOver: false, exit: EXIT.done },
  final: { isOver: true, exit: EXIT.done },
  reverted: unpaid(
    'its fee is spent and nothing else moved; look at its transaction by another node, correct the cause, and send under a new reference',
  ),
  replaced: unpaid(),
  cancelled: unpaid('send under a new reference if it is to be paid after all'),
  failed: unpaid('nothing is sent again by itself; correct the cause and send under a new reference'),
  denied: unpaid('nothing was broadcast; have a policy allow it, and send under a new reference'),
  rejected: unpaid(
    'nothing was broadcast; ask them why, and give the same command with --ask-again if it is to be paid after all',
  ),
  'given up': unpaid(
    'nothing was broadcast and the reference is free: correct the cause, and give the same command again',
  ),
  stopped: unpaid('send it with `quorate send --batch FILE --resume`: its reference is free'),
  'left out': unpaid('have a policy allow it, and send the same file again'),
  taken: unpaid('give this send a reference of its own'),
} as const satisfies Readonly<Record<string, StateRow>>

export type SendState = keyof typeof SEND_STATES

/** What is known of a send. */
export interface KnownOfSend {
  readonly progress?: SendProgress | undefined
  /** Of a row of a batch, where its reference does not say it. */
  readonly row?: RowState | undefined
  /** Its bytes are made, and may have been sent. */
  readonly isAsked?: boolean | undefined
  readonly replacedBy?: ReplacedBy | undefined
  readonly finality?: Finality | undefined
  /** What has it go on, where nobody carries it out now. */
  readonly heldUp?: string | undefined
}

/** Says in which state a send is. */
export function stateOf({ progress, row, isAsked, replacedBy, finality }: KnownOfSend): SendState {
  if (row === 'taken' || row === 'left out' || row === 'stopped') return row
  if (progress === undefined) {
    if (isAsked) return 'unknown'
    return row === 'submitting' ? row : 'not begun'
  }
  const { state, error, activityId, fingerprint } = progress
  switch (state) {
    case 'submitting':
      return activityId === undefined && (isAsked || fingerprint !== undefined) ? 'unknown' : state
    case 'broadcasting':
      return error?.code === 'apply/transaction-waits' || error?.code === HELD ? 'stuck' : state
    case 'included':
      return finality !== undefined && isFinality(finality) ? 'final' : state
    case 'failed': {
      const how = failedHow(progress)
      return how === 'replaced' && replacedBy?.cancels ? 'cancelled' : (how ?? state)
    }
    default:
      return state
  }
}

/**
 * What is to be done about a send: what its state says, and of one that has failed what its own error does. Undefined where
 * there is nothing to do.
 */
export function nextOf(known: KnownOfSend): string | undefined {
  const state = stateOf(known)
  const fingerprint = known.progress?.fingerprint
  if (state === 'waiting' && fingerprint !== undefined) return nextOfWaiting([fingerprint])
  const { next }: StateRow = SEND_STATES[state]
  const error = known.progress?.error
  // The command that waits for the send does not know that the worker has another key.
  if (error?.code === 'apply/other-user' && !SEND_STATES[state].isOver) return error.next
  const { replacedBy } = known
  // Sent once more under another reference, it would be paid twice.
  if (state === 'replaced' && replacedBy) return `nothing: look at \`${replacedBy.reference}\`, which has its place`
  if (state === 'stuck' && error?.code === HELD) return RECONCILE
  if (known.heldUp !== undefined && MOVES.has(state)) {
    return `${state === 'unknown' ? 'nothing asks about it now' : 'nobody carries it out now'}: ${known.heldUp}`
  }
  const own = SEND_STATES[state].isOver ? known.progress?.error?.next : undefined
  return state === 'failed' ? (own ?? next) : (next ?? own)
}

/** The states in which a send goes on by itself, while somebody carries it out. */
const MOVES: ReadonlySet<SendState> = new Set(['not begun', 'submitting', 'unknown', 'broadcasting', 'stuck'])

/** Of what no time ends. */
const HELD = 'apply/transaction-held'
const RECONCILE =
  'give `quorate sends reconcile` where the service runs: it goes on when that has identified what the chain has, and not before'

/** How those who are waited for vote: on one, or on several at once. */
export function nextOfWaiting(fingerprints: readonly string[]): string {
  const codes = fingerprints.map(shortCode).join(' ')
  const it = fingerprints.length === 1 ? 'it' : 'them'
  return `approve ${it} with \`quorate approve ${codes}\`, or end ${it} with \`quorate reject ${codes}\``
}

/** The exit code of a send, or of many: what is open comes first, since there is something left to do about it. */
export function exitOfStates(states: readonly SendState[]): ExitCode {
  const exits = new Set<ExitCode>(states.map((state) => SEND_STATES[state].exit))
  return exits.has(EXIT.waiting) ? EXIT.waiting : exits.has(EXIT.partial) ? EXIT.partial : EXIT.done
}
