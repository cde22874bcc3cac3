/**
 * PSBTs of version 0 with the signatures of one key (BIP-174, -341, -371;
 * docs/protocol/signing.md#bitcoin-transactions). What comes out is not finalized, and inputs of others stay as they
 * were.
 */
import { OutScript, p2sh, p2tr, p2wpkh, Script, SigHash, type Transaction } from '@scure/btc-signer'
import { type Bytes, concatBytes, equalBytes } from '../../encoding/index.ts'
import { hash160 } from '../checksum.ts'
import { parsePsbt } from '../transactions/bitcoin.ts'
import { refuse, refuseUnsupported } from '../transactions/refuse.ts'
import { type KeyAtHand, type KeyByAddress, signBytes } from './signing-key.ts'

type Input = ReturnType<Transaction['getInput']>
type InputKind = keyof typeof kinds

interface InputKindRow {
  /** The address formats by which only inputs of this kind are meant. */
  readonly addressKind: string
  /** Which record of the output that is spent must be there, and which must not. */
  readonly utxo: 'witnessUtxo' | 'nonWitnessUtxo'
  readonly sighash: number
  /** Whether an output's script is spent with the key; `inner` is the script behind a script hash. */
  readonly isOwn: (script: Uint8Array, key: Uint8Array, inner: Uint8Array | undefined) => boolean
}

const { ALL, DEFAULT } = SigHash

/** By the library's word for the script of the output that is spent. */
const kinds = {
  pkh: { addressKind: 'P2PKH', utxo: 'nonWitnessUtxo', sighash: ALL, isOwn: holdsHash },
  sh: {
    addressKind: 'P2SH',
    utxo: 'nonWitnessUtxo',
    sighash: ALL,
    isOwn: (script, key, inner) => equalBytes(script, p2sh(p2wpkh(key)).script) || holdsKey(inner, key),
  },
  wpkh: { addressKind: 'P2WPKH', utxo: 'witnessUtxo', sighash: ALL, isOwn: holdsHash },
  wsh: { addressKind: 'P2WSH', utxo: 'witnessUtxo', sighash: ALL, isOwn: (_, key, inner) => holdsKey(inner, key) },
  tr: {
    addressKind: 'P2TR',
    utxo: 'witnessUtxo',
    sighash: DEFAULT,
    isOwn: (script, key) => equalBytes(script, p2tr(key.subarray(1)).script),
  },
} as const satisfies Record<string, InputKindRow>

interface OwnInput {
  readonly index: number
  readonly kind: InputKind
}

/**
 * Throws `ChainError` unless the key can sign a PSBT: `failed to parse transaction` if no input belongs to it or one lacks what
 * its kind needs, as unsupported for kinds that are not signed.
 */
export function checkPsbtSigner(bytes: Uint8Array, key: KeyByAddress): void {
  ownInputs(inputsOf(parsePsbt(bytes)), key)
}

/** Signs the inputs of a PSBT that belong to the key, all outputs included. Throws as `checkPsbtSigner` does. */
export function signPsbt(bytes: Uint8Array, key: KeyAtHand): Bytes {
  const psbt = parsePsbt(bytes)
  const inputs = inputsOf(psbt)
  for (const { index, kind } of ownInputs(inputs, key)) {
    if (kind === 'tr') signTaproot(psbt, index, inputs, key)
    else sign(psbt, index, key)
  }
  return new Uint8Array(psbt.toPSBT(0))
}

function inputsOf(psbt: Transaction): readonly Input[] {
  return Array.from({ length: psbt.inputsLength }, (_, index) => psbt.getInput(index))
}

function ownInputs(inputs: readonly Input[], key: KeyByAddress): readonly OwnInput[] {
  const own = inputs.flatMap((input, index) => {
    const kind = kindOf(input, key)
    if (kind === undefined) return []
    checkInput(input, index, kind)
    return [{ index, kind }]
  })
  return own.length === 0 ? refuse('no input belongs to the key that signs') : own
}

