/** A page with the older browser client and nothing else: a test calls its functions. `SERVICE` is written in by the bundler. */
import { Turnkey } from '@turnkey/sdk-browser'

const client = new Turnkey({
  apiBaseUrl: SERVICE.baseUrl,
  defaultOrganizationId: SERVICE.organizationId,
  rpId: 'localhost',
})
const session = await client.indexedDbClient()
await session.init()
globalThis.session = session
globalThis.passkey = client.passkeyClient()
globalThis.client = client
