import { Secret } from '../src/telemetry/index.ts'
import { createPayloadSeal } from '../src/worker/index.ts'

/** What tests seal payloads with; recorded histories are opened with it for ever. */
export const testSeal = createPayloadSeal([new Secret('7e'.repeat(32))])
