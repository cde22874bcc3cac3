/** How the background process of a data folder ended: it notes that there. One that was killed has noted that it came up, and no end. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { QuorateError } from '../../diagnostics/index.ts'
import { readPrivate } from '../../local/index.ts'
import { isAlive } from './is-alive.ts'
import { readNote, writeNote } from './note.ts'

/** The note in the data folder. */
interface Note {
  readonly pid: number
  readonly ended?: { readonly at: string } & Why
}

/** Why a background process ends. */
export interface Why {
  /** In words that go on from "its background process". */
  readonly how: string
  /** Whether somebody wanted it to end. */
  readonly isWanted: boolean
}

/** How a background process ended that does not run. */
export interface BackgroundEnd extends Why {
  /** When, in ISO 8601; of one that was killed it is not known. */
  readonly at?: string
  /** When its log was last written to, in ISO 8601. */
  readonly lastWordAt?: string
  readonly log: string
}

export const BY_DOWN: Why = { how: 'was stopped by `quorate down`', isWanted: true }
const KILLED: Why = { how: 'died: it was killed, or this machine went down, and no process answers', isWanted: false }

/** Notes that this process is the background process of a data folder. */
export function noteBegin(dataDir: string): void {
  write(dataDir, { pid: process.pid })
}

/** Notes that it ends, and why. */
export function noteEnd(dataDir: string, why: Why): void {
  write(dataDir, { pid: process.pid, ended: { at: new Date().toISOString(), ...why } })
}

/** Notes for one that could not that `quorate down` ended it: it was killed, or had to be. */
export function noteDown(dataDir: string, stopped: number | undefined): void {
  const note = read(dataDir)
  if (note === undefined || isAlive(note.pid) || note.ended?.how === BY_DOWN.how) return
  if (note.ended !== undefined && note.pid !== stopped) return
  write(dataDir, { pid: note.pid, ended: { at: new Date().toISOString(), ...BY_DOWN } })
}

/** How the background process of a data folder ended, of which it was asked whether it runs; undefined where none is known to have run. */
export function backgroundEnd(dataDir: string): BackgroundEnd | undefined {
  const note = read(dataDir)
  if (note === undefined) return undefined
  const log = join(dataDir, 'background.log')
  if (note.ended) return { ...note.ended, log }
  const lastWord = statSync(log, { throwIfNoEntry: false })?.mtime.toISOString()
  return { ...KILLED, ...(lastWord === undefined ? {} : { lastWordAt: lastWord }), log }
}

/** `nothing runs for …`, with how what ran there ended. */
export function nothingRuns(dataDir: string, end: BackgroundEnd | undefined = backgroundEnd(dataDir)): string {
  const ended = end ? `: its background process ${end.how}${end.at === undefined ? '' : `, at ${end.at}`}` : ''
  return `nothing runs for ${dataDir}${ended}`
}

/** Why a command that only looks goes no further: it would begin again what was stopped, such as payments that are open. */
export function backgroundDown(dataDir: string): QuorateError {
  const end = backgroundEnd(dataDir)
  const pid = Number(readPrivate(join(dataDir, 'service', 'lock.pid')))
  const served = pid > 0 && isAlive(pid) ? pid : undefined
  return new QuorateError('cli/background-down', nothingRuns(dataDir, end), {
    facts: {
      ...(served === undefined ? {} : { 'its service': `is served by process ${served}` }),
      ...(end?.lastWordAt === undefined ? {} : { 'last word': end.lastWordAt }),
      ...(end === undefined ? {} : { log: end.log }),
      started: 'nothing: this command only looks',
      submitted: 'nothing',
    },
    next:
      served === undefined
        ? 'bring it up with `quorate up`; what is open goes on then, and nothing is submitted twice'
        : 'give --base-url and --organization-id of that service, which its `bootstrap.json` has',
  })
}

function write(dataDir: string, note: Note): void {
  writeNote(noteOf(dataDir), note)
}

const read = (dataDir: string) => readNote<Note>(noteOf(dataDir))
const noteOf = (dataDir: string) => join(dataDir, 'background.json')
