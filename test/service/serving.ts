/**
 * A service as a process of its own, for tests that kill it or watch it: `serving.ts <data folder> <settings as JSON>`. Prints
 * one line of JSON when it answers, or the error on stderr with exit code 1; at SIGUSR2 a line with its memory.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { renderError } from '../../src/diagnostics/index.ts'
import { createService } from '../../src/service/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { clockOf, type Memory, type ServingSettings } from './process.ts'
import { tamper } from './tamper.ts'

const [dataDir, settings = '{}'] = process.argv.slice(2)
try {
  const { tampering, clock, databaseUrl, ...options } = JSON.parse(settings) as ServingSettings
  if (tampering) tamper(tampering)
  else process.on('SIGUSR2', () => process.stdout.write(`${JSON.stringify(memory())}\n`))
  const time = clock ? clockOf(clock) : (now: number) => now
  const service = await createService({
    dataDir: dataDir!,
    ...(databaseUrl === undefined ? {} : { database: { url: new Secret(databaseUrl), connections: 4 } }),
    ...options,
    clock: () => time(Date.now()),
  })
  process.stdout.write(`${JSON.stringify({ url: service.url, pid: process.pid })}\n`)
  process.on('SIGTERM', () => void service.close().then(() => process.exit(0)))
} catch (error) {
  process.stderr.write(`${renderError(error)}\n`)
  process.exit(1)
}

function memory(): Memory {
  setFlagsFromString('--expose-gc')
  // Twice: what waits to be finalized goes with the second.
  for (let time = 0; time < 2; time++) runInNewContext('gc')()
  const { rss, heapUsed, external } = process.memoryUsage()
  const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20)
  return { resident: megabytes(rss), used: megabytes(heapUsed + external) }
}
