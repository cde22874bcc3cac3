import { keccak256 } from '../../../src/crypto/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import type { Anvil } from './anvil.ts'

/** What an organization would upload of it. */
export const TOKEN_ABI = JSON.stringify([
  {
    type: 'function',
    name: 'transfer',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
  },
  {
    type: 'error',
    name: 'InsufficientBalance',
    inputs: [
      { name: 'available', type: 'uint256' },
      { name: 'required', type: 'uint256' },
    ],
  },
])

const selector = (signature: string) => encodeHex(keccak256(signature).subarray(0, 4))

/**
 * A token of ERC-20's two functions that a payment takes, in the machine's own words: the balance of an address is kept
 * under the address. `transfer` reverts with `InsufficientBalance(available, required)`.
 */
const CODE = `0x${[
  // The selector of what is called.
  '5f35 60e0 1c',
  `80 63${selector('transfer(address,uint256)')} 14 6026 57`,
  `63${selector('balanceOf(address)')} 14 601b 57 5f5ffd`,
  // 0x1b, balanceOf: what is kept under the argument.
  '5b 6004 35 54 5f52 6020 5ff3',
  // 0x26, transfer: value and the caller's balance; to 0x48 where it is too little.
  '5b 6024 35 33 54 81 81 10 6048 57',
  // Less for the caller, more for the receiver.
  '81 90 03 33 55 6004 35 80 54 82 01 90 55 6001 5f52 6020 5ff3',
  // 0x48: the error and its two arguments.
  `5b 63${selector('InsufficientBalance(uint256,uint256)')} 60e0 1b 5f52 6004 52 6024 52 6044 5f fd`,
]
  .join('')
  .replaceAll(' ', '')}`

/** Puts the token at an address. */
export async function placeToken(anvil: Anvil, address: string) {
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  await anvil.rpc('anvil_setCode', address, CODE)
  return {
    give: (holder: string, amount: bigint) =>
      anvil.rpc('anvil_setStorageAt', address, word(BigInt(holder)), word(amount)),
    balanceOf: async (holder: string) =>
      BigInt(
        await anvil.rpc<string>(
          'eth_call',
          { to: address, data: `0x${selector('balanceOf(address)')}${word(BigInt(holder)).slice(2)}` },
          'latest',
        ),
      ),
  }
}
