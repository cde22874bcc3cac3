import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { OutScript, p2ms, p2pk, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, Transaction } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { describe, expect, test } from 'vitest'
import { type KeyAtHand, signTransaction, UnsupportedTransaction } from '../../../src/chain/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import { secp256k1Key as key } from './keys.ts'

const { privateKey, publicKey } = key
const stranger = pubECDSA(new Uint8Array(32).fill(3))
const txid = 'aa'.repeat(32)
const pay = { script: p2wpkh(stranger).script, amount: 900n }
const named = (kind: string): KeyAtHand => ({ ...key, addressFormat: `ADDRESS_FORMAT_BITCOIN_MAINNET_${kind}` })

type Input = Parameters<Transaction['addInput']>[0]

/** A transaction that pays to a script, as `non_witness_utxo` has it. */
function spentBy(script: Uint8Array): Input {
  const previous = new Transaction({ allowUnknownOutputs: true, disableScriptCheck: true })
  previous.addOutput({ script, amount: 1_000n })
  previous.addInput({ txid, index: 0, finalScriptSig: Uint8Array.of(0) })
  const bytes = previous.toBytes(true, true)
  return { txid: previous.id, index: 0, nonWitnessUtxo: bytes }
}
const witness = (script: Uint8Array): Input => ({ txid, index: 1, witnessUtxo: { script, amount: 1_000n } })

const inner = p2ms(1, [publicKey, stranger])
const inputs = {
  P2PKH: spentBy(p2pkh(publicKey).script),
  P2SH: { ...spentBy(p2sh(inner).script), redeemScript: inner.script },
  P2WPKH: witness(p2wpkh(publicKey).script),
  P2WSH: { ...witness(p2wsh(p2pk(publicKey)).script), witnessScript: p2pk(publicKey).script },
  P2TR: witness(p2tr(publicKey.subarray(1)).script),
} as const satisfies Record<string, Input>

const options = { disableScriptCheck: true, allowUnknownOutputs: true, allowUnknownInputs: true } as const
function psbt(...given: readonly Input[]): Transaction {
  const transaction = new Transaction(options)
  for (const input of given) transaction.addInput(input)
  transaction.addOutput(pay)
  return transaction
}
const sign = (transaction: Transaction, by: KeyAtHand) =>
  Transaction.fromPSBT(signTransaction('TRANSACTION_TYPE_BITCOIN', transaction.toPSBT(0), by), options)
const refusal = (act: () => unknown): Error => {
  try {
    act()
  } catch (error) {
    return error as Error
  }
  throw new Error('expected a refusal')
}

describe('signing: Bitcoin', () => {
  test.each(['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH'] as const)(
    'signing: an input of %s gets the signature that the library makes of it, and can be finalized',
    (kind) => {
      const signed = sign(psbt(inputs[kind]), named(kind))
      const expected = psbt(inputs[kind])
      expected.signIdx(privateKey, 0)
      const [[pubkey, signature] = []] = signed.getInput(0).partialSig ?? []
      expect(pubkey).toEqual(publicKey)
      expect(signature).toEqual(expected.getInput(0).partialSig![0]![1])
      expect(signature!.at(-1)).toBe(1)
      expect(signed.isFinal).toBe(false)
      signed.finalize()
      expect(signed.extract().length).toBeGreaterThan(100)
    },
  )

  test('signing: the signature of P2WPKH is over the digest of BIP-143', () => {
    const signed = sign(psbt(inputs.P2WPKH), named('P2WPKH'))
    const code = OutScript.encode({ type: 'pkh', hash: p2wpkh(publicKey).hash })
    const digest = psbt(inputs.P2WPKH).preimageWitnessV0(0, code, 1, 1_000n)
    const der = signed.getInput(0).partialSig![0]![1].subarray(0, -1)
    expect(secp256k1.verify(der, digest, publicKey, { prehash: false, format: 'der' })).toBe(true)
  })

  test('signing: an input of P2TR gets 64 bytes that verify under the output key', () => {
    const signed = sign(psbt(inputs.P2TR, inputs.P2WPKH), named('P2TR'))
    const { tapKeySig, partialSig } = signed.getInput(0)
    expect(partialSig).toBeUndefined()
    const scripts = [inputs.P2TR, inputs.P2WPKH].map(({ witnessUtxo }) => witnessUtxo!.script as Uint8Array)
    const digest = signed.preimageWitnessV1(0, scripts, 0, [1_000n, 1_000n])
    const { tweakedPubkey } = p2tr(publicKey.subarray(1))
    expect(tapKeySig).toHaveLength(64)
    expect(schnorr.verify(tapKeySig!, digest, tweakedPubkey)).toBe(true)
    // The other input is of the same key, of another kind of address.
    expect(signed.getInput(1).partialSig ?? []).toEqual([])
  })

  test('signing: a key named by its id signs every input that is its own, and nobody else’s', () => {
    const foreign = witness(p2wpkh(stranger).script)
    const signed = sign(psbt(inputs.P2PKH, foreign, { ...inputs.P2TR, index: 2 }), key)
    expect(signed.getInput(0).partialSig).toHaveLength(1)
    expect(signed.getInput(1)).toEqual(psbt(inputs.P2PKH, foreign).getInput(1))
    expect(signed.getInput(2).tapKeySig).toHaveLength(64)
  })

  test('signing: what nobody here knows stays in the PSBT', () => {
    const unknown = [{ type: 0xf0, key: Uint8Array.of(1) }, Uint8Array.of(2, 3)] as const
    const given = new Transaction({ ...options, unknown: 'ignore' })
    given.addInput({ ...inputs.P2WPKH, unknown: [unknown] } as unknown as Input)
    given.addOutput(pay)
    const bytes = signTransaction('TRANSACTION_TYPE_BITCOIN', given.toPSBT(0), key)
    expect(encodeHex(bytes)).toContain('02f001020203')
  })

  test.each([
    ['no input of the key', [witness(p2wpkh(stranger).script)], key, 'no input belongs to the key that signs'],
    ['inputs of another kind alone', [inputs.P2WPKH], named('P2TR'), 'no input belongs to the key that signs'],
    [
      'P2WPKH with the previous transaction',
      [{ ...spentBy(p2wpkh(publicKey).script) }],
      named('P2WPKH'),
      'input 0, P2WPKH, lacks `witness_utxo`',
    ],
  ] as const)('signing: %s is refused', (_name, given, by, reason) => {
    expect(refusal(() => sign(psbt(...given), by)).message).toBe(`failed to parse transaction: ${reason}`)
  })

  const nested = p2sh(p2wpkh(publicKey))
  test.each([
    [
      'P2WPKH inside P2SH',
      { ...spentBy(nested.script), redeemScript: nested.redeemScript },
      'input 0 is a witness program inside P2SH',
    ],
    ['another signature hash type', { ...inputs.P2WPKH, sighashType: 3 }, 'input 0 asks for the signature hash type 3'],
    [
      'the type of all inputs on Taproot',
      { ...inputs.P2TR, sighashType: 1 },
      'input 0 asks for the signature hash type 1',
    ],
  ] as const)('signing: %s is refused as unsupported', (_name, input, reason) => {
    const error = refusal(() => sign(psbt(input as Input), key))
    expect(error).toBeInstanceOf(UnsupportedTransaction)
    expect(error.message).toBe(reason)
  })
})
