/** Reasons for votes: the API has no field for them, so they are kept in the data folder of the voter. */
import { join } from 'node:path'
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
