/**
 * The Temporal server is killed while an apply is under way, and started again on the same database. A worker that ends
 * because its server is gone is started again, as whatever runs it would.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findTemporal, startTemporalServer } from '../../src/worker/index.ts'
import { makePairs } from '../workflows/made-plan.ts'
import { openField, twins } from './field.ts'

/** So many submits lie between two kills, at least. */
const BETWEEN_KILLS = 3

export interface ServerKills {
  readonly kills: number
  /** Kills while work was pending. */
  readonly pending: number
  readonly submits: number
  readonly lost: number
  readonly dup: number
  readonly state: string
}

/** Kills the server of one apply of so many pairs, so many times. With `forget` it comes back without its database. */
export async function killServer({
  kills,
  pairs = 40,
  forget = false,
}: {
  readonly kills: number
  readonly pairs?: number
  readonly forget?: boolean
}): Promise<ServerKills> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-server-kills-'))
  const announce = () => {}
  const binary = await findTemporal({ announce })
  let server = await startTemporalServer({ binary, folder, announce })
  const port = Number(server.address.split(':')[1])
  const field = await openField({ temporal: server, batches: makePairs(pairs) })
  let worker: ChildProcess | undefined
  let stopped = false
  const keepWorker = async () => {
    worker = await field.startWorker()
    worker.once('exit', () => setTimeout(() => stopped || keepWorker(), 300))
  }
  try {
    await keepWorker()
    const figures = { kills: 0, pending: 0 }
    while (figures.kills < kills) {
      const before = field.submits()
      while (field.submits() < before + BETWEEN_KILLS) await delay(5)
      await delay(Math.random() * 150)
      if ((await field.counts()).size < field.plan.batches.length) figures.pending++
      process.kill(server.pid, 'SIGKILL')
      await server.stop()
      figures.kills++
      if (forget) for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `state.db${end}`), { force: true })
      server = await startTemporalServer({ binary, folder, port, announce })
      if (forget) break
    }
    const state = await Promise.race([
      field.result().then(
        (result) => result.state,
        () => 'lost',
      ),
      forget ? delay(5_000, 'forgotten') : never,
    ])
    const counts = await field.counts()
    const lost = field.plan.batches.length - counts.size
    return { ...figures, submits: field.submits(), lost, dup: twins(counts), state }
  } finally {
    stopped = true
    await field.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const never = new Promise<never>(() => {})