/** The kind of an input that belongs to the key; a key that is named by a Bitcoin address means inputs of its kind alone. */
function kindOf(input: Input, key: KeyByAddress): InputKind | undefined {
  const script = prevout(input)?.script
  const kind = script && scriptType(script)
  if (kind === undefined || !Object.hasOwn(kinds, kind)) return undefined
  const row: InputKindRow = kinds[kind as InputKind]
  const [, named] = /^ADDRESS_FORMAT_BITCOIN_[A-Z]+_(\w+)$/.exec(key.addressFormat ?? '') ?? []
  if (named !== undefined && named !== row.addressKind) return undefined
  const inner = kind === 'sh' ? input.redeemScript : input.witnessScript
  return row.isOwn(script, key.publicKey, inner) ? (kind as InputKind) : undefined
}

/** The library's word for a script; none for bytes that are not even one. */
function scriptType(script: Uint8Array): string | undefined {
  try {
    return OutScript.decode(script).type
  } catch {
    return undefined
  }
}

function prevout({ nonWitnessUtxo, witnessUtxo, index }: Input) {
  return index === undefined ? undefined : (nonWitnessUtxo?.outputs[index] ?? witnessUtxo)
}

function holdsHash(script: Uint8Array, key: Uint8Array): boolean {
  const output = OutScript.decode(script)
  return 'hash' in output && equalBytes(output.hash, hash160(key))
}

function holdsKey(inner: Uint8Array | undefined, key: Uint8Array): boolean {
  if (inner === undefined) return false
  try {
    return Script.decode(inner).some((part) => part instanceof Uint8Array && equalBytes(part, key))
  } catch {
    return false
  }
}

function checkInput(input: Input, index: number, kind: InputKind): void {
  const { utxo, sighash, addressKind }: InputKindRow = kinds[kind]
  const other = utxo === 'witnessUtxo' ? 'nonWitnessUtxo' : 'witnessUtxo'
  if (input[utxo] === undefined) refuse(`input ${index}, ${addressKind}, lacks \`${recordName(utxo)}\``)
  if (input[other] !== undefined) refuse(`input ${index}, ${addressKind}, must not have \`${recordName(other)}\``)
  if (input.sighashType !== undefined && input.sighashType !== sighash) {
    refuseUnsupported(`input ${index} asks for the signature hash type ${input.sighashType}`)
  }
  if (kind === 'sh') checkRedeemScript(input.redeemScript, index)
  if (input.finalScriptSig !== undefined || input.finalScriptWitness !== undefined) {
    refuse(`input ${index} is finalized already`)
  }
  if (kind === 'tr' && (input.tapLeafScript ?? input.tapScriptSig ?? input.tapMerkleRoot) !== undefined) {
    refuseUnsupported(`input ${index} spends Taproot by a script`)
  }
}

function recordName(utxo: InputKindRow['utxo']): string {
  return utxo === 'witnessUtxo' ? 'witness_utxo' : 'non_witness_utxo'
}

/** A witness program behind a script hash is signed in another way (BIP-141), which is not supported. */
function checkRedeemScript(script: Uint8Array | undefined, index: number): void {
  if (script === undefined) refuse(`input ${index}, P2SH, lacks \`redeem_script\``)
  const type = scriptType(script)
  if (type === 'wpkh' || type === 'wsh') refuseUnsupported(`input ${index} is a witness program inside P2SH`)
}

/** `partial_sig` under the compressed key: DER and the signature hash type. */
function sign(psbt: Transaction, index: number, key: KeyAtHand): void {
  try {
    psbt.signIdx(key.privateKey, index, [ALL])
  } catch (cause) {
    refuse(`input ${index} cannot be signed: ${cause instanceof Error ? cause.message : 'unknown reason'}`, cause)
  }
}

/** `tap_key_sig` by the key path: 64 bytes, since the signature hash type is the default. */
function signTaproot(psbt: Transaction, index: number, inputs: readonly Input[], key: KeyAtHand): void {
  const spent = inputs.map((input, position) => prevout(input) ?? refuse(`input ${position} lacks what it spends`))
  const scripts = spent.map(({ script }) => script)
  const digest = psbt.preimageWitnessV1(
    index,
    scripts,
    DEFAULT,
    spent.map(({ amount }) => amount),
  )
  // Whatever the key was named by, an output of this kind is spent by its tweaked key.
  const { r, s } = signBytes({ ...key, addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' }, digest)
  psbt.updateInput(index, { tapKeySig: concatBytes(r, s) }, true)
}
