/** Exit codes of every command. `2` is used only with `--detailed-exitcode`. */
export const EXIT = {
  done: 0,
  error: 1,
  changes: 2,
  waiting: 3,
  refused: 4,
  stale: 5,
  partial: 6,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** One row of a room's code table: the meaning of a code, and what its reader can do. */
export interface CodeRow {
  /** What is wrong, in one sentence, for the reference page. */
  readonly summary: string
  /** How to solve it, for the reference page. */
  readonly solve: string
  /** Exit code of a command that ends with it. @default 1 */
  readonly exit?: ExitCode
  /** Whether the same step may succeed when tried again without anyone's doing. @default false */
  readonly retryable?: boolean
}

/** A room's codes by their full name `room/kebab-name`. */
export type Codes = Readonly<Record<`${string}/${string}`, CodeRow>>
