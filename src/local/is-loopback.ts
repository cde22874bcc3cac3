import { BlockList, isIP } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether a host is this machine by its loopback: `localhost`, an address of 127.0.0.0/8, or `::1`, also as a URL has it (`[::1]`). */
export function isLoopback(name: string): boolean {
  const host = name === '[::1]' ? '::1' : name
  const version = isIP(host)
  return version === 0 ? host === 'localhost' : LOOPBACK.check(host, version === 6 ? 'ipv6' : 'ipv4')
}
