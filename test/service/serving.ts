/**
 * A service as a process of its own, for tests that kill it or watch it: `serving.ts <data folder>`. Prints one line of
 * JSON when it answers, or the error on stderr with exit code 1.
 */
import { renderError } from '../../src/diagnostics/index.ts'
import { createService } from '../../src/service/index.ts'

try {
  const service = await createService({ dataDir: process.argv[2]! })
  process.stdout.write(`${JSON.stringify({ url: service.url, pid: process.pid })}\n`)
  process.on('SIGTERM', () => void service.close().then(() => process.exit(0)))
} catch (error) {
  process.stderr.write(`${renderError(error)}\n`)
  process.exit(1)
}
