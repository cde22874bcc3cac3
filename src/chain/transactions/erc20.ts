/** The one function of ERC-20 by which a token is paid. */

import { keccak256 } from '../../crypto/index.ts'
import { encodeHex } from '../../encoding/index.ts'
import type { SmartContractInterface } from './interfaces.ts'

const SELECTOR = encodeHex(keccak256('transfer(address,uint256)').subarray(0, 4))

/** Makes the calldata of `transfer(to, value)`: the receiver's 20 bytes and the smallest units, each in a word of 32 bytes. */
export function encodeTransfer(to: string, value: bigint): string {
  const word = (hex: string) => hex.padStart(64, '0')
  return `0x${SELECTOR}${word(to.slice(2).toLowerCase())}${word(value.toString(16))}`
}

/** The interface that the standard gives every token, for tokens without an uploaded one. */
export function transferInterface(address: string): SmartContractInterface {
  const inputs = [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
  ]
  const json = JSON.stringify([{ type: 'function', name: 'transfer', inputs }])
  return { address, type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', json }
}
