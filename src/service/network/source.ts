import { parseAddress, parseBlock, printBlock } from './address.ts'

/**
 * Names the source that an address counts for: an IPv4 address by itself, an IPv6 address by its block of 64 bits, which is
 * what one customer is given (RFC 6177): a customer with one address has all of the block.
 */
export function sourceOf(address: string | undefined): string {
  const parsed = parseAddress(address ?? '')
  if (parsed === undefined) return 'unknown'
  return parsed.family === 'ipv4' ? parsed.address : printBlock(parseBlock(`${parsed.address}/64`)!)
}
