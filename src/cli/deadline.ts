import type { Deadline } from '../client/index.ts'
import { parseDuration } from './durations.ts'

/** How long the API may hold back the reads of a command in all, unless `--wait` says otherwise. */
const LIMIT_MS = 120_000
/** Shorter waits are the pace of many requests, and not counted: a request that is refused goes a moment later. */
const PACE_MS = 2_000
/** A command that lasts for hours begins to count anew once nothing was held back for so long. */
const FORGOTTEN_MS = 600_000

/** The deadline of a command and what ends it. */
export interface CommandDeadline extends Deadline {
  /** Gives up every read that still waits: the command has failed. */
  end(): void
  /** A worker carries out what the command began, so that the command does not know what is submitted. */
  handOver(): void
}

/**
 * Makes the deadline that all reads of a command share: two minutes, or what `--wait` gives, that the API may hold them back or
 * leave them without an answer. Waits at the same time count once. Throws `cli/usage`.
 */
export function createDeadline(
  { wait }: Readonly<Record<string, unknown>>,
  now: () => number = () => performance.now(),
): CommandDeadline {
  const limitMs = typeof wait === 'string' ? parseDuration(wait, '--wait') : LIMIT_MS
  const ended = new AbortController()
  let countedMs = 0
  /** Up to when waits are counted. */
  let countedTo = Number.NEGATIVE_INFINITY
  let sent = 0
  let isHandedOver = false

  const count = (from: number, to: number): boolean => {
    if (to - from <= PACE_MS) return true
    if (from - countedTo > FORGOTTEN_MS) countedMs = 0
    const more = Math.max(0, to - Math.max(from, countedTo))
    if (countedMs + more > limitMs) return false
    countedMs += more
    countedTo = Math.max(countedTo, to)
    return true
  }

  return {
    limitMs,
    paceMs: PACE_MS,
    isGiven: typeof wait === 'string',
    signal: ended.signal,
    leftMs: () => limitMs - countedMs,
    allows: (ms) => count(now(), now() + ms),
    silence(ms) {
      if (count(now() - ms, now())) return true
      countedMs = limitMs
      return false
    },
    submits: () => void sent++,
    submitted() {
      if (isHandedOver) return 'what the worker carries out, which goes on: `quorate status` shows it'
      if (sent === 0) return 'nothing'
      return `${sent} ${sent === 1 ? 'request' : 'requests'} before this one: \`quorate activities\` lists what came of them`
    },
    end: () => ended.abort(),
    handOver() {
      isHandedOver = true
    },
  }
}
