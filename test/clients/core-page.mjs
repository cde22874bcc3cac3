/** A page with the published client and nothing else: a test calls its functions. `SERVICE` is written in by the bundler. */
import { TurnkeyClient } from '@turnkey/core'

const client = new TurnkeyClient({
  apiBaseUrl: SERVICE.baseUrl,
  organizationId: SERVICE.organizationId,
  authProxyUrl: SERVICE.authProxyUrl,
  authProxyConfigId: SERVICE.authProxyConfigId,
  passkeyConfig: {},
})
await client.init()
globalThis.client = client
