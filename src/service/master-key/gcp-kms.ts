/** Google Cloud KMS, by its client library (cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys/encrypt). */
import { KEEPER_MS, loadClient } from '../../keepers/index.ts'
import { type Keeper, type OpenKeeper, PURPOSE } from './keeper.ts'

/** As much of `@google-cloud/kms` as is used. */
interface Library {
  readonly KeyManagementServiceClient: new (options?: object) => Client
}

interface Client {
  encrypt(request: object, options: object): Promise<readonly [{ readonly ciphertext?: Uint8Array | string | null }]>
  decrypt(request: object, options: object): Promise<readonly [{ readonly plaintext?: Uint8Array | string | null }]>
  close(): Promise<void>
}

/** `gcp-kms:projects/P/locations/L/keyRings/R/cryptoKeys/K`. Credentials are found as the library finds them anywhere. */
export const openGcpKms: OpenKeeper = async (name, tools): Promise<Keeper> => {
  const { KeyManagementServiceClient } = await loadClient<Library>('@google-cloud/kms', tools)
  // Over HTTP, as all else that the service asks, and not over gRPC.
  const client = new KeyManagementServiceClient({ fallback: true })
  const additionalAuthenticatedData = Buffer.from(PURPOSE)
  const options = { timeout: KEEPER_MS }
  const bytes = (value: Uint8Array | string | null | undefined) =>
    typeof value === 'string' ? Buffer.from(value, 'base64') : (value ?? new Uint8Array())
  return {
    async wrap(plaintext) {
      const [{ ciphertext }] = await client.encrypt({ name, plaintext, additionalAuthenticatedData }, options)
      return bytes(ciphertext)
    },
    async unwrap(ciphertext) {
      const [{ plaintext }] = await client.decrypt({ name, ciphertext, additionalAuthenticatedData }, options)
      return bytes(plaintext)
    },
    close: () => void client.close(),
  }
}
