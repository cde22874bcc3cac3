/** Ether and the tokens of EIP-20 on an Ethereum chain, as its newest block has them. */
import { isEthereumAddress } from '../../chain/index.ts'
import { decodeHex, decodeUtf8 } from '../../encoding/index.ts'
import { type ChainNode, createEthereumNode, NodeRefusal } from '../nodes/index.ts'
import type { Holdings } from './holdings.ts'
import { NoToken } from './no-token.ts'

/** The first four bytes of keccak256 of `name()`, `symbol()`, `decimals()`, `balanceOf(address)`. */
const SELECTORS = { name: '0x06fdde03', symbol: '0x95d89b41', decimals: '0x313ce567', balanceOf: '0x70a08231' } as const

const WORD = 32

export const ethereumHoldings: Holdings = {
  namespace: 'erc20',
  isAddress: isEthereumAddress,
  ofCurrency: (node, address) => createEthereumNode(node).balance(address),
  async describe(node, token) {
    const [name, symbol, decimals] = await Promise.all([
      readOptionalText(node, token, SELECTORS.name),
      readOptionalText(node, token, SELECTORS.symbol),
      readNumber(node, token, SELECTORS.decimals),
    ])
    if (decimals > 255n) throw new NoToken(token, `its decimals are ${decimals}`)
    return { ...(name && { name }), ...(symbol && { symbol }), decimals: Number(decimals) }
  },
  ofToken: (node, token, address) =>
    readNumber(
      node,
      token,
      `${SELECTORS.balanceOf}${address
        .slice(2)
        .toLowerCase()
        .padStart(2 * WORD, '0')}`,
    ),
}

async function readNumber(node: ChainNode, token: string, data: string): Promise<bigint> {
  const answer = await call(node, token, data)
  if (answer.length !== WORD) throw new NoToken(token, `expected a word of ${WORD} bytes, got ${answer.length}`)
  return wordAt(answer, 0)
}

/** Name and symbol are optional (EIP-20), and in the oldest tokens they are a word, filled up with zeros. */
async function readOptionalText(node: ChainNode, token: string, data: string): Promise<string | undefined> {
  const answer = await call(node, token, data).catch((error: unknown) => {
    if (error instanceof NoToken) return new Uint8Array()
    throw error
  })
  const bytes = answer.length === WORD ? answer : answer.subarray(2 * WORD, 2 * WORD + textLength(answer))
  const end = bytes.indexOf(0)
  try {
    return decodeUtf8(end < 0 ? bytes : bytes.subarray(0, end)) || undefined
  } catch {
    return undefined
  }
}

/** One `string` as the ABI writes it: where it begins (after this word), how long it is, its bytes. */
function textLength(answer: Uint8Array): number {
  if (answer.length < 2 * WORD || wordAt(answer, 0) !== BigInt(WORD)) return 0
  const length = wordAt(answer, WORD)
  return length <= BigInt(answer.length) ? Number(length) : 0
}

function wordAt(bytes: Uint8Array, at: number): bigint {
  return BigInt(`0x${Buffer.from(bytes.subarray(at, at + WORD)).toString('hex')}`)
}

async function call(node: ChainNode, to: string, data: string): Promise<Uint8Array> {
  try {
    return decodeHex(await node.request<string>('eth_call', [{ to, data }, 'latest']))
  } catch (error) {
    if (error instanceof NodeRefusal) throw new NoToken(to, error.message, error)
    throw error
  }
}
