/**
 * How long sealing anew keeps the service's main thread from its requests: a change of the master key over 20,000 sealed rows on
 * SQLite, beside the same service at rest before it. The service is a process of its own, which says for how long it computed
 * without a turn of its loop, in CPU time, and how late its loop was by the clock, which counts what else the machine does.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readRotationOfFolder, rotateKeyOfFolder } from '../../src/service/index.ts'
import { readClient, startProcess } from '../service/process.ts'
import { fill, keyOf, openedBy, sqlite } from '../service/sealed-rows.ts'
import type { Ask, Busy } from './worst-service.ts'

const ROWS = 20_000
const REST_MS = 5_000
/** What no handler may take, in CPU time of the main thread. */
const MOST_MS = 50

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-rotate-'))
  const child = fork(new URL('./worst-service.ts', import.meta.url))
  const ask = async (asked: Ask) => {
    child.send(asked)
    return (await once(child, 'message'))[0]
  }
  const measure = async () => (await ask({ measure: true })) as Busy
  try {
    const first = await startProcess(folder)
    const { organizationId } = readClient(folder)
    await first.end('SIGTERM')
    const rows = sqlite(folder)
    const old = keyOf(folder)
    await fill(rows, { organizationId, key: old, count: ROWS })
    await ask({ serve: folder })
    await delay(2_000)
    await measure()
    await delay(REST_MS)
    print('at rest', REST_MS, await measure())
    await rotateKeyOfFolder(folder, { environment: {} })
    const until = async (...steps: readonly string[]) => {
      for (;;) {
        const { rotation } = await readRotationOfFolder(folder, undefined)
        if (rotation && steps.includes(rotation.step)) return rotation
        await delay(50)
      }
    }
    await until('resealing', 'done')
    await measure()
    const begun = performance.now()
    const done = await until('done')
    const took = performance.now() - begun
    const busy = await measure()
    print(`sealing ${done.resealedInAll} values anew`, took, busy)
    const left = (await openedBy(rows, { old }))['old']!.length
    if (done.resealedInAll < ROWS || left > 0) throw new RangeError(`${left} values are under the old key still`)
    console.log(`longest turn: ${busy.held.toFixed(1)} of at most ${MOST_MS} ms`)
    if (busy.held > MOST_MS) throw new RangeError('sealing anew holds the event loop for too long')
  } finally {
    child.send({ end: true } satisfies Ask)
    await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
}

function print(what: string, tookMs: number, { held, all, delays }: Busy): void {
  const { p50, p99, longest } = delays
  console.log(
    `${what}: ${(tookMs / 1_000).toFixed(1)} s, longest turn ${held.toFixed(1)} ms of CPU, main thread busy ${((all / tookMs) * 100).toFixed(0)} %, ` +
      `loop late by ${p50.toFixed(1)} ms at p50, ${p99.toFixed(1)} at p99, ${longest.toFixed(1)} at most`,
  )
}
