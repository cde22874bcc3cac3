/**
 * A service as a process of its own, for tests that kill it or watch it: `serving.ts <data folder> [tampering]`. Prints one
 * line of JSON when it answers, or the error on stderr with exit code 1.
 */
import { renderError } from '../../src/diagnostics/index.ts'
import { createService } from '../../src/service/index.ts'
import { type Tampering, tamper } from './tamper.ts'

const [dataDir, tampering] = process.argv.slice(2)
try {
  if (tampering) tamper(tampering as Tampering)
  const service = await createService({ dataDir: dataDir! })
  process.stdout.write(`${JSON.stringify({ url: service.url, pid: process.pid })}\n`)
  process.on('SIGTERM', () => void service.close().then(() => process.exit(0)))
} catch (error) {
  process.stderr.write(`${renderError(error)}\n`)
  process.exit(1)
}
