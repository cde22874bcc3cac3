import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../src/telemetry/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { startTestService } from '../service/harness.ts'
import { fetchKeys, startReceiver, subscribe } from '../service/outbox/receiver.ts'
import { startWrongNode } from '../service/outbox/wrong-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { accountsOf, ETHEREUM } from '../service/signing/keys.ts'
import { quorate, serve, testFolder } from './harness.ts'

describe('webhooks', () => {
  test('webhooks: doctor says what was given up, and why', async () => {
    const folder = testFolder()
    const env = { QUORATE_DATA_DIR: folder }
    const finding = async () => {
      const { stdout } = await quorate(['doctor', '--json'], { env })
      return (JSON.parse(stdout).findings as { check: string }[]).find(({ check }) => check === 'webhooks')
    }
    expect(await finding()).toMatchObject({ state: 'not used' })
    const dataDir = join(folder, 'service')
    mkdirSync(dataDir, { recursive: true })
    const [receiver, node] = await Promise.all([startReceiver(() => 404), startWrongNode()])
    onTestFinished(() => Promise.all([receiver.close(), node.close()]).then(() => {}))
    const chains = { [SEPOLIA]: { url: node.url, pollMs: 20 } }
    const givenUp = Promise.withResolvers<void>()
    const logger = { ...silentLogger, warn: (said: string) => said === 'webhook given up' && givenUp.resolve() }
    const allowedWebhookHosts = [receiver.host]
    const { root, service } = await startTestService({ dataDir, chains, allowedWebhookHosts, logger })
    try {
      expect(await finding()).toMatchObject({ state: 'good', found: 'none was given up' })
      await subscribe(root, `${receiver.url}/in?token=canary`)
      const wallet = { walletName: 'w', accounts: accountsOf(ETHEREUM) }
      const [from] = (await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', wallet)).addresses
      await complete(root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', { from, to: from, value: '1', caip2: SEPOLIA })
      await givenUp.promise
      expect(await finding()).toMatchObject({
        state: 'warning',
        found: expect.stringMatching(
          new RegExp(`^1 given up, the last one at \\d{4}-[-\\dT:.]+Z: ${receiver.host}, answered 404$`),
        ),
      })
    } finally {
      await service.close()
    }
  })

  test('webhooks: serve makes the next key when it is told to, and one at a time', async () => {
    const folder = testFolder()
    const listed = async (args: readonly string[]) => {
      const serving = await serve(folder, { args })
      const keys = await fetchKeys(serving.baseUrl)
      await serving.stop()
      return keys
    }
    const [first] = await listed([])
    const both = await listed(['--rotate-webhook-key'])
    expect(both).toEqual([first, expect.anything()])
    expect(await listed(['--rotate-webhook-key'])).toEqual(both)
  })
})
