/** Reasons for votes: the API has no field for them, so they are kept in the data folder of the voter. */
import { join } from 'node:path'
import type { ApplyProgress } from '../../activities/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import type { CommandInput } from './command.ts'
import { assertNoKeys } from './files.ts'
import { keepRow, keptRows } from './kept-rows.ts'

/** One vote with its reason; a line of JSON each. */
export interface VoteReason {
  /** ISO 8601. */
  readonly at: string
  readonly organizationId: string
  readonly activityId: string
  readonly fingerprint: string
  readonly vote: 'approve' | 'reject'
  /** The name of the user whose key is in use. */
  readonly by: string
  readonly reason: string
}

const FILE = 'vote-reasons.ndjson'

/** What `--reason` gives. Throws `cli/usage` for an empty one, and `cli/key-in-file` for key material. */
export function readReason({ options, settings }: CommandInput): string | undefined {
  const reason = options['reason']
  if (typeof reason !== 'string') return undefined
  if (reason.trim() === '') {
    throw new QuorateError('cli/usage', 'expected --reason to say something, got an empty text', {
      next: 'write the reason, or leave --reason out',
    })
  }
  assertNoKeys(join(settings.dataDir, FILE), reason)
  return reason
}

/** Adds a reason to the file, and returns its path. Throws `cli/unwritable`: the vote was cast by then. */
export function keepReason(dataDir: string, row: VoteReason): string {
  const path = join(dataDir, FILE)
  try {
    keepRow(path, row)
  } catch (cause) {
    throw new QuorateError('cli/unwritable', `\`${path}\` cannot be written: ${(cause as Error).message}`, {
      facts: { file: path, voted: 'yes', reason: 'not kept' },
      next: 'the vote counts; note the reason elsewhere',
      cause,
    })
  }
  return path
}

/** The reasons that are kept here for votes on an activity. */
export function reasonsFor(dataDir: string, activityId: string): readonly VoteReason[] {
  return keptRows<VoteReason>(join(dataDir, FILE)).filter((row) => row.activityId === activityId)
}

/** What is done about a rejection whose reason is known. */
const AFTER_REASON = 'change the definitions; or `quorate apply --ask-again` submits it as a new activity'

/** Progress with the reasons of rejections that are kept in the data folder: nobody has to be asked for them. */
export function withReasons(progress: ApplyProgress, dataDir: string): ApplyProgress {
  const batches = progress.batches.map((batch) => {
    const { state, activityId, error } = batch
    if (state !== 'rejected' || activityId === undefined || error === undefined) return batch
    const reasons = reasonsFor(dataDir, activityId).filter(({ vote }) => vote === 'reject')
    if (reasons.length === 0) return batch
    // A voter whom the message names already is not named again.
    const isNamed = (by: string) => reasons.length === 1 && error.message === `rejected by ${by}`
    const said = reasons.map(({ by, reason }) => `${reason} (${isNamed(by) ? '' : `${by}, `}kept on this machine)`)
    return { ...batch, error: { ...error, message: `${error.message}: ${said.join('; ')}`, next: AFTER_REASON } }
  })
  return { ...progress, batches }
}
