import { parentPort, workerData } from 'node:worker_threads'
import { playFiles } from './play-file.ts'
import type { Share } from './play-suite.ts'

// A thread that plays its share of the files and answers once.
const { sources, world, options } = workerData as Share
parentPort?.postMessage(playFiles(sources, world, options))
