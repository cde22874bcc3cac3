/** Ethereum transactions → `eth.tx` (docs/protocol/policies.md#fields). A field that the kind lacks is absent. */
import { decodeCall, NO_CALL } from './abi-call.ts'
import { checkSignature, type EthereumItem, isEmpty, legacy, readItems, typed } from './ethereum-envelopes.ts'
import type { SmartContractInterface } from './interfaces.ts'
import { type Facts, refuse } from './refuse.ts'
import { decodeRlp, type RlpItem, rlpInteger, rlpList } from './rlp.ts'

export interface EthereumReading {
  readonly interfaces: readonly SmartContractInterface[]
  /** The sender: it is not written in a transaction. */
  readonly from: string | undefined
  /** Whether a transaction that carries its signature is read, too. */
  readonly acceptSigned: boolean
}

/** Reads the bytes of a transaction of any kind. */
export function readEthereum(bytes: Uint8Array, { interfaces, from, acceptSigned }: EthereumReading): Facts {
  if (bytes.length === 0) refuse('there are no bytes')
  const { type, items, signed } = bytes[0]! >= 0xc0 ? readLegacy(bytes) : readTyped(bytes)
  if (signed && !acceptSigned) refuse('the transaction is signed already')
  return ethereumFacts({ type, ...(from === undefined ? {} : { from: from.toLowerCase() }), ...items }, interfaces)
}

/** Adds what follows from the fields: the price that policies may cap for every kind, and the call by its interface. */
export function ethereumFacts(fields: Facts, interfaces: readonly SmartContractInterface[]): Facts {
  const { to, data, max_fee_per_gas: price } = fields
  const call = typeof to === 'string' && to !== '' ? decodeCall(to, String(data), interfaces) : NO_CALL
  // Types 3 and 4 pay as type 2 does, so a cap on `gas_price` holds for them, too.
  return { ...fields, ...(price === undefined ? {} : { gas_price: price }), ...call }
}

interface Envelope {
  readonly type: string
  readonly items: Partial<Record<EthereumItem, bigint | string>>
  readonly signed: boolean
}

/** EIP-2718: a byte for the kind, then the list; a signature is `yParity, r, s` at its end. */
function readTyped(bytes: Uint8Array): Envelope {
  const envelope = typed[bytes[0]!]
  if (envelope === undefined) refuse(`there is no Ethereum transaction that begins with byte ${bytes[0]}`)
  const list = rlpList(decodeRlp(bytes.subarray(1)), 'transaction')
  const signature = list.slice(envelope.items.length)
  if (list.length < envelope.items.length || (signature.length !== 0 && signature.length !== 3)) {
    refuse(`expected ${envelope.items.length} items in a transaction of ${envelope.type}, got ${list.length}`)
  }
  const signed = signature.length === 3
  if (signed) {
    const [yParity, r, s] = signature
    if (rlpInteger(yParity, 1, 'y parity') > 1n) refuse('the y parity is neither 0 nor 1')
    checkSignature(r, s)
  }
  return { type: envelope.type, items: readItems(envelope, list), signed }
}

/** Six items; behind them `chainId, 0, 0` before signing (EIP-155), `v, r, s` after. */
function readLegacy(bytes: Uint8Array): Envelope {
  const list = rlpList(decodeRlp(bytes), 'transaction')
  if (list.length !== 6 && list.length !== 9)
    refuse(`expected 6 or 9 items in a legacy transaction, got ${list.length}`)
  const items = readItems(legacy, list)
  if (list.length === 6) return { type: legacy.type, items, signed: false }
  const { chainId, signed } = readLegacyTail(list.slice(6))
  return { type: legacy.type, items: { ...items, ...(chainId === undefined ? {} : { chain_id: chainId }) }, signed }
}

/** EIP-155: v is 27 or 28 without a chain, and 35 + 2 · chainId + parity with one. */
function readLegacyTail([v, r, s]: readonly RlpItem[]): { readonly chainId?: bigint; readonly signed: boolean } {
  const value = rlpInteger(v, 32, 'v')
  if (isEmpty(r) && isEmpty(s)) {
    if (value === 0n) refuse('the chain id is 0')
    return { chainId: value, signed: false }
  }
  checkSignature(r, s)
  if (value === 27n || value === 28n) return { signed: true }
  if (value < 37n) refuse(`\`v\` is ${value}, which no chain has`)
  return { chainId: (value - 35n) / 2n, signed: true }
}
