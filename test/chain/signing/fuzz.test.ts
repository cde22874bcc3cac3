import { p2ms, p2sh, p2tr, p2wpkh, Transaction } from '@scure/btc-signer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChainError, type KeyAtHand, signTransaction } from '../../../src/chain/index.ts'
import { KEY_CURVES } from '../../../src/crypto/index.ts'
import { decodeHex } from '../../../src/encoding/index.ts'
import { runs } from '../../runs.ts'
import { corpus, edit, given, spoil } from '../transactions/fuzz-inputs.ts'
import { type Kind, kinds, refusalOf } from '../transactions/harness.ts'
import { SECRET, secp256k1Key } from './keys.ts'

const ed25519Key: KeyAtHand = {
  curve: 'CURVE_ED25519',
  privateKey: decodeHex(SECRET),
  publicKey: decodeHex(KEY_CURVES.ed25519.publicKeyOf(SECRET)),
}

/** What comes of signing what can be read; whatever is thrown that is no refusal passes through. */
function outcome(kind: Kind, bytes: Uint8Array): 'signed' | 'refused' {
  const key = kind === 'SOLANA' ? ed25519Key : secp256k1Key
  try {
    return signTransaction(`TRANSACTION_TYPE_${kind}`, bytes, key).length > bytes.length ? 'signed' : 'refused'
  } catch (error) {
    if (error instanceof ChainError) return 'refused'
    throw error
  }
}

test('fuzz: what can be read is signed or refused, and nothing else is thrown', () => {
  const counts = { signed: 0, refused: 0 }
  for (const kind of kinds) for (const bytes of corpus[kind]) counts[outcome(kind, bytes)]++
  fc.assert(
    fc.property(given, ({ kind, bytes }) => {
      if (refusalOf(kind, bytes) === 'read') counts[outcome(kind, bytes)]++
    }),
    { seed: 7, numRuns: runs(1_000) },
  )
  // Most that can be read of Bitcoin and Solana is somebody else's.
  expect(counts.signed).toBeGreaterThan(20)
  expect(counts.refused).toBeGreaterThan(10)
})

/** A PSBT with an input of each kind of witness that is the key's own, and one behind a script hash. */
function ownPsbt(): Uint8Array {
  const { publicKey } = secp256k1Key
  const script = p2ms(1, [publicKey, publicKey.with(0, publicKey[0]! ^ 1)])
  const previous = new Transaction({ allowUnknownOutputs: true, disableScriptCheck: true })
  previous.addOutput({ script: p2sh(script).script, amount: 500n })
  previous.addInput({ txid: 'bb'.repeat(32), index: 0, finalScriptSig: Uint8Array.of(0) })
  const psbt = new Transaction({ disableScriptCheck: true })
  for (const [index, { script: spent }] of [p2wpkh(publicKey), p2tr(publicKey.subarray(1))].entries()) {
    psbt.addInput({ txid: 'aa'.repeat(32), index, witnessUtxo: { script: spent, amount: 1_000n } })
  }
  const nonWitnessUtxo = previous.toBytes(true, true)
  psbt.addInput({ txid: previous.id, index: 0, nonWitnessUtxo, redeemScript: script.script })
  psbt.addOutput({ script: p2wpkh(publicKey).script, amount: 900n })
  return psbt.toPSBT(0)
}

test('fuzz: a spoiled PSBT of the key itself is signed or refused, and nothing else is thrown', () => {
  const counts = { signed: 0, refused: 0 }
  const bytes = ownPsbt()
  expect(outcome('BITCOIN', bytes)).toBe('signed')
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 2 }), (edits) => {
      counts[outcome('BITCOIN', spoil(bytes, edits))]++
    }),
    { seed: 7, numRuns: runs(200) },
  )
  expect(counts.signed).toBeGreaterThan(10)
  expect(counts.refused).toBeGreaterThan(50)
})
