/** Bitcoin's PSBT, version 0 (BIP-174) → `bitcoin.tx` (docs/protocol/policies.md#fields). */
import { Address, OutScript, Transaction } from '@scure/btc-signer'
import { RawPSBTV0 } from '@scure/btc-signer/psbt.js'
import { encodeHex } from '../../encoding/index.ts'
import { BITCOIN_NETWORKS, type BitcoinNetwork } from '../address.ts'
import { type Facts, refuse, refuseUnsupported } from './refuse.ts'

export interface BitcoinReading {
  /** An address of the network that outputs are written for. */
  readonly signer: string | undefined
  /** Whether an output without an address, such as OP_RETURN, is read (as `''`) instead of refused. */
  readonly acceptUnaddressed: boolean
}

export function readBitcoin(bytes: Uint8Array, { signer, acceptUnaddressed }: BitcoinReading): Facts {
  const psbt = parsePsbt(bytes)
  const network = networkOf(signer)
  const inputs = Array.from({ length: psbt.inputsLength }, (_, index) => psbt.getInput(index))
  const outputs = Array.from({ length: psbt.outputsLength }, (_, index) => {
    const { amount, script } = psbt.getOutput(index)
    if (amount === undefined || script === undefined) refuse(`output ${index} lacks its amount or script`)
    return { amount, facts: { value: amount, script_pubkey: encodeHex(script), ...addressFacts(script, network) } }
  })
  if (!acceptUnaddressed && outputs.some(({ facts }) => facts.address === '')) {
    // The API's own text (docs/protocol/signing.md#bitcoin-transactions).
    refuseUnsupported('failed to extract bitcoin address from script with error: UnrecognizedScript')
  }
  const paid = inputs.reduce((sum, input, index) => sum + inputAmount(input, index), 0n)
  const fee = outputs.reduce((left, { amount }) => left - amount, paid)
  if (fee < 0n) refuse('the outputs are worth more than the inputs')
  return {
    version: String(psbt.version),
    inputs: inputs.map(({ txid, index, sequence }, position) => {
      if (txid === undefined || index === undefined) refuse(`input ${position} does not say what it spends`)
      return { tx_id: encodeHex(txid), vout: BigInt(index), sequence: BigInt(sequence ?? 0xffffffff) }
    }),
    outputs: outputs.map(({ facts }) => facts),
    locktime: locktimeFacts(psbt.lockTime),
    fee,
  }
}

/**
 * Parses a PSBT of version 0. The library accepts one with more output maps than outputs; this refuses it. Throws
 * `ChainError`.
 */
export function parsePsbt(bytes: Uint8Array): Transaction {
  try {
    // Which scripts of outputs have an address is decided below. Versions beyond 3 the library refuses.
    // Unknown records are kept: other signers may need them.
    const extensions = { unknown: 'ignore', proprietary: 'ignore' } as const
    const psbt = Transaction.fromPSBT(bytes, { allowUnknownOutputs: true, allowUnknownInputs: true, ...extensions })
    if (psbt.opts.PSBTVersion === 0 && RawPSBTV0.decode(bytes).outputs.length === psbt.outputsLength) return psbt
  } catch (cause) {
    refuse(`it is no PSBT: ${cause instanceof Error ? cause.message : 'unknown reason'}`, cause)
  }
  return refuse('expected a PSBT of version 0 with a map for each output')
}

type Input = ReturnType<Transaction['getInput']>

/**
 * What an input is worth. The previous transaction proves it, by its id. An amount given alone counts for witness
 * programs, whose signatures cover it; for an older script it could be any number, and with it the fee.
 */
function inputAmount({ index, witnessUtxo, nonWitnessUtxo }: Input, position: number): bigint {
  const previous = index === undefined ? undefined : nonWitnessUtxo?.outputs[index]
  if (previous !== undefined) return previous.amount
  if (witnessUtxo === undefined || !isWitnessProgram(witnessUtxo.script)) {
    refuse(`the value of input ${position} is unknown, so the fee cannot be computed`)
  }
  return witnessUtxo.amount
}

/** BIP-141: a version, OP_0 or OP_1 … OP_16, and one push of 2 to 40 bytes. */
function isWitnessProgram(script: Uint8Array): boolean {
  const [version = -1, push = -1] = script
  return (
    (version === 0 || (version >= 0x51 && version <= 0x60)) && push >= 2 && push <= 40 && script.length === push + 2
  )
}

/** The kinds of script that have an address (U-btc). */
const ADDRESS_TYPES = { pkh: 'P2PKH', sh: 'P2SH', wpkh: 'P2WPKH', wsh: 'P2WSH', tr: 'P2TR' } as const

function addressFacts(script: Uint8Array, network: BitcoinNetwork): { readonly address: string; address_type: string } {
  const output = decodeScript(script)
  if (output === undefined || !Object.hasOwn(ADDRESS_TYPES, output.type)) return { address: '', address_type: '' }
  const type = output.type as keyof typeof ADDRESS_TYPES
  return { address: Address(BITCOIN_NETWORKS[network]).encode(output), address_type: ADDRESS_TYPES[type] }
}

function decodeScript(script: Uint8Array) {
  try {
    return OutScript.decode(script)
  } catch {
    // Not even a script: it cannot be spent, and has no address.
    return undefined
  }
}

/** BIP-113 and the consensus rule before it: from 500 000 000 on a locktime is a time, below a height (U-btc). */
function locktimeFacts(lockTime: number): Facts {
  return { amount: BigInt(lockTime), type: lockTime < 500_000_000 ? 'Blocks' : 'Seconds' }
}

/**
 * A PSBT does not say its network, and addresses differ by it, so the signing address does; without one it is the main
 * network. Test networks share their addresses, but for the prefix of regtest (the sources do not say).
 */
export function networkOf(signer: string | undefined): BitcoinNetwork {
  if (signer?.startsWith('bcrt1')) return 'regtest'
  return signer !== undefined && /^(?:tb1|[2mn])/.test(signer) ? 'testnet' : 'mainnet'
}
