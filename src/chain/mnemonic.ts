import { pbkdf2Sync } from 'node:crypto'
import { entropyToMnemonic, mnemonicToEntropy, validateMnemonic } from '@scure/bip39'
import { wordlist as czech } from '@scure/bip39/wordlists/czech.js'
import { wordlist as english } from '@scure/bip39/wordlists/english.js'
import { wordlist as french } from '@scure/bip39/wordlists/french.js'
import { wordlist as italian } from '@scure/bip39/wordlists/italian.js'
import { wordlist as japanese } from '@scure/bip39/wordlists/japanese.js'
import { wordlist as korean } from '@scure/bip39/wordlists/korean.js'
import { wordlist as simplifiedChinese } from '@scure/bip39/wordlists/simplified-chinese.js'
import { wordlist as spanish } from '@scure/bip39/wordlists/spanish.js'
import { wordlist as traditionalChinese } from '@scure/bip39/wordlists/traditional-chinese.js'
import type { RandomBytes } from '../crypto/index.ts'
import { encodeUtf8 } from '../encoding/index.ts'
import { ChainError } from './error.ts'

/** The lengths of a mnemonic that BIP-39 has. */
export const WORD_COUNTS = [12, 15, 18, 21, 24] as const
export type WordCount = (typeof WORD_COUNTS)[number]

/** The languages that a mnemonic can be shown in (docs/protocol/keys.md#export); a wallet itself has English words. */
const languages = {
  MNEMONIC_LANGUAGE_ENGLISH: english,
  MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE: simplifiedChinese,
  MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE: traditionalChinese,
  MNEMONIC_LANGUAGE_CZECH: czech,
  MNEMONIC_LANGUAGE_FRENCH: french,
  MNEMONIC_LANGUAGE_ITALIAN: italian,
  MNEMONIC_LANGUAGE_JAPANESE: japanese,
  MNEMONIC_LANGUAGE_KOREAN: korean,
  MNEMONIC_LANGUAGE_SPANISH: spanish,
} as const
export type MnemonicLanguage = keyof typeof languages

/** Makes a mnemonic of English words (BIP-39): three words for every four bytes of entropy. */
export function createMnemonic(wordCount: WordCount, randomBytes: RandomBytes): string {
  if (!WORD_COUNTS.includes(wordCount)) {
    throw new ChainError(`expected ${WORD_COUNTS.join(', ')} words, got ${wordCount}`)
  }
  return entropyToMnemonic(randomBytes((wordCount / 3) * 4), english)
}

/**
 * Brings a mnemonic that somebody gives into the form that is kept: English words of single blanks, and after a line break
 * the passphrase, if there is one (docs/protocol/keys.md#wallets). Throws `ChainError` for words or a checksum that are
 * wrong.
 */
export function normalizeMnemonic(text: string): string {
  const [words, passphrase] = split(text)
  const normal = words.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ')
  if (!validateMnemonic(normal, english)) throw new ChainError('invalid mnemonic')
  return passphrase === '' ? normal : `${normal}\n${passphrase}`
}

/**
 * Says the same entropy in the words of another language. Those words give another seed (BIP-39 hashes the words): only the
 * English ones lead to the wallet's accounts.
 */
export function translateMnemonic(text: string, language: MnemonicLanguage): string {
  const [words, passphrase] = split(text)
  const translated = entropyToMnemonic(mnemonicToEntropy(words, english), languages[language])
  return passphrase === '' ? translated : `${translated}\n${passphrase}`
}

/** Computes the seed of a mnemonic in the form that is kept: 2048 rounds of PBKDF2 with HMAC-SHA512, 64 bytes (BIP-39). */
export function seedOf(text: string): Uint8Array {
  const [words, passphrase] = split(text)
  const secret = encodeUtf8(words.normalize('NFKD'))
  try {
    return pbkdf2Sync(secret, `mnemonic${passphrase.normalize('NFKD')}`, 2048, 64, 'sha512')
  } finally {
    secret.fill(0)
  }
}

function split(text: string): readonly [words: string, passphrase: string] {
  const end = text.indexOf('\n')
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)]
}
