import { Secret } from '../src/telemetry/index.ts'
import { createPayloadSeal } from '../src/worker/index.ts'

/** The key that tests seal payloads with; recorded histories are opened with it for ever. */
export const TEST_PAYLOAD_KEY = '7e'.repeat(32)

export const testSeal = createPayloadSeal([new Secret(TEST_PAYLOAD_KEY)])
