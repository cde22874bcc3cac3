import { ApplicationFailure } from '@temporalio/common'
import type { Logger } from '../src/telemetry/index.ts'
import { type ApplyActivities, createApplyActivities } from './apply.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { toFailure } from './failure.ts'
import { createInsideActivities, type InsideActivities } from './inside.ts'
import { createRotationActivities, type RotationActivities } from './rotations.ts'
import { createSendBatchActivities, type SendBatchActivities } from './send-batches.ts'
import { createSendActivities, type SendActivities } from './sends.ts'
import { createWatchActivities, type WatchActivities } from './watch.ts'

/** Everything that workflows may ask of the world. */
export type Activities = ApplyActivities &
  InsideActivities &
  SendActivities &
  SendBatchActivities &
  WatchActivities &
  RotationActivities

/** Builds the Temporal activities. They raise only `ApplicationFailure`, with `type` = our code. */
export function createActivities(deps: ActivityDependencies): Activities {
  const all = {
    ...createApplyActivities(deps),
    ...createInsideActivities(deps),
    ...createSendActivities(deps),
    ...createSendBatchActivities(deps),
    ...createWatchActivities(deps),
    ...createRotationActivities(deps),
  }
  return raisingFailures(all, deps.logger)
}

/** Wraps each function so that whatever it throws becomes the one kind of failure that workflows read. */
function raisingFailures(functions: Activities, logger: Logger): Activities {
  const wrapped = Object.entries(functions).map(([name, run]) => [
    name,
    async (input: never) => {
      try {
        return await run(input)
      } catch (error) {
        if (error instanceof ApplicationFailure) throw error
        const raised = toFailure(error)
        logger.warn('a step failed', { step: name, code: raised.type, message: raised.message })
        throw raised
      }
    },
  ])
  return Object.fromEntries(wrapped) as Activities
}
