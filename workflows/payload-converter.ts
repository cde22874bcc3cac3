/** The payload converter of the bundle of workflows; what is outside has its own in `src/worker`. */
import { createSealedConverter } from './sealed.ts'

export const payloadConverter = createSealedConverter('workflow')
