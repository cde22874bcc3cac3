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

const OPCODES: Readonly<Record<string, string>> = {
  ...{ ADD: '01', SUB: '03', LT: '10', EQ: '14', SHL: '1b', SHR: '1c', CALLER: '33', CALLDATALOAD: '35' },
  ...{ MSTORE: '52', SLOAD: '54', SSTORE: '55', JUMPI: '57', DUP1: '80', LOG3: 'a3', RETURN: 'f3', REVERT: 'fd' },
}

/** Assembles words: opcodes, hex that is pushed as it stands, and labels, where `x:` is a place and `@x` pushes it. */
function assemble(source: string): string {
  const push = (hex: string) => (0x5f + hex.length / 2).toString(16) + hex
  const places = new Map<string, string>()
  const codeOf = (word: string) => {
    if (word.endsWith(':')) return '5b'
    return OPCODES[word] ?? push(word.startsWith('@') ? (places.get(word.slice(1)) ?? '0000') : word)
  }
  const words = source.trim().split(/\s+/)
  let at = 0
  for (const word of words) {
    if (word.endsWith(':')) places.set(word.slice(0, -1), at.toString(16).padStart(4, '0'))
    at += codeOf(word).length / 2
  }
  return words.map(codeOf).join('')
}

const selector = (signature: string) => encodeHex(keccak256(signature).subarray(0, 4))
const textOf = (text: string) => Buffer.from(text).toString('hex').padEnd(64, '0')
const answerWord = (value: string) => `${value} 00 MSTORE 20 00 RETURN`
const answerText = (text: string) =>
  `20 00 MSTORE ${text.length.toString(16).padStart(2, '0')} 20 MSTORE ${textOf(text)} 40 MSTORE 60 00 RETURN`

export interface TokenOptions {
  /** @default 'A coin' */
  readonly name?: string
  /** @default 'COIN' */
  readonly symbol?: string
  /** Whether it says its texts as a word, as the oldest tokens do. @default false */
  readonly old?: boolean
}

/**
 * A token of EIP-20 with six decimals: the balance of an address is kept under the address. `transfer` reverts with
 * `InsufficientBalance(available, required)`.
 */
const tokenCode = ({ name = 'A coin', symbol = 'COIN', old = false }: TokenOptions) => `
  00 CALLDATALOAD e0 SHR
  DUP1 ${selector('balanceOf(address)')} EQ @balanceOf JUMPI
  DUP1 ${selector('transfer(address,uint256)')} EQ @transfer JUMPI
  DUP1 ${selector('decimals()')} EQ @decimals JUMPI
  DUP1 ${selector('symbol()')} EQ @symbol JUMPI
  DUP1 ${selector('name()')} EQ @name JUMPI
  00 00 REVERT
  balanceOf: ${answerWord('04 CALLDATALOAD SLOAD')}
  decimals: ${answerWord('06')}
  symbol: ${old ? answerWord(textOf(symbol)) : answerText(symbol)}
  name: ${old ? answerWord(textOf(name)) : answerText(name)}
  transfer:
    24 CALLDATALOAD DUP1 CALLER SLOAD LT @tooLittle JUMPI
    DUP1 CALLER SLOAD SUB CALLER SSTORE
    DUP1 04 CALLDATALOAD SLOAD ADD 04 CALLDATALOAD SSTORE
    00 MSTORE 04 CALLDATALOAD CALLER ${encodeHex(keccak256('Transfer(address,address,uint256)'))} 20 00 LOG3
    ${answerWord('01')}
  tooLittle:
    ${selector('InsufficientBalance(uint256,uint256)')} e0 SHL 00 MSTORE
    CALLER SLOAD 04 MSTORE 24 MSTORE 44 00 REVERT`

/** Puts the token at an address. */
export async function placeToken(anvil: Anvil, address: string, options: TokenOptions = {}) {
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  await anvil.rpc('anvil_setCode', address, `0x${assemble(tokenCode(options))}`)
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
