import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createRate, createSubmitClient, type SubmitClient } from '../../src/client/index.ts'
import { makeBody } from '../../src/plan/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import type { Quorate, Snapshot, startQuorate as Start } from '../../src/testing/index.ts'
import { builtMain, compileCache } from '../built.ts'
import { testFolder, writeFiles } from '../cli/harness.ts'

const root = join(import.meta.dirname, '../..')
const ACME = join(root, 'definitions/acme')

/** As it is shipped: from sources it takes some seconds more to begin. */
const module = () => join(dirname(builtMain()), 'start-quorate.js')

let startQuorate: typeof Start
let quorate: Quorate
let asWritten: Snapshot

beforeAll(async () => {
  ;({ startQuorate } = (await import(module())) as { startQuorate: typeof Start })
  quorate = await startQuorate({ definitions: ACME })
  asWritten = await quorate.snapshot()
})
afterAll(() => quorate.close())
beforeEach(() => quorate.restore(asWritten))

function clientOf(name: string): SubmitClient {
  const { publicKey, privateKey } = quorate.keys[name]!
  const key = { publicKey, privateKey: new Secret(privateKey) }
  const { url: baseUrl, organizationId } = quorate
  return createSubmitClient({ baseUrl, organizationId, stamper: createApiKeyStamper(key, {}), rate: createRate({}) })
}

async function submit(name: string, type: ActivityType, parameters: object) {
  const client = clientOf(name)
  const timestampMs = (await quorate.now()).getTime()
  const { organizationId } = client
  return client.submit(
    activities[type].path,
    makeBody({ type, organizationId, parameters: parameters as never, timestampMs }),
  )
}

const newTag = { userTagName: 'auditors', userIds: [] }

