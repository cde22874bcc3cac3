/**
 * Signing: opens the key of a wallet account or a private key for one signature, and reads what is signed into facts.
 */
export { readContractInterfaces, readDecoded, readSend, readSendRequest } from './contract-interfaces.ts'
export { orRefuse } from './refusals.ts'
export {
  findSigner,
  lookForSigner,
  namedKey,
  openKey,
  openStoredMnemonic,
  openStoredWallet,
  type SealedSigner,
  signerFacts,
  signerOfAccount,
  signerOfPrivateKey,
  walletFacts,
  withSigningKey,
} from './signer.ts'
