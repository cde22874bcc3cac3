/**
 * Where lines of a log go. Premise: a log's disk may be full, its pipe may have no reader or one that has stopped, and
 * none of that is a reason to hold up or end the process that logs. So a line is put into a buffer of bounded size, which
 * one write at a time empties without blocking; what finds the buffer full is lost and counted, and the count is a line
 * of its own as soon as lines can be written again.
 */
import { closeSync, constants, fstatSync, openSync, write as writeFile, writeSync } from 'node:fs'

export interface LogSink {
  /** Takes one line, with its line break; never blocks and never throws. */
  write(line: string): void
  /** How many lines were lost since the start. */
  lost(): number
  /** Waits a moment for what is buffered. */
  close(): Promise<void>
}

/** A descriptor that is open already (2 is stderr), or a file that is made when it is missing. */
export type LogTarget = number | string

interface LogSinkOptions {
  /** The line that tells how many lines were lost. */
  readonly tellLost: (count: number) => string
  /** Most bytes that wait to be written. @default 1 MiB */
  readonly maxBytes?: number
  /** How long to wait after a failed write. @default 200 ms */
  readonly retryMs?: number
}

const CLOSING_TAKES_MS = 500

/** In one write: a reader that is slow gets its lines in pieces, and a failure costs little. */
const MOST_BYTES_OF_WRITE = 65_536

/** Opens the target. Throws Node's own error when a file cannot be opened; a named pipe without a reader is waited for. */
export function createLogSink(
  target: LogTarget,
  { tellLost, maxBytes = 1_048_576, retryMs = 200 }: LogSinkOptions,
): LogSink {
  let fd = openTarget(target)
  const waiting: Uint8Array[] = []
  let waitingBytes = 0
  /** What the write under way, or the next one, begins with: a line is never left half written for another. */
  let current: Uint8Array | undefined
  let isWriting = false
  let retry: NodeJS.Timeout | undefined
  let lost = 0
  let untold = 0
  let drained: (() => void) | undefined

  function write(line: string): void {
    const bytes = Buffer.from(line)
    if (waitingBytes + bytes.length > maxBytes) {
      lost += 1
      untold += 1
      return
    }
    if (untold > 0 && waitingBytes === 0) put(tellOfLost())
    put(bytes)
    start()
  }

  function put(bytes: Uint8Array): void {
    waiting.push(bytes)
    waitingBytes += bytes.length
  }

  function tellOfLost(): Uint8Array {
    const line = tellLost(untold)
    untold = 0
    return Buffer.from(line)
  }

  /** The lines of one turn of the event loop go out in one write. */
  function start(): void {
    if (isWriting || retry) return
    isWriting = true
    setImmediate(next)
  }

  function next(): void {
    current ??= takeSome()
    if (current === undefined && untold > 0) {
      put(tellOfLost())
      current = takeSome()
    }
    if (current === undefined) {
      isWriting = false
      drained?.()
      return
    }
    fd ??= reopen()
    if (fd === undefined) return void wait()
    writeFile(fd, current, (error, written) => {
      if (error) return void wait()
      waitingBytes -= written
      current = written < current!.length ? current!.subarray(written) : undefined
      next()
    })
  }

  function takeSome(): Uint8Array | undefined {
    let bytes = 0
    let count = 0
    while (count < waiting.length && bytes < MOST_BYTES_OF_WRITE) bytes += waiting[count++]!.length
    return count === 0 ? undefined : Buffer.concat(waiting.splice(0, count))
  }

  function reopen(): number | undefined {
    try {
      return openTarget(target)
    } catch {
      return undefined
    }
  }

  function wait(): void {
    isWriting = false
    retry = setTimeout(() => {
      retry = undefined
      start()
    }, retryMs)
    retry.unref()
  }

  /** What is still there when the process ends: tried once. */
  function flushAtExit(): void {
    if (fd === undefined || isWriting) return
    try {
      for (const bytes of [...(current ? [current] : []), ...waiting]) writeSync(fd, bytes)
    } catch {}
  }
  process.once('exit', flushAtExit)

  return {
    write,
    lost: () => lost,
    async close() {
      const done = Promise.withResolvers<void>()
      drained = done.resolve
      const timer = setTimeout(done.resolve, CLOSING_TAKES_MS)
      if (!isWriting && current === undefined && waiting.length === 0) done.resolve()
      await done.promise
      clearTimeout(timer)
      clearTimeout(retry)
      process.removeListener('exit', flushAtExit)
      if (typeof target === 'string' && fd !== undefined && !isWriting) closeSync(fd)
      fd = undefined
    },
  }
}

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK

/** Gives a descriptor on which a write does not wait for a reader; nothing for a named pipe without one. */
function openTarget(target: LogTarget): number | undefined {
  if (typeof target === 'number') return openAgain(target)
  try {
    return openSync(target, FLAGS | constants.O_CREAT, 0o600)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENXIO') return undefined
    throw error
  }
}

/**
 * Opens what a descriptor leads to once more: to set O_NONBLOCK on the descriptor itself would set it for every process
 * that shares it, a shell among them. A socket cannot be opened again; there Node's own stream sets it.
 */
function openAgain(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, FLAGS)
  } catch {
    const kind = fstatSync(fd)
    if (fd === 2 && (kind.isSocket() || kind.isFIFO())) process.stderr.on('error', () => {})
    return fd
  }
}
