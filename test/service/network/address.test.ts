import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAddress, parseBlock, printBlock } from '../../../src/service/network/address.ts'
import { createPublicAddressTest } from '../../../src/service/network/public-address.ts'

const normal = (text: string) => {
  const block = parseBlock(text)
  return block && printBlock(block)
}

describe('address blocks', () => {
  test.each([
    ['192.168.1.100/24', '192.168.1.0/24'],
    ['10.0.0.1/32', '10.0.0.1/32'],
    ['255.255.255.255/0', '0.0.0.0/0'],
    ['172.31.255.1/20', '172.31.240.0/20'],
    ['2001:DB8:0:0:1::f/48', '2001:db8::/48'],
    ['::1/128', '::1/128'],
    ['fe80::1:2:3:4/64', 'fe80::/64'],
    ['::ffff:1.2.3.4/128', '::ffff:102:304/128'],
  ])('address blocks: %s is %s', (text, expected) => {
    expect(normal(text)).toBe(expected)
  })

  test.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0/24',
    '10.0.0.256/24',
    '10.0.0.0/024',
    '10.0.0.0/-1',
    '::/129',
    'g::/48',
    '',
    '/24',
    '1.2.3.4/24/24',
    '010.0.0.1/24',
    '1::2::3/48',
    'fe80::1%eth0/64',
  ])('address blocks: `%s` is none', (text) => {
    expect(parseBlock(text)).toBeUndefined()
  })

  test('address blocks: the normal form of a normal form is itself', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(groups, fc.integer({ min: 0, max: 128 }), (parts, bits) => {
        const once = normal(`${parts.map((part) => part.toString(16)).join(':')}/${bits}`)!
        expect(normal(once)).toBe(once)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['::FFFF:7f00:1', '127.0.0.1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['2001:DB8::0', '2001:db8::'],
    ['unix', undefined],
  ])('addresses: %s is compared as %s', (text, expected) => {
    expect(parseAddress(text)?.address).toBe(expected)
  })
})

describe('public addresses', () => {
  const isPublic = createPublicAddressTest()
  test.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '2a00::1'])(
    'public addresses: %s is one',
    (address) => {
      expect(isPublic(address)).toBe(true)
    },
  )

  test.each([
    ...['0.0.0.0', '10.255.0.1', '100.64.0.1', '127.8.8.8', '169.254.169.254', '172.16.0.1', '192.168.0.1'],
    ...['192.0.2.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:10.0.0.1', '::ffff:7f00:1', '64:ff9b::a00:1', '2002:7f00:1::', '2001:db8::1'],
    ...['fc00::1', 'fd12::1', 'fe80::1', 'ff02::1', '::7f00:1', 'nonsense'],
  ])('public addresses: %s is none', (address) => {
    expect(isPublic(address)).toBe(false)
  })
})
