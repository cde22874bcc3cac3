/**
 * Chain: from a mnemonic to keys, from keys to addresses, for every curve and address format of the API, and from the
 * bytes of a transaction to the facts that policies judge, and to the signed bytes. Keeps no wallet and no key; it knows
 * the standards (BIP-32, -39, -44, -174, -340, SLIP-0010, EIP-155 to -7702), not who may use them.
 * Relies on the scure and noble libraries for what a standard says, and on crypto for P-256.
 */

export { type AccountSpec, checkAccount } from './account.ts'
export { type AddressWriter, isEthereumAddress, isTronAddress, misspelledAs, type PublicKey } from './address.ts'
export {
  type AddressFormat,
  type AddressFormatRow,
  addressFormatByName,
  addressFormatRow,
  addressFormats,
  isAddressFormat,
} from './address-formats.ts'
export { addressSpellings } from './address-spellings.ts'
export { chainName, normalizeCaip2 } from './caip2.ts'
export { confirmationsOf } from './confirmations.ts'
export { type Curve, type CurveRow, curveByName, curves, isCurve } from './curves.ts'
export { ChainError, UnreadableTransaction, UnsupportedTransaction } from './error.ts'
export { feeCapOf } from './fee-caps.ts'
export {
  FEE_HISTORY_CALL,
  FEE_MULTIPLE,
  type FeeHistory,
  feeCeilingOf,
  mostOfUsual,
  type UsualFees,
  usualFeesOf,
} from './fee-ceiling.ts'
export {
  createMnemonic,
  type MnemonicLanguage,
  normalizeMnemonic,
  translateMnemonic,
  WORD_COUNTS,
  type WordCount,
} from './mnemonic.ts'
export { isSameAddress, type Namespace, namespaceOf, namespaceOfAddress, namespaces } from './namespaces.ts'
export { normalizePath } from './path.ts'
export { addressOf, checkAddressFormat, createPrivateKey, openPrivateKey, type StandAloneKey } from './private-key.ts'
export { outcomeByReceiptsRoot, type RpcBlockReceipt } from './receipts-root.ts'
export { type Authorization, authorizationItem, signAuthorization } from './signing/authorization.ts'
export {
  type EthereumFields,
  encodeEthereum,
  encodeSignedEthereum,
  ethereumDigest,
  withFees,
} from './signing/ethereum.ts'
export {
  DOMAIN_QUERY,
  decodeDomain,
  type ExecutedCall,
  type Execution,
  type ExecutionDomain,
  encodeExecution,
  encodeGetNonce,
  executionDigest,
} from './signing/gas-station.ts'
export { payloadBytes, type RawPayload } from './signing/payload.ts'
export { encodeRlp, rlpNumber } from './signing/rlp-encoding.ts'
export { checkSigner, signTransaction } from './signing/sign-transaction.ts'
export { type KeyAtHand, type KeyByAddress, signBytes } from './signing/signing-key.ts'
export { encodeSignedSolana, solanaMessageOf, solanaSignatureOf } from './signing/solana.ts'
export { isOnCurve, isSolanaAddress } from './solana-address.ts'
export {
  mostOfUnitPrice,
  SOLANA_PAYMENT_CAP,
  solanaPaymentFee,
  unitPriceWithin,
  usualUnitPriceOf,
  withSolanaFee,
} from './solana-fees.ts'
export { checkInterface, INTERFACE_MAX_BYTES } from './transactions/check-interface.ts'
export { encodeTransfer, transferInterface } from './transactions/erc20.ts'
export { ethereumHash, ethereumSender } from './transactions/ethereum-sender.ts'
export { decodeProgramError, type ProgramError } from './transactions/idl-errors.ts'
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
export { decodeRevert, type RevertReason } from './transactions/revert.ts'
export { isSendActivity, readSendFacts, type SendFacts, type SendIntent, solanaSendBytes } from './transactions/send.ts'
export { isFormOf } from './transactions/solana-alike.ts'
export {
  type ComputeBudget,
  checkSolanaSigners,
  checkSolanaSize,
  MAX_SOLANA_BYTES,
  NO_BLOCKHASH,
  readSolanaDraft,
  type SolanaDraft,
  withBlockhash,
  withComputeBudget,
} from './transactions/solana-draft.ts'
export {
  encodeSolanaPayment,
  readSolanaPayment,
  type SolanaPayment,
  type SolanaToken,
  solanaBudgetWithin,
  tokenAccountOf,
} from './transactions/solana-payment.ts'
export {
  COMPUTE_BUDGET_PROGRAM,
  MAX_COMPUTE_UNITS,
  TOKEN_PROGRAMS,
  type TokenProgram,
} from './transactions/solana-programs.ts'
export {
  checkSolanaSponsored,
  type Prefund,
  placeAsAsked,
  prefundsOf,
  SOLANA_SIGNATURE_FEE,
  solanaFee,
  sumOfPrefunds,
  withFeePayer,
  withPrefunds,
} from './transactions/solana-sponsorship.ts'
export { type Account, deriveAccount, openWallet, type Wallet } from './wallet.ts'
