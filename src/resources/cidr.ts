import { isIPv4, isIPv6 } from 'node:net'

/** The widest blocks that the API takes (docs/protocol/organizations.md#ip-allow-lists). */
const WIDEST = { 4: 20, 6: 48 } as const

/** A block of addresses with its host bits cleared. */
export interface Cidr {
  readonly version: 4 | 6
  /** The one way in which the block is written: `203.0.113.0/24`, `2001:db8::/48`. */
  readonly text: string
}

/** Reads a block such as `203.0.113.7/24`; or says what it expected instead. */
export function parseCidr(text: string): Cidr | { readonly expected: string } {
  const [, address = '', length = ''] = /^([^/]*)\/([0-9]{1,3})$/.exec(text) ?? []
  const version = isIPv4(address) ? 4 : isIPv6(address) && !address.includes('%') ? 6 : undefined
  const bits = version === 4 ? 32 : 128
  if (version === undefined || Number(length) > bits || (length.length > 1 && length.startsWith('0')))
    return { expected: 'a block of addresses such as `203.0.113.0/24`' }
  if (Number(length) < WIDEST[version])
    return { expected: `a block no wider than /${WIDEST[version]} for IPv${version}` }
  const shift = BigInt(bits - Number(length))
  const network = (toNumber(address, version) >> shift) << shift
  return { version, text: `${version === 4 ? writeV4(network) : writeV6(network)}/${length}` }
}

function toNumber(address: string, version: 4 | 6): bigint {
  if (version === 4) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n)
  // `::ffff:192.0.2.1` ends in an IPv4 address, which stands for two groups.
  const whole = address.replace(/[0-9.]+$/, (tail) => (tail.includes('.') ? groupsOfV4(tail) : tail))
  const [head = '', tail] = whole.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n)
}

function groupsOfV4(address: string): string {
  const number = toNumber(address, 4)
  return `${(number >> 16n).toString(16)}:${(number & 0xffffn).toString(16)}`
}

function writeV4(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 0xffn).join('.')
}

/** As RFC 5952 has it: lower case, no leading zeros, the longest run of two or more zero groups as `::`. */
function writeV6(number: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => (number >> BigInt(112 - 16 * index)) & 0xffffn)
  let best = { start: -1, length: 1 }
  for (let start = 0; start < 8; start++) {
    let end = start
    while (end < 8 && groups[end] === 0n) end++
    if (end - start > best.length) best = { start, length: end - start }
  }
  const write = (part: readonly bigint[]) => part.map((group) => group.toString(16)).join(':')
  if (best.start < 0) return write(groups)
  return `${write(groups.slice(0, best.start))}::${write(groups.slice(best.start + best.length))}`
}
