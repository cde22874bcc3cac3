import { isIP } from 'node:net'

/** An IP address or a block of them. */
export interface AddressBlock {
  readonly family: 'ipv4' | 'ipv6'
  /** The first address of the block, in its normal form. */
  readonly first: string
  readonly bits: number
}

const WIDTH = { ipv4: 32, ipv6: 128 } as const

/** Parses `10.0.0.0/24` or `2001:db8::/48`; bits after the prefix are cleared. Nothing for what is no block. */
export function parseBlock(text: string): AddressBlock | undefined {
  const [, address = '', length = ''] = /^([0-9a-fA-F.:]+)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? []
  const family = familyOf(address)
  if (family === undefined || Number(length) > WIDTH[family]) return undefined
  const bits = Number(length)
  const hostBits = BigInt(WIDTH[family] - bits)
  return { family, first: fromNumber(family, (toNumber(family, address) >> hostBits) << hostBits), bits }
}

/** Writes a block in its normal form. */
export function printBlock({ first, bits }: AddressBlock): string {
  return `${first}/${bits}`
}

/**
 * Brings an address, as a socket or a resolver tells it, into the form that is compared: without a zone, and an IPv4
 * address that IPv6 carries (RFC 4291 §2.5.5.2) as itself. Nothing for what is no address.
 */
export function parseAddress(text: string): { readonly family: 'ipv4' | 'ipv6'; readonly address: string } | undefined {
  const bare = text.split('%', 1)[0]!
  const family = familyOf(bare)
  if (family === undefined) return undefined
  // Such a text has one form alone.
  if (family === 'ipv4') return { family, address: bare }
  const value = toNumber(family, bare)
  const isMapped = value >> 32n === 0xffffn
  return isMapped
    ? { family: 'ipv4', address: fromNumber('ipv4', value & 0xffffffffn) }
    : { family, address: fromNumber(family, value) }
}

function familyOf(address: string): AddressBlock['family'] | undefined {
  return ({ 4: 'ipv4', 6: 'ipv6' } as const)[isIP(address) as 4 | 6]
}

function toNumber(family: AddressBlock['family'], address: string): bigint {
  if (family === 'ipv4') return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
  const [head = '', tail] = canonical(address).split('::')
  const [left, right] = [groupsOf(head), tail === undefined ? [] : groupsOf(tail)]
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

function fromNumber(family: AddressBlock['family'], value: bigint): string {
  if (family === 'ipv4') return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  return canonical(groups.join(':'))
}

/** RFC 5952, as URLs are written: groups in hex alone, the longest run of zeros left out. */
function canonical(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1)
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':')
}
