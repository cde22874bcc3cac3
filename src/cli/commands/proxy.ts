import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { createAuthProxy } from '../../service/index.ts'
import type { CommandInput } from '../command.ts'
import { readDatabase } from '../database-options.ts'
import { writeJsonLine } from '../io.ts'
import { listOf, readIssuerOptions } from '../issuer-options.ts'
import { readLimits } from '../limits.ts'
import { readListening, reloadOnHangUp } from '../listening.ts'
import { createLog } from '../logger.ts'
import { readPort } from '../ports.ts'
import { readProxyOptions } from '../proxy-options.ts'
import { line } from '../screen.ts'
import { serviceFolder } from '../service-folder.ts'

/** Runs an authentication proxy beside a service until SIGINT or SIGTERM. */
export async function proxy(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const stopped = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
  const { baseUrl } = settings
  if (baseUrl === undefined) {
    throw new QuorateError('cli/usage', 'expected --base-url, the service to submit to', {
      next: 'name it as `bootstrap.json` in the folder of the service does',
    })
  }
  const log = createLog(options['logFile'] === undefined ? undefined : String(options['logFile']))
  const running = await createAuthProxy({
    dataDir: serviceFolder(input),
    database: readDatabase(input),
    keyKeeper: { environment: input.environment },
    baseUrl: baseUrl.replace(/\/$/, ''),
    ...readListening(input),
    port: readPort(options['port'], '--port'),
    metricsPort: readPort(options['metricsPort'], '--metrics-port'),
    logger: log.logger,
    limits: readLimits(options),
    trustedProxies: listOf(options['trustedProxy']),
    ...readIssuerOptions(input),
    ...readProxyOptions(input),
  })
  reloadOnHangUp(running)
  try {
    const { metricsUrl } = running
    const metrics = metricsUrl === undefined ? {} : { metricsUrl }
    if (json) writeJsonLine(io, { ready: true, pid: process.pid, authProxyUrl: running.url, baseUrl, ...metrics })
    else io.say(line`The authentication proxy answers at ${running.url} and submits to ${baseUrl}. Ctrl-C stops it.\n`)
    await stopped.promise
  } finally {
    await running.close()
    await log.sink.close()
  }
  return EXIT.done
}
