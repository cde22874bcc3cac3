import { entropyToMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import type { RandomBytes } from '../crypto/index.ts'
import { encodeHex } from '../encoding/index.ts'
import { type AccountSpec, checkDerivation } from './account.ts'
import { type AddressFormat, addressFormatRow } from './address-formats.ts'
import type { Curve } from './curves.ts'
import { deriveKey } from './derivation.ts'
import { ChainError } from './error.ts'
import { parsePath } from './path.ts'

/** The lengths of a mnemonic that BIP-39 has. */
export const WORD_COUNTS = [12, 15, 18, 21, 24] as const
export type WordCount = (typeof WORD_COUNTS)[number]

/** An account's address, and its public key in hex: compressed, or 32 bytes for Ed25519. */
export interface Account {
  readonly address: string
  readonly publicKey: string
}

/** A wallet whose seed is at hand. */
export interface Wallet {
  /** Derives one account. Throws `ChainError` with the API's text for one that `checkAccount` refuses. */
  derive(account: AccountSpec): Account
}

/** Makes a mnemonic of English words (BIP-39): three words for every four bytes of entropy. */
export function createMnemonic(wordCount: WordCount, randomBytes: RandomBytes): string {
  if (!WORD_COUNTS.includes(wordCount)) {
    throw new ChainError(`expected ${WORD_COUNTS.join(', ')} words, got ${wordCount}`)
  }
  return entropyToMnemonic(randomBytes((wordCount / 3) * 4), wordlist)
}

/**
 * Opens the wallet of a mnemonic, without a passphrase. The seed takes 2048 rounds of PBKDF2 (BIP-39) and is computed
 * once, here; deriving accounts is cheap beside it. Throws `ChainError` for words or a checksum that are wrong.
 */
export function openWallet(mnemonic: string): Wallet {
  if (!validateMnemonic(mnemonic, wordlist)) throw new ChainError('invalid mnemonic')
  const seed = mnemonicToSeedSync(mnemonic)
  return { derive: (account) => deriveFromSeed(seed, account) }
}

/** Derives one account of a mnemonic; for several, open the wallet once. */
export function deriveAccount(mnemonic: string, account: AccountSpec): Account {
  return openWallet(mnemonic).derive(account)
}

function deriveFromSeed(seed: Uint8Array, account: AccountSpec): Account {
  const refusal = checkDerivation(account)
  if (refusal) throw new ChainError(refusal)
  // The check above has established all three.
  const curve = account.curve as Curve
  const { publicKey } = deriveKey(seed, curve, parsePath(account.path)!)
  const address = addressFormatRow(account.addressFormat as AddressFormat).write({ curve, bytes: publicKey })
  return { address, publicKey: encodeHex(publicKey) }
}
