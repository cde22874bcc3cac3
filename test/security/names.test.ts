/** A name that resolves slowly holds up nobody else, and what a name leads to is public as IANA's registries have it. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createPublicAddressTest } from '../../src/service/network/public-address.ts'
import { createResolveHost, NameNotFound } from '../../src/service/network/resolve-host.ts'
import { testFolder } from '../cli/harness.ts'
import { addTenant, refusalOf } from '../service/handlers/steps.ts'
import { startTestService } from '../service/harness.ts'

/** A name server that does what it is told: it says nothing, or that there is no such name, or that it cannot say. */
async function startNameServer(code: 'silent' | 3 | 2): Promise<string> {
  const server: Socket = createSocket('udp4')
  server.on('message', (question, { port, address }) => {
    if (code === 'silent') return
    const answer = Buffer.from(question)
    answer.writeUInt16BE(0x8180 | code, 2)
    server.send(answer, port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${server.address().port}`
}

const NO_HOSTS = '/dev/null'

describe('names: the resolver', () => {
  test('names: a server that says nothing is given up, one that knows no such name is believed', async () => {
    const ask = async (code: 'silent' | 3 | 2) =>
      createResolveHost({ servers: [await startNameServer(code)], hostsFile: NO_HOSTS })('hooks.acme.test').catch(
        (error: unknown) => error,
      )
    expect(await ask(3)).toBeInstanceOf(NameNotFound)
    for (const code of ['silent', 2] as const) {
      const error = await ask(code)
      expect(error).toBeInstanceOf(Error)
      expect(error).not.toBeInstanceOf(NameNotFound)
    }
  })

  test('names: the file of hosts is read first, whatever the case of a name', async () => {
    const hostsFile = join(testFolder(), 'hosts')
    writeFileSync(
      hostsFile,
      '# 10.0.0.9 hooks\n10.0.0.1\thooks Hooks.Acme.Test # hooks.other\n::1 hooks\nnonsense hooks\n',
    )
    const find = createResolveHost({ servers: [await startNameServer(3)], hostsFile })
    expect(await find('HOOKS')).toEqual(['10.0.0.1', '::1'])
    expect(await find('hooks.acme.test.')).toEqual(['10.0.0.1'])
    await expect(find('hooks.other')).rejects.toBeInstanceOf(NameNotFound)
  })

  test('names: localhost is found as the machine has it', async () => {
    expect(await createResolveHost()('localhost')).toContain('127.0.0.1')
  })
})

describe('names: of webhooks', () => {
  test('names: one that nobody answers for is refused as unavailable, and another organization does not wait', async () => {
    const slow = createResolveHost({ servers: [await startNameServer('silent')], hostsFile: NO_HOSTS })
    const service = await startTestService({
      resolveHost: (host) => (host === 'fast.test' ? Promise.resolve(['1.1.1.1']) : slow(host)),
    })
    onTestFinished(() => service.close())
    const { client, organizationId } = await addTenant(service, { parentId: service.organizationId })
    const create = (host: string, who = service.root, of = service.organizationId) =>
      who.submit(
        'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
        { url: `https://${host}/`, name: 'w' },
        { organizationId: of },
      )
    let refused = 0
    const slowOnes = Array.from({ length: 40 }, (_, i) =>
      refusalOf(create(`slow-${i}.test`)).then((refusal) => {
        refused += 1
        return refusal
      }),
    )
    // 8 wait, and the others are told at once.
    while (refused < 32) await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await create('fast.test', client, organizationId)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(refused).toBe(32)
    for (const refusal of await Promise.all(slowOnes)) expect(refusal).toEqual([503, 14, 'service unavailable', ''])
    expect((await create('fast.test')).status).toBe('ACTIVITY_STATUS_COMPLETED')
  })

  test('names: one that does not exist is refused for good', async () => {
    const resolveHost = createResolveHost({ servers: [await startNameServer(3)], hostsFile: NO_HOSTS })
    const service = await startTestService({ resolveHost })
    onTestFinished(() => service.close())
    const sent = service.root.submit('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', { url: 'https://gone.test/', name: 'w' })
    expect((await refusalOf(sent)).slice(0, 2)).toEqual([400, 3])
  })
})

/** IANA, IPv4 and IPv6 special-purpose address registries, and what of IPv6 is not given out (RFC 4291 §2.4). */
const BLOCKS: readonly (readonly [block: string, first: string, last: string])[] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private', '10.0.0.0', '10.255.255.255'],
  ['shared', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['link-local', '169.254.0.0', '169.254.255.255'],
  ['private', '172.16.0.0', '172.31.255.255'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['documentation', '192.0.2.0', '192.0.2.255'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255'],
  ['private', '192.168.0.0', '192.168.255.255'],
  ['benchmarks', '198.18.0.0', '198.19.255.255'],
  ['documentation', '198.51.100.0', '198.51.100.255'],
  ['documentation', '203.0.113.0', '203.0.113.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved and broadcast', '240.0.0.0', '255.255.255.255'],
  ['unspecified, loopback, IPv4-compatible', '::', '::ffff:ffff'],
  ['IPv4-mapped private', '::ffff:10.0.0.0', '::ffff:10.255.255.255'],
  ['IPv4-translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['NAT64', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['local NAT64', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
  ['dummy', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['not given out', '200::', '1fff:ffff::'],
  ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['benchmarks', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHIDv2', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['not given out', '4000::', '5eff:ffff::'],
  ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['not given out', '6000::', 'fbff:ffff::'],
  ['private', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
]

describe('names: public addresses', () => {
  const isPublic = createPublicAddressTest()
  test.each(BLOCKS)('names: %s, %s to %s, is none', (_name, first, last) => {
    expect([isPublic(first), isPublic(last)]).toEqual([false, false])
  })

  test.each([
    ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
    ...[
      '169.253.255.255',
      '169.255.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '192.0.1.0',
      '192.167.255.255',
      '192.169.0.0',
    ],
    ...['198.17.255.255', '198.20.0.0', '223.255.255.255', '::ffff:8.8.8.8'],
    ...['2001:200::', '2001:4860:4860::8888', '2003::', '2606:4700::1111', '2a00::1', '3ffe:ffff::'],
  ])('names: %s, beside them, is one', (address) => {
    expect(isPublic(address)).toBe(true)
  })
})
