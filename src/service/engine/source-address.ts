import { BlockList } from 'node:net'
import { apiError } from '../../protocol/index.ts'
import { parseAddress, parseBlock } from '../network/index.ts'
import { isAuthProxyKey } from '../resources/auth-proxy/store.ts'
import { findApiKeyIpAllowlist, findIpAllowlist, type IpAllowlistRow } from '../resources/ip-allowlists/store.ts'
import { type Rows, type Transaction, whenRead } from '../store/index.ts'
import type { Caller } from './caller.ts'

/**
 * Throws the refusal of a request from an address that the caller's organization does not allow
 * (docs/protocol/organizations.md#ip-allow-lists). Nothing is judged unless the organization's own list is enabled;
 * then a key's own rules, if it has any, count alone. An enabled list without rules lets nobody in. A sub-organization
 * has no list, so its users are exempt, and so is what the organization's authentication proxy forwards: it comes from where
 * the proxy runs, and people log in from anywhere.
 *
 * Unstated: whether a parent's user who reads in a sub-organization is. Not so: the list protects the parent's keys.
 */
export function checkSource(tx: Transaction, caller: Caller, source: string | undefined): Rows<void> {
  return whenRead(findIpAllowlist(tx, caller.homeId), (own) =>
    own?.enabled === 1 ? checkAddress(tx, caller, { own, source }) : undefined,
  )
}

async function checkAddress(
  tx: Transaction,
  caller: Caller,
  { own, source }: { readonly own: IpAllowlistRow; readonly source: string | undefined },
): Promise<void> {
  const publicKey = caller.credential.public_key
  if (publicKey !== undefined && (await isAuthProxyKey(tx, caller.homeId, publicKey))) return
  const ofKey = publicKey === undefined ? undefined : await findApiKeyIpAllowlist(tx, caller.homeId, publicKey)
  const list = ofKey && cidrsOf(ofKey).length > 0 ? ofKey : own
  const address = source === undefined ? undefined : parseAddress(source)
  const allowed = address
    ? isListed(cidrsOf(list), address)
    : (list.on_evaluation_error ?? own.on_evaluation_error) === 'ALLOW'
  if (!allowed) throw apiError('sourceAddressNotAllowed')
}

function cidrsOf({ rules }: { readonly rules: string }): string[] {
  return (JSON.parse(rules) as { cidr: string }[]).map(({ cidr }) => cidr)
}

function isListed(cidrs: readonly string[], address: NonNullable<ReturnType<typeof parseAddress>>): boolean {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const { first, bits, family } = parseBlock(cidr)!
    // A block of IPv6 that carries IPv4 addresses (RFC 4291 §2.5.5) is no rule about these.
    if (family === address.family) list.addSubnet(first, bits, family)
  }
  return list.check(address.address, address.family)
}
