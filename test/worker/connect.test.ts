/** A connection to Temporal that is closed while calls on it are tried again. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { connectTemporal } from '../../src/worker/index.ts'
import { startTcpProxy } from '../faults/tcp.ts'
import { testTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'

test('connect: calls that wait for another try when the connection is closed end, and nothing is thrown where nobody catches it', async () => {
  const { address, tls } = await testTemporal()
  const proxy = await startTcpProxy(`http://${address}`)
  onTestFinished(() => proxy.close().catch(() => {}))
  const temporal = await connectTemporal({ address: new URL(proxy.url).host, tls }, testSeal)
  await proxy.close()
  const calls = Array.from({ length: 20 }, (_, n) => temporal.client.workflow.getHandle(`none-${n}`).describe())
  const ended = Promise.allSettled(calls)
  // By then each has failed, and waits to be tried again.
  await delay(300)
  await temporal.close()
  expect((await ended).map(({ status }) => status)).toEqual(calls.map(() => 'rejected'))
})
