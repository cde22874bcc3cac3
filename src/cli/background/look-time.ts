/**
 * How long a command that only looks waits for the background process, for Temporal or for an API whose word it can do without:
 * with its own start that is within ten seconds.
 */
export const LOOK_MS = 7_000
