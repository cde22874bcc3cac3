import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { taskQueueOf } from '../../operations/index.ts'
import { routeTemporalLogs } from '../../worker/index.ts'
import { findPlace } from '../background/connect.ts'
import { findTemporalServer } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { writeJsonLine } from '../io.ts'
import { createLog } from '../logger.ts'
import { createOrganizationWorker } from '../organization-worker.ts'
import { line } from '../screen.ts'

/** Runs a worker until SIGINT or SIGTERM; what it had under way goes on in the next one. */
export async function worker(input: CommandInput): Promise<ExitCode> {
  const { io, json, settings } = input
  const { logger, sink } = createLog()
  await routeTemporalLogs(logger)
  const place = await findPlace(input)
  const temporal = await findTemporalServer(input, place)
  const running = await createOrganizationWorker(temporal, place, settings, { logger })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => running.shutdown())
  const facts = {
    pid: process.pid,
    temporal: temporal.address,
    taskQueue: taskQueueOf(place.organizationId),
    baseUrl: place.baseUrl,
    publicKey: place.key.publicKey,
  }
  if (json) writeJsonLine(io, { ready: true, ...facts })
  else io.say(line`The worker polls ${facts.taskQueue} at ${temporal.address}. Ctrl-C stops it.\n`)
  await running.run()
  await temporal.close()
  await sink.close()
  return EXIT.done
}
