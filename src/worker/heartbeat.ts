import type { Context } from '@temporalio/activity'
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker'

const EVERY_MS = 1_000

/**
 * Beats for every running Temporal activity, so that the server notices a killed worker in seconds and gives the step
 * to another one. Local ones need none: their workflow task ends with the worker.
 */
export function createHeartbeat(context: Context): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      if (context.info.isLocal) return next(input)
      const beat = setInterval(() => context.heartbeat(), EVERY_MS)
      try {
        return await next(input)
      } finally {
        clearInterval(beat)
      }
    },
  }
}
