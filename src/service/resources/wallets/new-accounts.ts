import { type AccountSpec, checkAccount, normalizePath } from '../../../chain/index.ts'
import { apiError, apiErrorAt, REQUEST_LIMITS, type Wire } from '../../../protocol/index.ts'
import type { ExecutionContext, HandlerContext } from '../../engine/index.ts'
import { accountKeyPlace } from '../../keys/index.ts'
import { openStoredMnemonic } from '../../signing/index.ts'
import { insertAccountKeys } from './account-keys-store.ts'
import { insertWalletAccounts, listAccountsOfWallet } from './accounts-store.ts'

/** Throws the API's literal text for the first account that cannot be derived, or that the request names twice. */
export function checkAccounts(accounts: readonly Wire.WalletAccountParams[]): void {
  const seen = new Set<string>()
  const levels = levelsOf(accounts)
  if (levels > REQUEST_LIMITS.pathLevels) {
    const most = `its paths must have at most ${REQUEST_LIMITS.pathLevels} levels together, got ${levels}`
    throw apiError('invalidField', 'accounts', most)
  }
  for (const [index, account] of accounts.entries()) {
    const refusal = checkAccount(account)
    if (refusal !== undefined) throw apiErrorAt(`accounts[${index}]`, 'requestInvalid', refusal)
    const key = slotOf(account)
    if (seen.has(key)) throw apiErrorAt(`accounts[${index}].path`, 'invalidPath')
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
  context: ExecutionContext,
  walletId: string,
  accounts: readonly Wire.WalletAccountParams[],
  options: { readonly persist: boolean },
): Promise<string[]> {
  if (accounts.length === 0) return []
  const { tx, organizationId, now } = context
  const secret = await openStoredMnemonic(context, walletId)
  const weight = levelsOf(accounts) + accounts.length
  const derived = context.work.run('deriveAccounts', { secret, input: accounts.map(toSpec), weight })
  try {
    if (!options.persist) return derived.accounts.map(({ address }) => address)
    const rows = accounts.map((account, at) => ({
      id: context.newId(),
      wallet_id: walletId,
      curve: account.curve,
      path_format: account.pathFormat,
      // Kept in its normal form: two spellings of one path are one account.
      path: normalizePath(account.path),
      address_format: account.addressFormat,
      address: derived.accounts[at]!.address,
      public_key: derived.accounts[at]!.publicKey,
      name: account.name || null,
      created_at: now,
      updated_at: now,
    }))
    const keys = rows.map(({ id }, at) => {
      const privateKey = derived.privateKeys.slice(32 * at, 32 * (at + 1))
      return { account_id: id, ...sealKey(context, id, privateKey) }
    })
    await insertWalletAccounts(tx, organizationId, rows)
    await insertAccountKeys(tx, keys)
    for (const { path: derivationPath, address } of rows) {
      context.noteAddress({ organizationId, walletId, derivationPath, address })
    }
    return rows.map(({ address }) => address)
  } finally {
    derived.privateKeys.fill(0)
  }
}

function levelsOf(accounts: readonly Wire.WalletAccountParams[]): number {
  return accounts.reduce((sum, { path }) => sum + path.split('/').length - 1, 0)
}

function toSpec({ curve, path, addressFormat }: Wire.WalletAccountParams): AccountSpec {
  return { curve, path, addressFormat }
}

/** Seals the key of an account by itself: signing then takes neither the words nor a derivation. */
function sealKey({ organizationId, seal }: HandlerContext, accountId: string, privateKey: Uint8Array) {
  return { organization_id: organizationId, sealed_private_key: seal(privateKey, accountKeyPlace(accountId)) }
}

/** The key that may occur once in a wallet: a path with an address format (docs/protocol/keys.md#accounts). */
function slotOf({ path, addressFormat }: { readonly path: string; readonly addressFormat: string }): string {
  return `${addressFormat} ${normalizePath(path)}`
}
