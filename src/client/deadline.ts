import { ClientError } from './error.ts'

/** How long the API may hold back the reads of one command: one for all its clients, so that each read takes from the same time. */
export interface Deadline {
  /** All the time that there is. */
  readonly limitMs: number
  /** Whether the user has chosen it (`--wait`). */
  readonly isGiven: boolean
  /** Aborted when the command has failed: no read waits any longer. */
  readonly signal: AbortSignal
  /** Waits no longer than this are the pace of many requests, and not counted. */
  readonly paceMs: number
  leftMs(): number
  /** Counts a wait that begins now; false when it is longer than what is left. */
  allows(ms: number): boolean
  /** Counts so many milliseconds up to now in which no answer came; false when that was longer than what was left. */
  silence(ms: number): boolean
  /** A submit is about to go out. */
  submits(): void
  /** What the command has submitted up to now, in words. */
  submitted(): string
}

/** An attempt has so much time however little is left: an answer that comes late is better than none. */
const LEAST_ATTEMPT_MS = 10_000

/** How long one attempt of a read may take. */
export function attemptWithin(deadline: Deadline | undefined, attemptMs: number): number {
  return deadline ? Math.min(attemptMs, Math.max(Math.ceil(deadline.leftMs()), LEAST_ATTEMPT_MS)) : attemptMs
}

/** Ends a read with what was answered last, and says that the deadline of the command is over. */
export function pastDeadline(
  { code, message, facts, submitted, retryAfterMs, cause }: ClientError,
  deadline: Deadline,
  waitMs: number,
): ClientError {
  const [limit, left, asked] = [deadline.limitMs, deadline.leftMs(), waitMs].map(secondsOf)
  const option = deadline.isGiven ? '--wait gives' : 'the reads of a command have'
  const again = waitMs > 0 ? `run the same command again in ${asked}` : 'run the same command again later'
  return new ClientError(
    code,
    `${message}; not waited for any longer: ${waitMs > 0 ? `the next try would be in ${asked}, and ` : ''}${left} are left of the ${limit} that ${option}`,
    {
      facts: { ...facts, submitted: deadline.submitted() },
      submitted,
      retryAfterMs,
      retryable: false,
      next: `${again}${deadline.isGiven ? ', or with a longer --wait' : ''}; \`quorate doctor\` tells whether the API answers`,
      cause,
    },
  )
}

const secondsOf = (ms: number) => `${Math.max(0, Math.ceil(ms / 1000))} s`
