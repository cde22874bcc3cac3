/**
 * A batch of 500 sends from its beginning until all are submitted, at the ten requests a second that the API takes: the
 * budget's own minimum and at most a tenth more. Temporal, worker, service and node are real, on the same cores.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findTemporal, startTemporalServer } from '../../src/worker/index.ts'
import { sendMany } from '../reliability/batch-sends.ts'

const SENDS = 500
const PER_SECOND = 10
const MOST = 1.1

/** Prints what was measured beside the aim; the process exits with 1 when it is missed. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
  const binary = await findTemporal({ announce: (text) => console.log(text) })
  const server = await startTemporalServer({ binary, folder, announce: () => {} })
  try {
    const { submittedAfterMs, mostInASecond, requests } = await sendMany({
      temporal: server,
      sends: SENDS,
      senders: 5,
      workers: 1,
      requestsPerSecond: PER_SECOND,
      nodeKills: 0,
      workerKills: 0,
      nodeIsWell: true,
      onlySubmitted: true,
    })
    const least = (SENDS / PER_SECOND) * 1_000
    const missed = submittedAfterMs > least * MOST
    if (missed) process.exitCode = 1
    console.log(
      `${SENDS} rows submitted in ${(submittedAfterMs / 1_000).toFixed(1)} s with ${requests} requests, at most ${mostInASecond} requests within a second; the budget's minimum is ` +
        `${least / 1_000} s: ${(submittedAfterMs / least).toFixed(3)} of it, aim ${MOST}  ${missed ? 'MISSED' : 'met'}`,
    )
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
