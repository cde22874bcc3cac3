/** `quorate sends --follow`: reads the ledger until every open send has ended. The workflows are not asked. */
import type { SendOrder, SendProgress } from '../../../activities/index.ts'
import { type Finality, isFinal, type ReplacedBy } from '../../sending/index.ts'
import type { Io } from '../io.ts'
import { looking } from '../looking.ts'
import { createPatience } from '../waiting.ts'

/** A send as the ledger has it. */
export interface ListedSend {
  readonly sendId: string
  readonly order: SendOrder
  /** @default it was ordered, and nothing is known yet */
  readonly progress?: SendProgress
  /** Nothing is known yet, and its bytes may have been sent. */
  readonly isAsked?: boolean
  /** It has not ended, and nobody carries it out: somebody ended it at Temporal. */
  readonly isLeft?: boolean
  /** What has it go on, where nobody carries it out now. */
  readonly heldUp?: string | undefined
  /** The reference of the send of this ledger that has taken its nonce, and whether that was to cancel it. */
  readonly replacedBy?: ReplacedBy
  /** The reference of what was offered in its place, while neither is known to be included. */
  readonly offered?: string
  readonly finality?: Finality
  /** Where nobody could be asked how it stands: when the ledger was told last. */
  readonly recordedAt?: string
  /** On Ethereum, where a node of the user's own tells it. */
  readonly nonce?: string
}

export function isOver({ progress }: ListedSend): boolean {
  return progress !== undefined && isFinal(progress)
}

function waits({ progress }: ListedSend): boolean {
  return progress?.state === 'waiting'
}

const LOOK_EVERY_MS = 500
/** By then a workflow that was told to ask the API has done so. */
const ASKED_MS = 3_000

/**
 * Looks at sends again and again, and shows each when it has changed, until all have ended; where nobody watches, until all that
 * have not wait for people.
 */
export function followListed(
  io: Pick<Io, 'say' | 'live' | 'terminal'>,
  {
    read,
    show,
    nudge,
    look,
  }: {
    readonly read: () => Promise<readonly ListedSend[]>
    readonly show: (one: ListedSend) => Promise<void>
    /** Tells the workflows of these sends to ask the API at once: a user who looks has often just approved something. */
    readonly nudge: (waiting: readonly ListedSend[]) => Promise<void>
    /** Called at each look while something is open. */
    readonly look: () => void
  },
): Promise<readonly ListedSend[]> {
  const patience = createPatience({ io, options: {} }, { what: 'what is open', next: '' })
  const follow = async () => {
    const shown = new Map<string, string>()
    await nudge((await read()).filter(waits))
    for (const asked = Date.now() + ASKED_MS; ; ) {
      const all = await read()
      let hasNews = false
      for (const one of all) {
        const text = JSON.stringify(one.progress)
        if (shown.has(one.sendId) && shown.get(one.sendId) === text) continue
        shown.set(one.sendId, text)
        hasNews = true
        await show(one)
      }
      // What somebody ended at Temporal does not move by itself.
      const open = all.filter((one) => !isOver(one) && one.isLeft !== true)
      if (open.length === 0 || (!io.terminal && open.every(waits) && Date.now() > asked)) return all
      look()
      patience.look(() => (open.length === 1 ? '1 send is open' : `${open.length} sends are open`), hasNews)
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }
  const otherwise = 'What waits for approval is ended with `quorate reject`, a batch with `quorate sends stop`.'
  return looking(io, { what: 'what is open', otherwise, patience }, follow)
}
