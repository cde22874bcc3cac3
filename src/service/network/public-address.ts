import { BlockList } from 'node:net'
import { parseAddress, parseBlock } from './address.ts'

/** Address blocks that no webhook may reach (docs/protocol/webhooks.md#url-rules). */
const NOT_PUBLIC = [
  ['0.0.0.0/8', 'unspecified, this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared between a carrier’s customers'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local, the metadata service of clouds'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', '6to4 relays'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarks'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved, broadcast'],
  // Of IPv6 only 2000::/3 is given out as global (IANA, IPv6 address space): neither the first eighth, with every form that
  // carries an IPv4 address, `::ffff:0:0:0/96` among them, nor the upper six.
  ['::/3', 'no global unicast: unspecified, loopback, IPv4 in its forms, translators, discard'],
  ['4000::/2', 'not given out'],
  ['8000::/1', 'not given out: private, link-local, site-local, multicast'],
  ['::/96', 'unspecified, loopback, IPv4 in an abandoned form'],
  ['64:ff9b::/96', 'IPv4 behind a translator'],
  ['64:ff9b:1::/48', 'IPv4 behind a local translator'],
  ['100::/64', 'discard'],
  ['2001::/23', 'protocol assignments, Teredo among them'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4, which carries any IPv4'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
] as const satisfies readonly (readonly [block: string, why: string])[]

/** Creates the test of whether an address is one of the public internet; what is no address is not. */
export function createPublicAddressTest(): (address: string) => boolean {
  // One for each: in a list of both an IPv4 address is looked for among the IPv6 blocks too, as one that IPv6 carries.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const [text] of NOT_PUBLIC) {
    const { first, bits, family } = parseBlock(text)!
    lists[family].addSubnet(first, bits, family)
  }
  return (text) => {
    const parsed = parseAddress(text)
    return parsed !== undefined && !lists[parsed.family].check(parsed.address, parsed.family)
  }
}
