import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { mnemonicToEntropy, mnemonicToSeedSync } from '@scure/bip39'
import { wordlist as japaneseWords } from '@scure/bip39/wordlists/japanese.js'
import { describe, expect, test } from 'vitest'
import { deriveKey } from '../../src/chain/derivation.ts'
import {
  ChainError,
  type Curve,
  createMnemonic,
  deriveAccount,
  openWallet,
  translateMnemonic,
  WORD_COUNTS,
  type WordCount,
} from '../../src/chain/index.ts'
import { parsePath } from '../../src/chain/path.ts'
import { randomBytes, sha256 } from '../../src/crypto/index.ts'
import { decodeHex, encodeHex } from '../../src/encoding/index.ts'
import { readVectors } from '../vectors/read-vectors.ts'

const derive = (curve: Curve, seed: string, path: string) => {
  const { privateKey, publicKey } = deriveKey(decodeHex(seed), curve, path === 'm' ? [] : parsePath(path)!)
  return { privateKey: encodeHex(privateKey), publicKey: encodeHex(publicKey) }
}

/** The key at the end of an extended key (BIP-32, serialization format); a private one follows a zero. */
const extended = (text: string) => encodeHex(createBase58check(sha256).decode(text).subarray(-33)).replace(/^00/, '')

describe('BIP-32', () => {
  for (const { seed, path, xprv, xpub } of readVectors<Record<'seed' | 'path' | 'xprv' | 'xpub', string>>(
    'bip32/vectors.jsonl',
  )) {
    test(`BIP-32: ${path} of seed ${seed.slice(0, 6)}…`, () => {
      expect(derive('CURVE_SECP256K1', seed, path)).toEqual({ privateKey: extended(xprv), publicKey: extended(xpub) })
    })
  }
})

describe('SLIP-0010', () => {
  const curve: Readonly<Record<string, Curve>> = {
    secp256k1: 'CURVE_SECP256K1',
    nist256p1: 'CURVE_P256',
    ed25519: 'CURVE_ED25519',
  }
  const vectors =
    readVectors<Record<'curve' | 'seed' | 'path' | 'privateKey' | 'publicKey', string>>('slip10/vectors.jsonl')
  for (const { curve: name, seed, path, privateKey, publicKey } of vectors) {
    test(`SLIP-0010: ${name} ${path} of seed ${seed.slice(0, 6)}…`, () => {
      // The standard writes an Ed25519 key behind a zero byte.
      expect(derive(curve[name]!, seed, path)).toEqual({
        privateKey,
        publicKey: name === 'ed25519' ? publicKey.replace(/^00/, '') : publicKey,
      })
    })
  }
})

describe('BIP-39', () => {
  const vectors = readVectors<Record<'entropy' | 'mnemonic' | 'seed' | 'xprv', string>>('bip39/english.jsonl')
  for (const { entropy, mnemonic, seed, xprv } of vectors) {
    const count = mnemonic.split(' ').length as WordCount
    test(`BIP-39: the ${count} words of ${entropy.slice(0, 8)}…, and the master key of their seed`, () => {
      expect(createMnemonic(count, (length) => decodeHex(entropy).subarray(0, length))).toBe(mnemonic)
      expect(encodeHex(mnemonicToSeedSync(mnemonic, 'TREZOR'))).toBe(seed)
      expect(derive('CURVE_SECP256K1', seed, 'm').privateKey).toBe(extended(xprv))
      expect(() => openWallet(mnemonic)).not.toThrow()
    })
  }
})

describe('mnemonics', () => {
  for (const count of WORD_COUNTS) {
    test(`mnemonic: ${count} words are made, open a wallet, and are never the same twice`, () => {
      const [one, other] = [createMnemonic(count, randomBytes), createMnemonic(count, randomBytes)]
      expect(one.split(' ')).toHaveLength(count)
      expect(one).not.toBe(other)
      expect(() => openWallet(one)).not.toThrow()
    })
  }

  test('mnemonic: another number of words is refused', () => {
    expect(() => createMnemonic(13 as WordCount, randomBytes)).toThrow('expected 12, 15, 18, 21, 24 words, got 13')
  })

  const good = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
  for (const { name, words } of [
    { name: 'a wrong checksum', words: good.replace('yellow', 'year') },
    { name: 'a word of no list', words: good.replace('yellow', 'yelow') },
    { name: 'a word too few', words: good.replace(' yellow', '') },
    { name: 'nothing', words: '' },
  ]) {
    test(`mnemonic: ${name} is \`invalid mnemonic\`, and is not repeated`, () => {
      expect(() => openWallet(words)).toThrow(new ChainError('invalid mnemonic'))
    })
  }

  test('mnemonic: a closed wallet derives nothing', () => {
    const wallet = openWallet(good)
    const account = { curve: 'CURVE_P256', path: 'm/0', addressFormat: 'ADDRESS_FORMAT_COMPRESSED' }
    wallet.close()
    expect(() => wallet.derive(account)).toThrow(new ChainError('the wallet is closed'))
    expect(() => wallet.deriveKey(account)).toThrow(new ChainError('the wallet is closed'))
  })

  test('mnemonic: an account derived by itself is the one of the open wallet', () => {
    const account = { curve: 'CURVE_ED25519', path: "m/44'/501'/0'/0'", addressFormat: 'ADDRESS_FORMAT_SOLANA' }
    expect(deriveAccount(good, account)).toEqual(openWallet(good).derive(account))
  })
})

describe('languages', () => {
  test('languages: the same entropy, in the words of another language', () => {
    const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    const japanese = translateMnemonic(words, 'MNEMONIC_LANGUAGE_JAPANESE')
    expect(encodeHex(mnemonicToEntropy(japanese, japaneseWords))).toBe('7f'.repeat(16))
    expect(translateMnemonic(`${words}\nsecret`, 'MNEMONIC_LANGUAGE_CZECH').split('\n')[1]).toBe('secret')
    expect(translateMnemonic(words, 'MNEMONIC_LANGUAGE_ENGLISH')).toBe(words)
  })

  test('languages: a passphrase behind the words leads to other accounts, as BIP-39 has it', () => {
    const words = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
    const account = { curve: 'CURVE_SECP256K1', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_COMPRESSED' }
    const key = HDKey.fromMasterSeed(mnemonicToSeedSync(words, 'TREZOR')).derive(account.path)
    expect(deriveAccount(`${words}\nTREZOR`, account).publicKey).toBe(encodeHex(key.publicKey!))
    expect(deriveAccount(words, account).publicKey).not.toBe(encodeHex(key.publicKey!))
  })
})
