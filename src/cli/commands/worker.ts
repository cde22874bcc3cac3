import { join } from 'node:path'
import { createPlanStore } from '../../../activities/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { taskQueueOf } from '../../operations/index.ts'
import { openMonitor, routeTemporalLogs } from '../../worker/index.ts'
import { findPlace } from '../background/connect.ts'
import { findTemporalServer } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { writeJsonLine } from '../io.ts'
import { createLog } from '../logger.ts'
import { createOrganizationWorker } from '../organization-worker.ts'
import { readPort } from '../ports.ts'
import { line } from '../screen.ts'

/**
 * Runs a worker until SIGINT or SIGTERM. It takes nothing new then and ends the steps that it is at; what it had under way goes
 * on in the next one.
 */
export async function worker(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const port = readPort(options['metricsPort'], '--metrics-port')
  const { logger, sink } = createLog()
  await routeTemporalLogs(logger)
  const place = await findPlace(input)
  const { organizationId, baseUrl } = place
  const temporal = await findTemporalServer(input, place)
  const taskQueue = taskQueueOf(organizationId)
  const { watches } = createPlanStore(join(settings.dataDir, 'plans'))
  const monitor =
    port === undefined ? undefined : await openMonitor({ port, temporal, taskQueue, baseUrl, organizationId, watches })
  const counted = monitor ? { onStep: monitor.onStep } : {}
  const running = await createOrganizationWorker(temporal, place, settings, { logger, ...counted })
  monitor?.observe(running)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => running.shutdown())
  const urls = monitor && { healthUrl: monitor.healthUrl, metricsUrl: monitor.metricsUrl }
  const facts = {
    pid: process.pid,
    temporal: temporal.address,
    taskQueue,
    baseUrl,
    publicKey: place.key.publicKey,
    ...urls,
  }
  const work = running.run()
  if (json) writeJsonLine(io, { ready: true, ...facts })
  else io.say(line`The worker polls ${facts.taskQueue} at ${temporal.address}. Ctrl-C stops it.\n`)
  if (!json && urls)
    io.say(line`Its metrics are at ${urls.metricsUrl} and its health at ${urls.healthUrl}, for this machine alone.\n`)
  try {
    await work
  } finally {
    await monitor?.close()
  }
  await temporal.close()
  await sink.close()
  return EXIT.done
}
