/** Transfers of tokens, as their contracts log them (EIP-20). */

/** keccak256 of `Transfer(address,address,uint256)`: the first topic of the log. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** One transfer of a token. Addresses are in lower case; the amount is in the token's smallest unit. */
export interface TokenTransfer {
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

/** Reads a log as a transfer of a token; undefined for any other log. EIP-721 has the same event with a fourth topic. */
export function readTokenTransfer({
  address,
  topics,
  data,
}: {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}): TokenTransfer | undefined {
  const [event, from, to] = topics
  if (topics.length !== 3 || event?.toLowerCase() !== TRANSFER_TOPIC || !/^0x[0-9a-f]{64}$/i.test(data))
    return undefined
  return { token: address.toLowerCase(), from: addressOf(from!), to: addressOf(to!), amount: BigInt(data) }
}

/** An address as a topic has it: the last 20 of 32 bytes. */
function addressOf(topic: string): string {
  return `0x${topic.slice(-40).toLowerCase()}`
}
