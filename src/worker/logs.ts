import type { Logger } from '../telemetry/index.ts'

/**
 * Sends what Temporal's worker runtime says, warnings and worse, to our logger. The runtime is one for the process:
 * call it once, before anything connects.
 */
export async function routeTemporalLogs(logger: Logger): Promise<void> {
  const { DefaultLogger, Runtime } = await import('@temporalio/worker')
  const speak = { TRACE: logger.debug, DEBUG: logger.debug, INFO: logger.info, WARN: logger.warn, ERROR: logger.error }
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // Metadata may hold inputs and causes; only what names the work is passed on.
      const { workflowId, activityType, taskQueue } = (meta ?? {}) as Readonly<Record<string, unknown>>
      speak[level].call(logger, message, { from: 'temporal', workflowId, activityType, taskQueue })
    }),
  })
}
