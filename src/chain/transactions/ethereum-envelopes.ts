/**
 * The five kinds of Ethereum transaction as they are written (docs/protocol/signing.md#ethereum-transactions): EIP-155,
 * -2930, -1559, -4844, -7702. One row a kind with the items of its list in order, and one reader an item.
 */

import { refuse } from './refuse.ts'
import { type RlpItem, rlpBytes, rlpFixed, rlpHex, rlpInteger, rlpList, rlpReceiver, rlpTuple } from './rlp.ts'

/** What each item is. `undefined`: checked, but no policy reads it. */
const items = {
  chain_id: (item) => rlpInteger(item, 32, 'chain_id'),
  nonce: (item) => rlpInteger(item, 8, 'nonce'),
  gas_price: (item) => rlpInteger(item, 32, 'gas_price'),
  max_priority_fee_per_gas: (item) => rlpInteger(item, 32, 'max_priority_fee_per_gas'),
  max_fee_per_gas: (item) => rlpInteger(item, 32, 'max_fee_per_gas'),
  max_fee_per_blob_gas: (item) => rlpInteger(item, 32, 'max_fee_per_blob_gas'),
  gas: (item) => rlpInteger(item, 8, 'gas'),
  to: (item) => rlpReceiver(item, 'to'),
  value: (item) => rlpInteger(item, 32, 'value'),
  data: (item) => rlpHex(item, 'data'),
  access_list: (item) => checkAccessList(item),
  blob_versioned_hashes: (item) => checkBlobHashes(item),
  authorization_list: (item) => checkAuthorizations(item),
} as const satisfies Record<string, (item: RlpItem) => bigint | string | undefined>

export type EthereumItem = keyof typeof items

interface Envelope {
  readonly type: string
  readonly items: readonly EthereumItem[]
  /** EIP-4844 and EIP-7702: the receiver must not be nothing. */
  readonly needsReceiver?: true
}

const dynamicFees = [
  'chain_id',
  'nonce',
  'max_priority_fee_per_gas',
  'max_fee_per_gas',
  'gas',
  'to',
  'value',
  'data',
  'access_list',
] as const

export const legacy: Envelope = { type: 'LEGACY', items: ['nonce', 'gas_price', 'gas', 'to', 'value', 'data'] }

/** By the byte before the list (EIP-2718). */
export const typed: Readonly<Record<number, Envelope>> = {
  1: { type: 'TYPE_1', items: ['chain_id', 'nonce', 'gas_price', 'gas', 'to', 'value', 'data', 'access_list'] },
  2: { type: 'TYPE_2', items: dynamicFees },
  3: {
    type: 'TYPE_3',
    items: [...dynamicFees, 'max_fee_per_blob_gas', 'blob_versioned_hashes'],
    needsReceiver: true,
  },
  4: { type: 'TYPE_4', items: [...dynamicFees, 'authorization_list'], needsReceiver: true },
}

/** Reads the items of an envelope; items behind them (a signature) are the caller's to read. */
export function readItems(
  envelope: Envelope,
  list: readonly RlpItem[],
): Partial<Record<EthereumItem, bigint | string>> {
  const facts: Partial<Record<EthereumItem, bigint | string>> = {}
  for (const [index, name] of envelope.items.entries()) {
    const value = items[name](list[index]!)
    if (value !== undefined) facts[name] = value
  }
  if (envelope.needsReceiver && facts.to === '') refuse(`a transaction of ${envelope.type} needs a receiver`)
  return facts
}

/** EIP-2930: `[[address, [storage key of 32 bytes, …]], …]`. */
export function checkAccessList(item: RlpItem): undefined {
  for (const entry of rlpList(item, 'access_list')) {
    const [address, keys] = rlpTuple(entry, 2, 'access_list entry')
    rlpFixed(address, 20, 'access_list address')
    for (const key of rlpList(keys, 'access_list keys')) rlpFixed(key, 32, 'access_list key')
  }
}

function checkBlobHashes(item: RlpItem): undefined {
  const hashes = rlpList(item, 'blob_versioned_hashes')
  if (hashes.length === 0) refuse('`blob_versioned_hashes` is empty')
  for (const hash of hashes) rlpFixed(hash, 32, 'blob_versioned_hash')
}

/**
 * EIP-7702: `[[chain id, address, nonce, y parity, r, s], …]`, not empty; each is signed already
 * (docs/protocol/signing.md#ethereum-transactions).
 */
function checkAuthorizations(item: RlpItem): undefined {
  const authorizations = rlpList(item, 'authorization_list')
  if (authorizations.length === 0) refuse('`authorization_list` is empty')
  for (const authorization of authorizations) {
    const [chainId, address, nonce, yParity, r, s] = rlpTuple(authorization, 6, 'authorization')
    rlpInteger(chainId, 32, 'authorization chain id')
    rlpFixed(address, 20, 'authorization address')
    rlpInteger(nonce, 8, 'authorization nonce')
    rlpInteger(yParity, 1, 'authorization y parity')
    checkSignature(r, s)
  }
}

/** Both halves of a signature: whole numbers of up to 32 bytes that are not 0. */
export function checkSignature(r: RlpItem | undefined, s: RlpItem | undefined): void {
  if (rlpInteger(r, 32, 'r') === 0n || rlpInteger(s, 32, 's') === 0n) refuse('the signature has a part that is 0')
}

export function isEmpty(item: RlpItem | undefined): boolean {
  return item !== undefined && rlpBytes(item, 'signature').length === 0
}
