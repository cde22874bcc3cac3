/**
 * Signatures a second by curve, through what the service signs with, against the floor of each curve: noble where the nonce
 * has to be that of RFC 6979, which the platform cannot make, and `node:crypto` elsewhere; and HD derivations a second.
 */
import { createPrivateKey, sign } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import {
  addressOf,
  encodeEthereum,
  type KeyAtHand,
  openWallet,
  signBytes,
  signTransaction,
} from '../../src/chain/index.ts'
import { KEY_CURVES, randomBytes, sha256 } from '../../src/crypto/index.ts'
import { decodeHex, encodeHex } from '../../src/encoding/index.ts'
import { type Contender, compare } from './rounds.ts'

const DIGEST = sha256('a digest')
const SECRET = encodeHex(randomBytes(32))
const WORDS = `${'abandon '.repeat(11)}about`

/** Prints each comparison, the floor first. */
export async function run(): Promise<void> {
  console.log('per second of CPU time, median of rounds in turns; the share is of the first line')
  for (const [title, contenders] of Object.entries(comparisons())) print(title, await compare(contenders))
}

function comparisons(): Readonly<Record<string, readonly Contender[]>> {
  const [onSecp256k1, onP256, onEd25519] = [
    keyOn('CURVE_SECP256K1', 'secp256k1'),
    keyOn('CURVE_P256', 'p256'),
    keyOn('CURVE_ED25519', 'ed25519'),
  ]
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const platformKey = createPrivateKey({
    format: 'der',
    type: 'pkcs8',
    key: Buffer.concat([prefix, onEd25519.privateKey]),
  })
  const options = { prehash: false, lowS: true, format: 'recovered' } as const
  const spark = { ...onSecp256k1, addressFormat: 'ADDRESS_FORMAT_SPARK_MAINNET' }
  const wallet = openWallet(WORDS)
  const seed = mnemonicToSeedSync(WORDS)
  const path = "m/44'/60'/0'/0/0"
  const ethereum = { curve: 'CURVE_SECP256K1', path, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }
  const solana = { curve: 'CURVE_ED25519', path: "m/44'/501'/0'/0'", addressFormat: 'ADDRESS_FORMAT_SOLANA' }
  const to = addressOf('CURVE_SECP256K1', encodeHex(onSecp256k1.publicKey), 'ADDRESS_FORMAT_ETHEREUM')
  const unsigned = transfer(to)
  return {
    'secp256k1, ECDSA': [
      { name: 'noble', once: () => secp256k1.sign(DIGEST, onSecp256k1.privateKey, options) },
      { name: 'quorate', once: () => signBytes(onSecp256k1, DIGEST) },
      {
        name: 'quorate, an Ethereum transaction',
        once: () => signTransaction('TRANSACTION_TYPE_ETHEREUM', unsigned, onSecp256k1),
      },
    ],
    'secp256k1, BIP-340': [
      { name: 'noble', once: () => schnorr.sign(DIGEST, onSecp256k1.privateKey, new Uint8Array(32)) },
      { name: 'quorate', once: () => signBytes(spark, DIGEST) },
    ],
    'P-256, ECDSA': [
      { name: 'noble', once: () => p256.sign(DIGEST, onP256.privateKey, options) },
      { name: 'quorate', once: () => signBytes(onP256, DIGEST) },
    ],
    Ed25519: [
      { name: 'node:crypto, parsed key', once: () => sign(null, DIGEST, platformKey) },
      { name: 'quorate, key parsed and wiped', once: () => signBytes(onEd25519, DIGEST) },
    ],
    'derivation of five steps': [
      { name: '@scure/bip32 from the seed', once: () => HDKey.fromMasterSeed(seed).derive(path) },
      { name: 'quorate, with its address', once: () => wallet.derive(ethereum) },
      { name: 'quorate, Ed25519, four steps', once: () => wallet.derive(solana) },
    ],
    'opening a wallet': [
      { name: '@scure/bip39 in JavaScript', once: () => mnemonicToSeedSync(WORDS) },
      { name: 'quorate, words checked', once: () => openWallet(WORDS).close() },
    ],
  }
}

function keyOn(curve: KeyAtHand['curve'], name: keyof typeof KEY_CURVES): KeyAtHand {
  return { curve, privateKey: decodeHex(SECRET), publicKey: decodeHex(KEY_CURVES[name].publicKeyOf(SECRET)) }
}

/** A plain transfer of type 2 (EIP-1559). */
function transfer(to: string): Uint8Array {
  const fees = { max_fee_per_gas: 20_000_000_000n, max_priority_fee_per_gas: 5_000_000_000n }
  return encodeEthereum(2, { chain_id: 1n, nonce: 7n, gas: 21_000n, value: 10n ** 15n, to, ...fees })
}

function print(title: string, rates: Awaited<ReturnType<typeof compare>>): void {
  const floor = rates[0]!.perCpuSecond
  console.log(`\n${title}`)
  for (const { name, perCpuSecond } of rates) {
    const rate = Math.round(perCpuSecond).toLocaleString('en-US').padStart(10)
    console.log(`  ${name.padEnd(34)}${rate}/s  ${(perCpuSecond / floor).toFixed(3)}`)
  }
}
