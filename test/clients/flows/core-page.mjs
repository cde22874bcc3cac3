/** A page with the published client and nothing else: a test calls its functions. `SERVICE` is written in by the bundler. */
import { StamperType, TurnkeyClient } from '@turnkey/core'

const client = new TurnkeyClient({
  apiBaseUrl: SERVICE.baseUrl,
  organizationId: SERVICE.organizationId,
  authProxyUrl: SERVICE.authProxyUrl,
  authProxyConfigId: SERVICE.authProxyConfigId,
  passkeyConfig: {},
  walletConfig: { features: { auth: true }, chains: { ethereum: { native: true }, solana: { native: true } } },
  // The user's other factor is a passkey.
  onMfaRequired: ({ organizationId, fingerprint }) =>
    client.httpClient.approveActivity({ organizationId, fingerprint }, StamperType.Passkey),
})
await client.init()
globalThis.client = client
