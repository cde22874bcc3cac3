import { Secret } from '../src/telemetry/index.ts'
import { createPayloadSeal } from '../src/worker/index.ts'
import { TEST_PAYLOAD_KEY } from './payload-key.ts'

export const testSeal = createPayloadSeal([new Secret(TEST_PAYLOAD_KEY)])
