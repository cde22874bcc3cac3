import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'

// A thread beside the soak: an input that never ends keeps the main thread from noticing anything itself.
const { taken, mostMs } = workerData as { readonly taken: Int32Array; readonly mostMs: number }
let last = -1
setInterval(() => {
  const now = Atomics.load(taken, 0)
  if (now === last) {
    writeSync(2, `input ${now} did not end within ${mostMs} ms\n`)
    process.kill(process.pid, 'SIGKILL')
  }
  last = now
}, mostMs)
