import type { Context } from '@temporalio/activity'
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker'

/** A step that is over: which, how it ended, and how long it took. */
export type OnStep = (step: { readonly name: string; readonly outcome: 'done' | 'failed'; readonly ms: number }) => void

/** Tells of every step that is over. */
export function createStepCount({ info }: Context, onStep: OnStep): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      const from = performance.now()
      const over = (outcome: 'done' | 'failed') =>
        onStep({ name: info.activityType, outcome, ms: performance.now() - from })
      try {
        const result = await next(input)
        over('done')
        return result
      } catch (error) {
        over('failed')
        throw error
      }
    },
  }
}
