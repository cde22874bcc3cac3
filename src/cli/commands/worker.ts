import { join } from 'node:path'
import { createPlanStore } from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { createNewsTaker, taskQueueOf } from '../../operations/index.ts'
import { makeCurrent, openMonitor, routeTemporalLogs, VERSIONINGS, type WorkerVersion } from '../../worker/index.ts'
import { findPlace } from '../background/connect.ts'
import { findTemporalServer } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { writeJsonLine } from '../io.ts'
import { createLog } from '../logger.ts'
import { createOrganizationWorker } from '../organization-worker.ts'
import { readPort } from '../ports.ts'
import { line } from '../screen.ts'
import { listenForNews } from '../webhook-looks.ts'

/** The version that the options say. Throws `cli/usage`. */
function readVersion({ options }: CommandInput): Omit<WorkerVersion, 'deployment'> | undefined {
  const { buildId, versioning: word = 'auto-upgrade' } = options as Readonly<Record<string, string | undefined>>
  const fail = (message: string) => new QuorateError('cli/usage', message, { next: 'see `quorate worker --help`' })
  const versioning = VERSIONINGS.find((one) => one === word)
  if (!versioning) throw fail(line`expected --versioning to be auto-upgrade or pinned, got \`${word}\``)
  if (buildId !== undefined) {
    // A dot parts a deployment from its build in some of Temporal's texts.
    if (/^[\w-][\w.+-]{0,127}$/.test(buildId)) return { buildId, versioning }
    throw fail('expected --build-id to be letters, digits and `.`, `_`, `+`, `-`, such as a release or a commit')
  }
  if (options['current'] === true || options['versioning'] !== undefined)
    throw fail('expected --build-id with --versioning and --current')
  return undefined
}

/** All versions of an organization's workers share its task queue. */
const deploymentOf = (organizationId: string) => `quorate-${organizationId}`

/**
 * Runs a worker until SIGINT or SIGTERM. It takes nothing new then and ends the steps that it is at; what it had under way goes
 * on in the next one.
 */
export async function worker(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const port = readPort(options['metricsPort'], '--metrics-port')
  const versioned = readVersion(input)
  const webhookPort = readPort(options['webhookPort'], '--webhook-port')
  const { logger, sink } = createLog()
  await routeTemporalLogs(logger)
  // It goes on for as long as it is not ended: no deadline.
  const place = await findPlace({ settings, environment: input.environment, io }, { acts: true })
  const { organizationId, baseUrl } = place
  const temporal = await findTemporalServer(input, place)
  const taskQueue = taskQueueOf(organizationId)
  const { watches } = createPlanStore(join(settings.dataDir, 'plans'))
  const monitor =
    port === undefined ? undefined : await openMonitor({ port, temporal, taskQueue, baseUrl, organizationId, watches })
  const take = createNewsTaker({ client: temporal.client, organizationId, taskQueue, dataDir: settings.dataDir })
  const listen = (port: number) =>
    listenForNews({ port, baseUrl }, { take, logger }).catch(async (error: unknown) => {
      await monitor?.close()
      await temporal.close()
      throw error
    })
  const news = webhookPort === undefined ? undefined : await listen(webhookPort)
  const counted = monitor ? { onStep: monitor.onStep, onApply: monitor.onApply } : {}
  const told = monitor ? { ...place, onRefusal: monitor.onRefusal } : place
  const version = versioned && { ...versioned, deployment: deploymentOf(organizationId) }
  const running = await createOrganizationWorker(temporal, told, settings, {
    logger,
    ...counted,
    ...(version ? { version } : {}),
  })
  monitor?.observe(running)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => running.shutdown())
  const urls = monitor && { healthUrl: monitor.healthUrl, metricsUrl: monitor.metricsUrl }
  const { buildId } = version ?? {}
  const facts = {
    ...(version ? { deployment: version.deployment, buildId } : {}),
    pid: process.pid,
    temporal: temporal.address,
    taskQueue,
    baseUrl,
    publicKey: place.key.publicKey,
    ...urls,
    ...(news ? { webhookUrl: news.url } : {}),
  }
  const work = running.run()
  if (json) writeJsonLine(io, { ready: true, ...facts })
  else io.say(line`The worker polls ${facts.taskQueue} at ${temporal.address}. Ctrl-C stops it.\n`)
  if (!json && urls)
    io.say(line`Its metrics are at ${urls.metricsUrl} and its health at ${urls.healthUrl}, for this machine alone.\n`)
  if (!json && news) io.say(line`It takes webhooks at ${news.url}, and looks at once when one tells of a change.\n`)
  try {
    if (version && options['current'] === true) {
      const { client, namespace } = temporal
      await makeCurrent(client, { namespace, ...version }).catch(async (error: unknown) => {
        running.shutdown()
        await work
        throw error
      })
      logger.info('this version of the worker is the current one', { deployment: version.deployment, buildId })
    }
    await work
  } finally {
    await news?.close()
    await monitor?.close()
  }
  await temporal.close()
  await sink.close()
  return EXIT.done
}
