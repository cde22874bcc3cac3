/**
 * Addresses on a chain that begin and end alike and are not the same. People compare the first and last four characters, and
 * programs show no more; an address of which these are chosen takes a computer minutes to find. Two of them by chance are one
 * in four thousand million.
 */

/** An address, and what has it. */
export interface OwnedAddress<Of> {
  readonly address: string
  readonly of: Of
}

/** Addresses to look others up in. */
export interface AddressLookAlikes<Of> {
  add(one: OwnedAddress<Of>): void
  /** Whether this very address is known. */
  has(address: string): boolean
  /** The first that begins and ends as this one does and is another. */
  find(address: string): OwnedAddress<Of> | undefined
}

/** Characters that are compared at either end. */
const ENDS = 4

/** Makes an index of addresses by how they begin and end. */
export function indexAddressLookAlikes<Of>(addresses: Iterable<OwnedAddress<Of>>): AddressLookAlikes<Of> {
  const known = new Set<string>()
  // Of several that look the same two suffice: one of them differs from whatever is looked up.
  const byLook = new Map<string, readonly OwnedAddress<Of>[]>()
  const index: AddressLookAlikes<Of> = {
    add(one) {
      const [normal, look] = [normalAddress(one.address), lookOf(one.address)]
      if (look === undefined || known.has(normal)) return
      known.add(normal)
      const alike = byLook.get(look) ?? []
      if (alike.length < 2) byLook.set(look, [...alike, one])
    },
    has: (address) => known.has(normalAddress(address)),
    find(address) {
      const [normal, look] = [normalAddress(address), lookOf(address)]
      if (look === undefined) return undefined
      return byLook.get(look)?.find((one) => normalAddress(one.address) !== normal)
    },
  }
  for (const one of addresses) index.add(one)
  return index
}

/** An address beside one that begins and ends alike, and whose that is: both whole, to be compared to the last character. */
export function addressDifference(address: string, like: OwnedAddress<string>): string {
  const [here, there] = [normalAddress(address), normalAddress(like.address)]
  const at = [...here].findIndex((c, index) => c !== there[index])
  const where = at < 0 ? here.length : at
  return `${address} begins and ends like ${like.address} of ${like.of}, and differs from its character ${where + 1} on`
}

/** Addresses in a text: `0x` and forty hex digits, or a word of base58 or bech32 of the length of an address. */
export function addressesIn(text: string): readonly string[] {
  const found =
    text.match(
      /\b(?:0x[0-9a-f]{40}|(?:bc|tb|bcrt|cosmos|sp|spark)\w*1[02-9ac-hj-np-z]{25,87}|[1-9A-HJ-NP-Za-km-z]{32,44})\b/gi,
    ) ?? []
  return [...new Set(found)]
}

/** In hex the case of letters is a checksum (EIP-55), in bech32 it is one case; in base58 it counts. */
function normalAddress(address: string): string {
  return /^0x/i.test(address) || isBech32(address) ? address.toLowerCase() : address
}

function isBech32(address: string): boolean {
  return /^[a-z]{2,10}1[02-9ac-hj-np-z]{25,87}$/i.test(address)
}

/** What people compare of it: behind what all addresses of its kind begin with. */
function lookOf(address: string): string | undefined {
  const normal = normalAddress(address)
  const prefix = isBech32(normal) ? normal.slice(0, normal.lastIndexOf('1') + 2) : normal.startsWith('0x') ? '0x' : ''
  const rest = normal.slice(prefix.length)
  return rest.length < 4 * ENDS ? undefined : `${prefix} ${rest.slice(0, ENDS)} ${rest.slice(-ENDS)}`
}
