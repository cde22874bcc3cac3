/** The short form of a wallet in a sign-up, `{path, curve}`: one account (docs/protocol/auth-proxy.md#sign-ups). */
import { apiError, isJsonObject, type Json, type JsonObject } from '../../protocol/index.ts'

const NAME = 'Default Wallet'

/** Unstated: the address of a curve, where the short form does not say it. */
const ADDRESS_FORMATS: Readonly<Record<string, string>> = {
  CURVE_SECP256K1: 'ADDRESS_FORMAT_ETHEREUM',
  CURVE_ED25519: 'ADDRESS_FORMAT_SOLANA',
  CURVE_P256: 'ADDRESS_FORMAT_COMPRESSED',
}

/** Brings the wallet of a sign-up into its long form; all else stays as it is. */
export function expandWallet(body: Json): Json {
  if (!isJsonObject(body) || !isJsonObject(body['wallet'])) return body
  const { path, curve, accounts } = body['wallet']
  if (typeof path !== 'string' || accounts !== undefined) return body
  return { ...body, wallet: { walletName: NAME, accounts: [accountOf(path, String(curve))] } }
}

function accountOf(path: string, given: string): JsonObject {
  const curve = given.replace(/^CURVE_TYPE_/, 'CURVE_')
  const addressFormat = Object.hasOwn(ADDRESS_FORMATS, curve) ? ADDRESS_FORMATS[curve] : undefined
  if (addressFormat === undefined) {
    throw apiError('invalidField', 'wallet.curve', `must be one of ${Object.keys(ADDRESS_FORMATS).join(', ')}`)
  }
  return { curve, pathFormat: 'PATH_FORMAT_BIP32', path, addressFormat }
}
