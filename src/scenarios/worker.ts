import { enableCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { ThreadInput } from './play-suite.ts'

// A thread that plays its share of the files and answers once. It starts in half the time with what the process has
// compiled before, which must be asked for before anything is imported.
enableCompileCache()
const { playFiles } = await import('./play-file.ts')
const { parts, world, options } = workerData as ThreadInput
parentPort?.postMessage(playFiles(parts, world, options))
