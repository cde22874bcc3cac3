import { checkAccount, normalizePath } from '../../chain/index.ts'
import { encodeHex } from '../../encoding/index.ts'
import { apiError, REQUEST_LIMITS, type Wire } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/handler.ts'
import { accountKeyPlace } from '../signing/sealed-places.ts'
import { openStoredWallet } from '../signing/signer.ts'
import { insertAccountKeys } from '../store/wallet-account-keys.ts'
import { insertWalletAccounts, listAccountsOfWallet } from '../store/wallet-accounts.ts'

/** Throws the API's literal text for the first account that cannot be derived, or that the request names twice. */
export function checkAccounts(accounts: readonly Wire.WalletAccountParams[]): void {
  const seen = new Set<string>()
  const levels = accounts.reduce((sum, { path }) => sum + path.split('/').length - 1, 0)
  if (levels > REQUEST_LIMITS.pathLevels) {
    const most = `its paths must have at most ${REQUEST_LIMITS.pathLevels} levels together, got ${levels}`
    throw apiError('invalidField', 'accounts', most)
  }
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
  const wallet = await openStoredWallet(context, walletId)
  try {
    if (!options.persist) return accounts.map((account) => wallet.derive(account).address)
    const derived = accounts.map((account) => ({ id: context.newId(), account, key: wallet.deriveKey(account) }))
    const rows = derived.map(({ id, account, key }) => ({
      id,
      wallet_id: walletId,
      curve: account.curve,
      path_format: account.pathFormat,
      // Kept in its normal form: two spellings of one path are one account.
      path: normalizePath(account.path),
      address_format: account.addressFormat,
      address: key.address,
      public_key: encodeHex(key.publicKey),
      name: account.name || null,
      created_at: now,
      updated_at: now,
    }))
    const keys = derived.map(({ id, key }) => ({ account_id: id, ...sealKey(context, id, key.privateKey) }))
    await insertWalletAccounts(tx, organizationId, rows)
    await insertAccountKeys(tx, keys)
    return rows.map(({ address }) => address)
  } finally {
    wallet.close()
  }
}

/** Seals the key of an account by itself: signing then takes neither the words nor a derivation. */
function sealKey({ organizationId, seal }: HandlerContext, accountId: string, privateKey: Uint8Array) {
  return { organization_id: organizationId, sealed_private_key: seal(privateKey, accountKeyPlace(accountId)) }
}

/** What may be there once in a wallet: a path for an address format (facts: chain §1). */
function slotOf({ path, addressFormat }: { readonly path: string; readonly addressFormat: string }): string {
  return `${addressFormat} ${normalizePath(path)}`
}
