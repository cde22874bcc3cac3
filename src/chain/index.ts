/**
 * Chain: from a mnemonic to keys, and from keys to addresses, for every curve and address format of the API. Keeps no
 * wallet and signs nothing; it knows the standards (BIP-32, -39, -44, SLIP-0010), not who may use them.
 * Relies on the scure and noble libraries for what a standard says, and on crypto for P-256.
 */

export { type AccountSpec, checkAccount } from './account.ts'
export type { AddressWriter, PublicKey } from './address.ts'
export {
  type AddressFormat,
  type AddressFormatRow,
  addressFormatByName,
  addressFormatRow,
  addressFormats,
  isAddressFormat,
} from './address-formats.ts'
export { type Curve, type CurveRow, curveByName, curves, isCurve } from './curves.ts'
export { ChainError } from './error.ts'
export { normalizePath } from './path.ts'
export {
  type Account,
  createMnemonic,
  deriveAccount,
  openWallet,
  type Wallet,
  WORD_COUNTS,
  type WordCount,
} from './wallet.ts'
