/** Google Cloud KMS, by its client library (cloud.google.com/kms/docs/reference/rest: `cryptoKeyVersions.asymmetricSign`). */
import { KEEPER_MS, loadClient } from '../keepers/index.ts'
import type { OpenKeeperKey } from './keeper-key.ts'

/** As much of `@google-cloud/kms` as is used. */
interface Library {
  readonly KeyManagementServiceClient: new (options?: object) => Client
}

interface Client {
  asymmetricSign(
    request: object,
    options: object,
  ): Promise<readonly [{ readonly signature?: Uint8Array | string | null }]>
}

/** `gcp-kms:projects/P/locations/L/keyRings/R/cryptoKeys/K/cryptoKeyVersions/N`, of `EC_SIGN_P256_SHA256`. Credentials are found as the library finds them. */
export const openGcpKmsKey: OpenKeeperKey = async (name, tools) => {
  const { KeyManagementServiceClient } = await loadClient<Library>('@google-cloud/kms', tools)
  // Over HTTP, as all else that is asked, and not over gRPC.
  const client = new KeyManagementServiceClient({ fallback: true })
  return async (sha256) => {
    const [{ signature }] = await client.asymmetricSign({ name, digest: { sha256 } }, { timeout: KEEPER_MS })
    return typeof signature === 'string' ? Buffer.from(signature, 'base64') : (signature ?? new Uint8Array())
  }
}
