import { createP256Signer } from '../../crypto/index.ts'
import { encodeHex, encodeUtf8, type JsonObject } from '../../encoding/index.ts'
import type { HandlerContext } from '../engine/index.ts'
import { openServiceKey, type ServiceKeyName } from '../keys/index.ts'

/**
 * Signs what the service says about keys by the key that clients pin (docs/protocol/bundles.md#export-bundles): JSON
 * whose `data` is the hex of the JSON given, its members in their order. Clients compare the key in it as text.
 */
export async function signBundle(
  { tx, unseal }: HandlerContext,
  content: JsonObject,
  by: ServiceKeyName = 'signer',
): Promise<string> {
  const { publicKey, privateKey } = await openServiceKey(tx, unseal, by)
  const data = encodeUtf8(JSON.stringify(content))
  return JSON.stringify({
    version: 'v1.0.0',
    data: encodeHex(data),
    dataSignature: createP256Signer(privateKey).sign(data),
    enclaveQuorumPublic: publicKey,
  })
}
