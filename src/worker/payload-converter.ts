/** The converters outside of workflows, in a file as Temporal's worker wants them. */
import { createSealedConverter } from '../../workflows/sealed.ts'

export const payloadConverter = createSealedConverter('outside')
export { failureConverter } from '../../workflows/sealed.ts'
