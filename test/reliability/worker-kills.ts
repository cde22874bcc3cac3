/**
 * Workers are killed while work is pending, one before its first answer, the others at random moments. What must hold: every
 * batch ends, and each intent is one activity, counted at the real service. The naive variant, which makes the body inside the
 * Temporal activity, must fail the same, or it shows nothing.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { TemporalSettings } from '../../src/worker/index.ts'
import { makePairs } from '../workflows/made-plan.ts'
import { kill, openField, twins } from './field.ts'

/** Pairs that one apply has room for: an organization holds 100 tags and 100 policies. */
const MOST_PAIRS = 40

export interface WorkerKills {
  readonly kills: number
  /** Kills while work was pending. */
  readonly pending: number
  readonly submits: number
  readonly lost: number
  readonly dup: number
  readonly state: string
}

/** Kills workers of one apply so many times, or until there are twins when it is naive. */
export async function killWorkers({
  temporal,
  kills,
  naive = false,
  pairs = MOST_PAIRS,
  sharedPlace,
}: {
  readonly temporal: TemporalSettings
  readonly kills: number
  readonly naive?: boolean
  /** Two batches each. @default as many as an apply has room for */
  readonly pairs?: number
  /** Each worker is a machine of its own then, and they share a plan store. */
  readonly sharedPlace?: string
}): Promise<WorkerKills> {
  const field = await openField({
    temporal,
    batches: makePairs(pairs),
    naive,
    ...(sharedPlace === undefined ? {} : { sharedPlace }),
  })
  try {
    let counts = await field.counts()
    const figures = { kills: 0, pending: 0 }
    while (figures.kills < kills && !(naive && twins(counts) > 0)) {
      const worker = await field.startWorker()
      const before = field.submits()
      while (field.submits() === before && worker.exitCode === null) await delay(5)
      // The first falls while an answer is on its way, which comes later than this process looks; the others at random moments.
      if (figures.kills > 0) await delay(Math.random() * 250)
      await kill(worker)
      counts = await field.counts()
      if (counts.size < field.plan.batches.length) figures.pending++
      figures.kills++
    }
    let state = 'terminated'
    if (naive) await field.terminate()
    else {
      await field.startWorker()
      state = (await field.result()).state
    }
    counts = await field.counts()
    const lost = field.plan.batches.length - counts.size
    return { ...figures, submits: field.submits(), lost, dup: twins(counts), state }
  } finally {
    await field.close()
  }
}
