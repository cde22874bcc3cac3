/** Notes that a process keeps about itself in the data folder, for its user alone: another process acts by what they say. */
import { readPrivate, writePrivate } from '../../local/index.ts'

/** Reads a note; undefined where there is none, or where it was cut while it was written. Throws `local/exposed`. */
export function readNote<Note>(path: string): Note | undefined {
  const text = readPrivate(path)
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Note)
  } catch {
    return undefined
  }
}

export function writeNote<Note>(path: string, note: Note): void {
  writePrivate(path, JSON.stringify(note))
}
