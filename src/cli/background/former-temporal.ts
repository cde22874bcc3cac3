/**
 * Up to November 2026 the embedded Temporal was a development server without TLS, with histories in clear. Nothing it
 * wrote is believed any more, so its state is set aside, and who had a run open in it is told what becomes of it.
 */
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../diagnostics/index.ts'

const FORMER = 'temporal.db'
/** Beside the state itself: SQLite's two files, and the log. */
const ENDS = ['', '-wal', '-shm', '.log'] as const
/** So many runs are named on the terminal; the file names all. */
const MOST_NAMED = 20

export function hasFormerTemporal(dataDir: string): boolean {
  return existsSync(join(dataDir, FORMER))
}

/** Renames the state of a former server, deletes nothing, and names the runs that were open in it. */
export function setAsideFormerTemporal(dataDir: string, announce: (text: string) => void): void {
  if (!hasFormerTemporal(dataDir)) return
  const state = join(dataDir, FORMER)
  const aside = freeName(dataDir)
  const open = readOpenRuns(state)
  if (Array.isArray(open) && open.length > 0) {
    writeFileSync(`${aside}.open-runs.txt`, open.map((id) => `${id}\n`).join(''), { mode: 0o600 })
  }
  for (const end of ENDS) if (existsSync(`${state}${end}`)) renameSync(`${state}${end}`, `${aside}${end}`)
  for (const line of describe(open, aside)) announce(`temporal: ${line}`)
}

function describe(open: readonly string[] | string, aside: string): readonly string[] {
  const kept = `the state of the former embedded server, which let in anyone on this machine, was set aside as ${aside}`
  if (typeof open === 'string') return [kept, `its runs could not be read (${open}); ${RUNS_END}`, ...NEXT]
  if (open.length === 0) return [`${kept}; no run was open in it`]
  const named = open.slice(0, MOST_NAMED).map((id) => `  ${id}`)
  const more = open.length > MOST_NAMED ? [`  and ${open.length - MOST_NAMED} more, in ${aside}.open-runs.txt`] : []
  const runs = open.length === 1 ? '1 run was open in it' : `${open.length} runs were open in it`
  return [kept, `${runs}; ${RUNS_END}:`, ...named, ...more, ...NEXT]
}

const RUNS_END = 'what was open there does not go on by itself, and what it submitted stays submitted'
const NEXT = [
  'plans (apply/…): plan and apply again; what waits for approval is found by its intent, and not submitted twice',
  'sends (send/…, send-batch/…): the same `quorate send` again goes on from the ledger, and sends nothing twice',
]

/** Workflow ids, oldest first; in words why they cannot be read. Closing the database moves its write-ahead log into the file. */
function readOpenRuns(state: string): readonly string[] | string {
  try {
    // The table computes columns by expressions that quote strings as names.
    const database = new DatabaseSync(state, { enableDoubleQuotedStringLiterals: true })
    try {
      return database
        .prepare(
          `select workflow_id as id from executions_visibility
           where status = 1 and workflow_id not like 'temporal-sys-%' order by start_time, workflow_id`,
        )
        .all()
        .map(({ id }) => String(id))
    } finally {
      database.close()
    }
  } catch (error) {
    return messageOf(error)
  }
}

function freeName(dataDir: string): string {
  for (let number = 1; ; number++) {
    const name = join(dataDir, `former-temporal${number === 1 ? '' : `-${number}`}.db`)
    if (!existsSync(name)) return name
  }
}
