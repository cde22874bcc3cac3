/** The converters outside of workflows, in a file as Temporal's worker wants them. */
import type { Payload, PayloadConverter, SerializationContext } from '@temporalio/common'
import { createSealedConverter, PayloadRefused } from '../../workflows/sealed.ts'
import { keyMissing, payloadRefused } from './key-missing.ts'

const sealed = createSealedConverter('outside')

/** Throws `worker/payload-refused`, with the id of the key that is missing where one is. */
export const payloadConverter: PayloadConverter = {
  toPayload: sealed.toPayload,
  fromPayload<T>(payload: Payload, context?: SerializationContext): T {
    try {
      return sealed.fromPayload<T>(payload, context)
    } catch (error) {
      if (!(error instanceof PayloadRefused)) throw error
      throw error.missingKey === undefined ? payloadRefused(error.message) : keyMissing('a payload', error.missingKey)
    }
  },
}
export { failureConverter } from '../../workflows/sealed.ts'
