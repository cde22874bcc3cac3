import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCidr } from '../../src/resources/cidr.ts'

describe('cidr', () => {
  const table = [
    { text: '203.0.113.7/24', block: '203.0.113.0/24' },
    { text: '203.0.113.7/32', block: '203.0.113.7/32' },
    { text: '10.1.255.255/20', block: '10.1.240.0/20' },
    { text: '2001:DB8:0:0:1::1/64', block: '2001:db8::/64' },
    { text: '2001:db8::1/128', block: '2001:db8::1/128' },
    { text: '2001:0:0:1:0:0:0:1/128', block: '2001:0:0:1::1/128' },
    { text: '2001:db8:0:1:1:1:1:1/128', block: '2001:db8:0:1:1:1:1:1/128' },
    { text: '::ffff:192.0.2.1/128', block: '::ffff:c000:201/128' },
    { text: '::/48', block: '::/48' },
  ]
  for (const { text, block } of table) {
    test(`cidr: ${text} is the block ${block}`, () => expect(parseCidr(text)).toMatchObject({ text: block }))
  }

  const refused = [
    { text: '203.0.113.0', expected: 'a block of addresses such as `203.0.113.0/24`' },
    { text: '203.0.113.0/', expected: 'a block of addresses such as `203.0.113.0/24`' },
    { text: '203.0.113.0/33', expected: 'a block of addresses such as `203.0.113.0/24`' },
    { text: '203.0.113.0/024', expected: 'a block of addresses such as `203.0.113.0/24`' },
    { text: '203.0.113/24', expected: 'a block of addresses such as `203.0.113.0/24`' },
    { text: 'fe80::1%eth0/64', expected: 'a block of addresses such as `203.0.113.0/24`' },
    { text: '2001:db8::/129', expected: 'a block of addresses such as `203.0.113.0/24`' },
    { text: '10.0.0.0/19', expected: 'a block no wider than /20 for IPv4' },
    { text: '2001:db8::/47', expected: 'a block no wider than /48 for IPv6' },
  ]
  for (const { text, expected } of refused) {
    test(`cidr: ${text} is refused`, () => expect(parseCidr(text)).toEqual({ expected }))
  }

  test('cidr: what is written is read as the same block', () => {
    const block = fc.oneof(
      fc.tuple(fc.ipV4(), fc.integer({ min: 20, max: 32 })),
      fc.tuple(fc.ipV6(), fc.integer({ min: 48, max: 128 })),
    )
    fc.assert(
      fc.property(block, ([address, length]) => {
        const first = parseCidr(`${address}/${length}`)
        if (!('text' in first)) throw new Error(`expected a block, got ${first.expected}`)
        expect(parseCidr(first.text)).toEqual(first)
      }),
    )
  })
})
