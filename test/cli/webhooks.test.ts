import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { renderDeliveries } from '../../src/cli/views/webhooks.ts'
import { askAboutWebhooks } from '../../src/service/operator/index.ts'
import { silentLogger } from '../../src/telemetry/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { startIssuer } from '../service/oidc/issuer.ts'
import { fetchKeys, type Received, startReceiver, subscribe, verdictOf } from '../service/outbox/receiver.ts'
import { startWrongNode } from '../service/outbox/wrong-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { accountsOf, ETHEREUM } from '../service/signing/keys.ts'
import { environmentOf, quorateShared as quorate, serve, testFolder } from './harness.ts'
import { startCommand } from './started.ts'

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

  test('webhooks: of an ID token in an event it is shown whom it is of; the program behind --forward-to gets the token', async () => {
    const [app, issuer] = [await startReceiver(() => 200), await startIssuer()]
    const service = await startTestService({
      operator: true,
      allowedWebhookHosts: [app.host],
      privateIssuers: [issuer.url],
    })
    onTestFinished(() => Promise.all([app.close(), service.close(), issuer.close()]).then(() => {}))
    const env = environmentOf(service, testFolder(), service.root.privateKey)
    const listening = quorate(
      ['webhooks', 'listen', '--json', '--count', '2', '--forward-to', `${app.url}/app`, '--folder', service.dataDir],
      { env },
    )
    await app.until(1)
    const oidcToken = await issuer.token({ sub: 'mallory' })
    const { userId } = await service.root.query('whoami')
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2', {
      userId,
      oauthProviders: [{ providerName: 'google', oidcToken }],
    })
    const { exit, stdout, stderr } = await listening
    expect(exit).toBe(0)
    expect(stdout).toMatch(
      /"oidcToken":\{"issuer":"[^"]+","audience":"[^"]+","subject":"mallory","token":"\[not shown\]"\}/,
    )
    // As it came, or its receiver could not verify it.
    expect(Buffer.from(app.received.at(-1)!.bytes).toString()).toContain(oidcToken)
    for (const part of oidcToken.split('.')) expect(stdout + stderr).not.toContain(part)
  })

  test('webhooks: what comes is verified, shown and forwarded as it came; what was given up is seen, and delivered again', async () => {
    const folder = testFolder()
    let reply: (received: Received) => number = () => 200
    const app = await startReceiver((received) => reply(received))
    const service = await startTestService({ operator: true, allowedWebhookHosts: [app.host] })
    onTestFinished(() => Promise.all([app.close(), service.close()]).then(() => {}))
    const env = environmentOf(service, folder, service.root.privateKey)
    const own = ['--folder', service.dataDir]
    const listening = quorate(
      ['webhooks', 'listen', '--json', '--count', '2', '--forward-to', `${app.url}/app`, ...own],
      { env },
    )
    // The first event is the making of its own endpoint.
    await app.until(1)
    const { webhookEndpoints } = await service.root.query('list_webhook_endpoints')
    expect(webhookEndpoints[0]!.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//)
    const tag = { userTagName: 'seen', userIds: [] }
    const made = await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag)
    const listened = await listening
    expect({ exit: listened.exit, stderr: listened.stderr }).toMatchObject({ exit: 0 })
    const lines = listened.stdout
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each))
    expect(lines.map(({ verified, forwarded, body }) => [verified, forwarded, body.type])).toEqual([
      [true, '200', 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT'],
      [true, '200', 'ACTIVITY_TYPE_CREATE_USER_TAG'],
    ])
    const came = app.received.find(({ body }) => body['id'] === made.id)!
    expect(verdictOf(came, await fetchKeys(service.url))).toBe('ok')
    expect((await service.root.query('list_webhook_endpoints')).webhookEndpoints).toEqual([])

    const headers = join(folder, 'headers.json')
    writeFileSync(headers, JSON.stringify(came.headers))
    // It takes no key and no organization: the list of keys is public.
    const verifying = ['webhooks', 'verify', '--headers', headers, '--base-url', service.url, '--data-dir', folder]
    const verify = (input: string) => quorate(verifying, { input })
    const good = await verify(Buffer.from(came.bytes).toString())
    expect([good.exit, good.stdout]).toEqual([0, expect.stringContaining(`Verified: event ${came.eventId}`)])
    const bad = await verify(`${Buffer.from(came.bytes).toString()} `)
    expect([bad.exit, bad.stdout]).toEqual([1, expect.stringContaining('Not verified: invalid_signature')])

    reply = () => 410
    await subscribe(service.root, `${app.url}/gone?token=canary`, { eventType: 'ACTIVITY_UPDATES' })
    await app.until((received) => received.some(({ path }) => path.startsWith('/gone')))
    const deliveries = async (...more: readonly string[]) => {
      const ran = await quorate(['webhooks', 'deliveries', '--json', ...own, ...more])
      expect(ran.stdout).not.toContain('canary')
      return ran
    }
    await vi.waitUntil(
      async () => (await askAboutWebhooks(service.dataDir, { kind: 'list-deliveries' })).givenUp.count > 0,
    )
    const givenUp = JSON.parse((await deliveries()).stdout).givenUp
    expect(givenUp).toMatchObject({
      count: 1,
      last: [{ reason: 'answered 410', attempts: 1, host: app.host, isKept: true }],
    })
    const { eventId } = givenUp.last[0]
    reply = () => 200
    const again = await deliveries('--redeliver', eventId)
    expect(JSON.parse(again.stdout).givenUp.count).toBe(0)
    const isSame = (each: Received) => each.eventId === eventId
    const both = (await app.until((received) => received.filter(isSame).length === 2)).filter(isSame)
    expect(both[0]!.bytes).toEqual(both[1]!.bytes)
    const none = await deliveries('--redeliver', eventId)
    expect(none.stderr).toContain(`no webhook with the event id \`${eventId}\` was given up`)
  })

  test('webhooks: an attempt that is made just now is said to be, and no time that has passed is called the next', () => {
    const [now, hour] = [Date.UTC(2026, 0, 2), 3_600_000]
    const of = { eventType: 'ACTIVITY_UPDATES', organizationId: 'o', endpointId: 'e', host: 'h:1' } as const
    const first = [
      { ...of, eventId: 'held', attempts: 0, at: now - 1 },
      { ...of, eventId: 'later', attempts: 1, reason: 'answered 500', at: now + hour },
    ]
    const [, ...rows] = renderDeliveries({ now, waiting: { count: 2, first }, givenUp: { count: 0, last: [] } }).split(
      '\n',
    )
    expect(rows.filter(Boolean).map((row) => row.trim())).toEqual([
      'held  ACTIVITY_UPDATES  h:1  0 attempts, now',
      'later  ACTIVITY_UPDATES  h:1  1 attempt: answered 500, next at 2026-01-02T01:00:00.000Z',
    ])
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

test('webhooks: an endpoint that nobody has approved is asked for no more once nobody listens', async () => {
  const service = await startTestService({ operator: true })
  onTestFinished(() => service.close())
  const bob = await createTestUser(service, 'bob')
  const userIds = [service.rootUserId, bob.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  const home = testFolder()
  const env = environmentOf(service, home, service.root.privateKey)
  const listen = startCommand(['webhooks', 'listen', '--folder', service.dataDir], { env, home })
  await listen.says(/The endpoint waits for approval as/)
  listen.kill()
  const { exit, stderr } = await listen.ended
  expect([exit, stderr]).toEqual([0, expect.stringContaining('and it is asked for no more.\n')])
  expect(stderr).not.toContain('deleted')
  const { activities } = await service.root.query('list_activities', {})
  expect(activities.find(({ type }) => type === 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT')?.status).toBe(
    'ACTIVITY_STATUS_REJECTED',
  )
})

describe('webhooks: listening to a service that is gone', () => {
  /** A service in a process, so that it can be killed and stopped, and somebody who listens there. */
  async function listening(...more: readonly string[]) {
    const folder = testFolder()
    const served = await serve(join(folder, 'service'))
    const env = {
      QUORATE_BASE_URL: served.baseUrl,
      QUORATE_ORGANIZATION_ID: served.organizationId,
      QUORATE_API_KEY_FILE: join(served.folder, 'bootstrap.json'),
      QUORATE_DATA_DIR: join(folder, 'data'),
    }
    const args = ['webhooks', 'listen', '--folder', served.folder, ...more]
    const listen = startCommand(args, { env, home: folder })
    return { served, env, listen }
  }

  test('it is said while it is asked, and the command ends after `--wait`', async () => {
    const { served, listen } = await listening('--wait', '15s')
    await listen.says(/Listening for/)
    process.kill(served.pid, 'SIGKILL')
    await listen.says(/^Waiting: cannot reach the API at `http:[^`]+`: ECONN\w+; looked for again, for 1\d s more$/m)
    const { exit, stderr } = await listen.ended
    expect(exit, stderr).toBe(1)
    expect(stderr.match(/^Waiting: /gm)!.length).toBeLessThan(4)
    expect(stderr).not.toContain('try 1 of 6')
    expect(stderr).toMatch(/error cli\/not-listening: the service is gone: cannot reach the API/)
    expect(stderr).toMatch(/submitted +the endpoint, which the service still has when it comes back/)
  })

  test('a command that is ended then says at once what is left', async () => {
    const { served, listen } = await listening()
    await listen.says(/Listening for/)
    process.kill(served.pid, 'SIGKILL')
    listen.kill()
    const endedAt = performance.now()
    const { exit, stderr } = await listen.ended
    expect(performance.now() - endedAt).toBeLessThan(6_000)
    expect(exit, stderr).toBe(0)
    expect(stderr).toMatch(/^Ending: the endpoint http:\S+ may still be there: cannot reach the API/m)
    // A connection that was kept may be found closed once.
    expect(stderr).not.toMatch(/the endpoint is deleted|, try [2-9] of/)
  })

  test('where it was not there to begin with, that is said at once', async () => {
    const { served, env, listen: before } = await listening()
    await before.says(/Listening for/)
    before.kill()
    expect((await before.ended).stderr).toContain('Ending: the endpoint is deleted.')
    await served.stop()
    const ran = await quorate(['webhooks', 'listen', '--url', 'https://hooks.example/in'], { env })
    expect(ran.exit, ran.stderr).toBe(1)
    expect(ran.stderr).toContain('error client/unreachable')
    // Nothing was made, so nothing is looked for.
    expect(ran.stderr).not.toContain('list_webhook_endpoints')
  })
})
