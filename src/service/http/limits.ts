/** Limits on requests of callers who are not known yet. */
export interface EdgeLimits {
  /** Connections that are open at once. @default 4096 */
  readonly connections: number
  /** Of one source address (of one block of 64 bits in IPv6); a trusted proxy has none. @default 1024 */
  readonly connectionsPerSource: number
  /** Bytes of requests and answers that are held at once; one source address may hold half of them. @default 64 MiB */
  readonly heldBytes: number
  /** How long the head of a request may take. @default 10 s */
  readonly headMs: number
  /** Bytes a second that a body must come with and an answer must be taken with, after a moment. @default 16384 */
  readonly bytesPerSecond: number
  /** How long a slow sender or reader is waited for before it is measured. @default 5 s */
  readonly patienceMs: number
  /** How long `close` takes at most, whatever connections do. @default 10 s */
  readonly drainMs: number
}

export const EDGE_LIMITS: EdgeLimits = {
  connections: 4_096,
  connectionsPerSource: 1_024,
  heldBytes: 67_108_864,
  headMs: 10_000,
  bytesPerSecond: 16_384,
  patienceMs: 5_000,
  drainMs: 10_000,
}
