/** A page with the older browser client and nothing else: a test calls its functions. `SERVICE` is written in by the bundler. */
import { Turnkey } from '@turnkey/sdk-browser'
import { EthereumWallet } from '@turnkey/wallet-stamper'
import { Buffer } from 'buffer/'

// Its stamper of wallets takes it for granted.
globalThis.Buffer = Buffer
const client = new Turnkey({
  apiBaseUrl: SERVICE.baseUrl,
  defaultOrganizationId: SERVICE.organizationId,
  rpId: 'localhost',
})
const session = await client.indexedDbClient()
await session.init()
globalThis.session = session
globalThis.passkey = client.passkeyClient()
globalThis.wallet = client.walletClient(new EthereumWallet())
globalThis.openFrame = async (name, iframeUrl) => {
  const iframeContainer = document.body
  globalThis[name] ??= await client.iframeClient({ iframeUrl, iframeContainer, iframeElementId: name })
}
globalThis.client = client
