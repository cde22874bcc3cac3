import { checkAccount, normalizePath, openWallet } from '../../chain/index.ts'
import { decodeUtf8 } from '../../encoding/index.ts'
import { apiError, type Wire } from '../../protocol/index.ts'
import type { HandlerContext, SealedPlace } from '../engine/handler.ts'
import { insertWalletAccounts, listAccountsOfWallet } from '../store/wallet-accounts.ts'
import { readSealedMnemonic } from '../store/wallets.ts'

/** Where a wallet's mnemonic stands sealed. */
export function mnemonicPlace(walletId: string): SealedPlace {
  return { table: 'wallets', id: walletId, column: 'sealed_mnemonic' }
}

/** Throws the API's literal text for the first account that cannot be derived, or that the request names twice. */
export function checkAccounts(accounts: readonly Wire.WalletAccountParams[]): void {
  const seen = new Set<string>()
  for (const account of accounts) {
    const refusal = checkAccount(account)
    if (refusal !== undefined) throw apiError('requestInvalid', refusal)
    const key = slotOf(account)
    if (seen.has(key)) throw apiError('invalidPath')
    seen.add(key)
  }
}

/** Throws code 6 when the wallet has one of these accounts already. */
export async function checkFreePaths(
  { tx, organizationId }: HandlerContext,
  walletId: string,
  accounts: readonly Wire.WalletAccountParams[],
): Promise<void> {
  const paths = accounts.map(({ path }) => normalizePath(path))
  const present = await listAccountsOfWallet(tx, organizationId, walletId, { paths })
  const taken = new Set(present.map((row) => slotOf({ path: row.path, addressFormat: row.address_format })))
  if (accounts.some((account) => taken.has(slotOf(account)))) throw apiError('pathExists', walletId)
}

/** Derives accounts of a wallet, keeps them unless told not to, and returns their addresses in the order given. */
export async function addAccounts(
  context: HandlerContext,
  walletId: string,
  accounts: readonly Wire.WalletAccountParams[],
  options: { readonly persist: boolean },
): Promise<string[]> {
  if (accounts.length === 0) return []
  const { tx, organizationId, now } = context
  const sealed = await readSealedMnemonic(tx, organizationId, walletId)
  const wallet = openWallet(decodeUtf8(context.unseal(sealed, mnemonicPlace(walletId))))
  const rows = accounts.map((account) => {
    const { address, publicKey } = wallet.derive(account)
    return {
      id: context.newId(),
      wallet_id: walletId,
      curve: account.curve,
      path_format: account.pathFormat,
      // Kept in its normal form: two spellings of one path are one account.
      path: normalizePath(account.path),
      address_format: account.addressFormat,
      address,
      public_key: publicKey,
      name: account.name || null,
      created_at: now,
      updated_at: now,
    }
  })
  if (options.persist) await insertWalletAccounts(tx, organizationId, rows)
  return rows.map(({ address }) => address)
}

/** What may be there once in a wallet: a path for an address format (facts: chain §1). */
function slotOf({ path, addressFormat }: { readonly path: string; readonly addressFormat: string }): string {
  return `${addressFormat} ${normalizePath(path)}`
}