describe('quorate/testing', () => {
  test('the organization is what the definitions say, and each person has a key', async () => {
    expect(Object.keys(quorate.keys).sort()).toEqual(['alice', 'bob', 'carol'])
    expect(quorate.rootUserName).toBe('alice')
    const { policy } = await clientOf('bob').query('get_policy', { policyId: quorate.ids['policy.no-exports']! })
    expect(policy.effect).toBe('EFFECT_DENY')
    const { username } = await clientOf('carol').query('whoami', {})
    expect(username).toBe('carol')
    expect(quorate).not.toHaveProperty('apiPrivateKey')
  })

  test('what waits for a second person waits, and the time of the service is moved', async () => {
    const waiting = await submit('alice', 'ACTIVITY_TYPE_CREATE_USER_TAG', newTag)
    expect(waiting.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const before = await quorate.now()
    const after = await quorate.advance({ days: 1, hours: 1 })
    expect(after.getTime() - before.getTime()).toBeGreaterThanOrEqual(25 * 3_600_000)
    // A vote counts for a day.
    const { fingerprint } = waiting
    const { status } = await submit('bob', 'ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint })
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    await expect(quorate.advance({ hours: -1 })).rejects.toMatchObject({ code: 'service/operator-invalid' })
  })

  test('a request fails as often as a fault says', async () => {
    const fault = await quorate.faults.add({ path: '/public/v1/submit/*', times: 1, status: 503 })
    expect(await quorate.faults.list()).toEqual([fault])
    await expect(submit('alice', 'ACTIVITY_TYPE_CREATE_USER_TAG', newTag)).rejects.toThrow()
    expect(await quorate.faults.list()).toEqual([])
    await quorate.faults.add({ path: '/public/v1/*', status: 429 })
    await quorate.faults.clear()
    expect((await clientOf('alice').query('whoami', {})).username).toBe('alice')
    await expect(quorate.faults.add({ path: '/nowhere', status: 503 })).rejects.toMatchObject({
      code: 'service/operator-invalid',
    })
  })

  test('messages and webhooks are there to be read, and a restore undoes all that came after its snapshot', async () => {
    const { url } = quorate
    const endpoint = { url: quorate.webhookUrl, name: 'app', subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }] }
    const { fingerprint } = await submit('alice', 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', endpoint)
    await submit('bob', 'ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint })
    const mail = {
      contact: 'bob@acme.test',
      otpType: 'OTP_TYPE_EMAIL',
      appName: 'Acme',
      otpLength: 6,
      alphanumeric: false,
    }
    const asked = await submit('alice', 'ACTIVITY_TYPE_INIT_OTP_V3', mail)
    await submit('bob', 'ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint: asked.fingerprint })
    await expect.poll(() => quorate.messages()).toHaveLength(1)
    const [{ message } = {}] = await quorate.messages()
    expect(message).toMatchObject({ kind: 'email', to: 'bob@acme.test' })
    // As the service does it.
    const headers = { 'X-Turnkey-Event-Type': 'ACTIVITY_UPDATES' }
    await fetch(quorate.webhookUrl, { method: 'POST', headers, body: '{"type":"ACTIVITY_UPDATES"}' })
    const deliveries = await quorate.deliveries()
    expect(deliveries.at(-1)).toMatchObject({
      headers: { 'x-turnkey-event-type': 'ACTIVITY_UPDATES' },
      body: '{"type":"ACTIVITY_UPDATES"}',
    })

    await quorate.restore(asWritten)
    expect(quorate.url).toBe(url)
    // No connection of another program can have been given that port while the service was down.
    expect(Number(new URL(url).port)).toBeLessThan(32_768)
    expect(await quorate.messages()).toEqual([])
    expect(await quorate.deliveries()).toEqual([])
    const { webhookEndpoints } = await clientOf('alice').query('list_webhook_endpoints', {})
    expect(webhookEndpoints).toEqual([])
    await expect(quorate.restore({ id: 7 })).rejects.toMatchObject({ code: 'testing/no-snapshot' })
  })

  test('what cannot be applied is said with its place', async () => {
    const definitions = writeFiles(testFolder(), {
      'organization.yaml': 'organization: acme\nid: ${env.ID}\nuserz: {}\n',
    })
    await expect(startQuorate({ definitions })).rejects.toMatchObject({
      code: 'testing/not-applied',
      message: expect.stringContaining('organization.yaml:3:1: error'),
    })
  })

  test('time stands still where a clock is given, and nothing is answered after the end', async () => {
    const clock = new Date('2031-05-06T07:08:09.000Z')
    const standing = await startQuorate({ clock })
    expect(await standing.now()).toEqual(clock)
    expect(await standing.advance({ minutes: 1 })).toEqual(new Date('2031-05-06T07:09:09.000Z'))
    expect(Object.keys(standing.keys)).toEqual(['root'])
    await standing.close()
    await standing.close()
    await expect(standing.now()).rejects.toMatchObject({ code: 'testing/ended' })
  })

  test('a test that is killed leaves neither a process nor a folder', async () => {
    const { child, folder } = runScript('console.log((await startQuorate()).url)\nsetInterval(() => {}, 1000)')
    const [url] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
    expect(readdirSync(folder)).toHaveLength(1)
    child.kill('SIGKILL')
    await expect.poll(() => readdirSync(folder)).toEqual([])
    await expect(fetch(url)).rejects.toThrow()
  })

  test('a test that fails to start it, or forgets to close it, ends and leaves nothing', async () => {
    const { child, folder } = runScript(
      `await startQuorate({ definitions: '/nowhere' }).catch((error) => console.log(error.code))\nawait startQuorate()`,
    )
    const [code] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
    expect(code).toBe('cli/no-definitions')
    expect(readdirSync(folder)).toEqual([])
    expect((await once(child, 'exit'))[0]).toBe(0)
    await expect.poll(() => readdirSync(folder)).toEqual([])
  })
})

/** Somebody's test, with a folder for temporary files of its own. */
function runScript(text: string): { readonly child: ChildProcess; readonly folder: string } {
  const folder = testFolder()
  const script = `const { startQuorate } = await import(${JSON.stringify(module())})\n${text}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env['PATH'], TMPDIR: folder, ...compileCache() },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, folder }
}
