/**
 * Chain: from a mnemonic to keys, from keys to addresses, for every curve and address format of the API, and from the
 * bytes of a transaction to the facts that policies judge. Keeps no wallet and signs nothing; it knows the standards
 * (BIP-32, -39, -44, -174, SLIP-0010, EIP-155 to -7702), not who may use them.
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
export { addressOf, checkAddressFormat, createPrivateKey, type StandAloneKey } from './private-key.ts'
export { checkInterface, INTERFACE_MAX_BYTES } from './transactions/check-interface.ts'
export type { SmartContractInterface } from './transactions/interfaces.ts'
export { readPayloadFacts } from './transactions/read-payload.ts'
export {
  isTransactionType,
  readTransactionFacts,
  type TransactionFacts,
  type TransactionRequest,
  type TransactionType,
} from './transactions/read-transaction.ts'
export type { Facts } from './transactions/refuse.ts'
export { isSendActivity, readSendFacts, type SendFacts, type SendIntent } from './transactions/send.ts'
export {
  type Account,
  createMnemonic,
  deriveAccount,
  openWallet,
  type Wallet,
  WORD_COUNTS,
  type WordCount,
} from './wallet.ts'
