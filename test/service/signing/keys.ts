import type { Wire } from '../../../src/protocol/index.ts'
import { complete, fresh } from '../handlers/steps.ts'
import type { TestClient } from '../harness.ts'

/** An account in the order of its parts: curve, address format, path. */
export type AccountShape = readonly [Wire.Curve, Wire.AddressFormat, string]

export const ETHEREUM: AccountShape = ['CURVE_SECP256K1', 'ADDRESS_FORMAT_ETHEREUM', "m/44'/60'/0'/0/0"]
export const SOLANA: AccountShape = ['CURVE_ED25519', 'ADDRESS_FORMAT_SOLANA', "m/44'/501'/0'/0'"]

export function accountsOf(...shapes: readonly AccountShape[]) {
  return shapes.map(([curve, addressFormat, path]) => ({
    curve,
    addressFormat,
    path,
    pathFormat: 'PATH_FORMAT_BIP32' as const,
  }))
}

/** Makes a wallet and returns its id, and each account with its public key. */
export async function makeWallet(client: TestClient, ...shapes: readonly AccountShape[]) {
  const parameters = { walletName: fresh('wallet'), accounts: accountsOf(...shapes) }
  const { walletId } = await complete(client, 'ACTIVITY_TYPE_CREATE_WALLET', parameters)
  const { accounts } = await client.query('list_wallet_accounts', { walletId })
  return { walletId, accounts: accounts as readonly (Wire.WalletAccount & { publicKey: string })[] }
}
