import type { ActivityInboundCallsInterceptor } from '@temporalio/worker'

/** Puts a step's result into an object, so that no result at all is told from one: anybody can answer a step with nothing. */
export const wrapResult: ActivityInboundCallsInterceptor = {
  async execute(input, next) {
    return { result: await next(input) }
  },
}
