import type { SealedPlace } from './sealing.ts'

/** Where a wallet's mnemonic stands sealed. */
export function mnemonicPlace(walletId: string): SealedPlace {
  return { table: 'wallets', id: walletId, column: 'sealed_mnemonic' }
}

/** Where a private key stands sealed. */
export function privateKeyPlace(keyId: string): SealedPlace {
  return { table: 'private_keys', id: keyId, column: 'sealed_private_key' }
}

/** Where the key of a wallet account stands sealed. */
export function accountKeyPlace(accountId: string): SealedPlace {
  return { table: 'wallet_account_keys', id: accountId, column: 'sealed_private_key' }
}

/** Where a client's secret stands sealed. */
export function secretPlace(secretId: string): SealedPlace {
  return { table: 'secrets', id: secretId, column: 'sealed_secret' }
}

/** Where the body of a webhook that tells of a secret request stands sealed, also once its delivery was given up. */
export function webhookBodyPlace(eventId: string): SealedPlace {
  return { table: 'webhook_deliveries', id: eventId, column: 'body' }
}

/** Where the key of an organization's authentication proxy stands sealed. */
export function authProxyKeyPlace(organizationId: string): SealedPlace {
  return { table: 'auth_proxies', id: organizationId, column: 'sealed_private_key' }
}
