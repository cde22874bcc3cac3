import { type ClientOptions, createSubmitClient, type SubmitClient, type Timing } from '../../src/client/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'

/** Waits take no time, and are over afterwards all the same: every attempt of a client is seen in milliseconds. */
function createHurry(): Timing {
  let skippedMs = 0
  return {
    now: () => Date.now() + skippedMs,
    sleep: async (ms) => {
      skippedMs += ms
    },
    random: () => 0,
  }
}

/** The product's own client, which does not wait between two attempts. */
export function impatientClient(
  options: Pick<ClientOptions, 'baseUrl' | 'organizationId' | 'attemptMs'> & { readonly privateKey: string },
): SubmitClient {
  const { privateKey, ...where } = options
  const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
  return createSubmitClient({ attemptMs: 5_000, ...where, stamper, timing: createHurry() })
}
