/**
 * Secrets of every sort are planted in a whole installation: a service, an authentication proxy of its own process, a worker and the
 * commands, each a process as it is shipped, at a real Temporal. They are used, and processes are crashed. Then everything is read that
 * somebody else than the owner of a secret reads: output and logs, all that Temporal tells of workflows and Schedules, exported and with
 * every payload opened, plans, metrics, traces, notifications, crash reports and every file. In each place something that belongs there
 * is found by the same search (`secret-search.ts`).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { encryptOauth2ClientSecret } from '@turnkey/crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSubmitClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { listWrittenMessages } from '../../src/service/messages/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { connectTemporal, createPayloadSeal } from '../../src/worker/index.ts'
import { builtMain, compileCache } from '../built.ts'
import { quorate, readAll, testFolder, writeFiles } from '../cli/harness.ts'
import { startCommand } from '../cli/started.ts'
import { newUser } from '../service/handlers/steps.ts'
import { GRANT, startSocialProviders } from '../service/oauth/social.ts'
import { codeIn } from '../service/one-time-passcodes/outbox.ts'
import { testTemporal, testTemporalEnvironment } from '../temporal.ts'
import { historyToText } from '../workflows/history-json.ts'
import { createSearch, openAll } from './secret-search.ts'

/** A signal ends a process as a fault of its own would: by an error that nobody catches, or by memory that runs out. */
const CRASH = `
process.on('SIGPWR', () => setImmediate(() => { throw new Error('planted crash') }))
process.on('SIGURG', () => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)) })
`

/** Keeps what it is sent: bodies and headers, not the path, which may be a secret of the receiver. */
async function receiver() {
  const received: string[] = []
  const server = createServer(async (request, response) => {
    received.push(JSON.stringify(request.headers) + Buffer.concat(await request.toArray()).toString('latin1'))
    response.setHeader('content-type', 'application/json').end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('planted secrets are in no output, log, history, plan, metric, trace, notification, crash report or file of another', async () => {
  const folder = testFolder()
  const reports = join(folder, 'reports')
  const serviceFolder = join(folder, 'service')
  const [collector, people, social] = await Promise.all([receiver(), receiver(), startSocialProviders()])
  onTestFinished(() => social.close())
  writeFiles(folder, { 'crash.cjs': CRASH, 'reports/none': '' })
  const crashing = [
    ...['--report-on-fatalerror', '--report-uncaught-exception', '--report-on-signal', '--report-signal=SIGUSR2'],
    ...[`--report-directory=${reports}`, `--require=${join(folder, 'crash.cjs')}`, '--max-old-space-size=200'],
  ].join(' ')
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' }
  const common = {
    PATH: process.env['PATH']!,
    HOME: folder,
    CI: 'true',
    ...compileCache(),
    ...traced,
    NODE_OPTIONS: crashing,
  }
  const said: Record<string, string> = {}

  /** A process that stays: the addresses that it prints, what it says, and its end by a crash. */
  const begin = async (name: string, args: readonly string[], env: Readonly<Record<string, string>>) => {
    const child = spawn(process.execPath, [builtMain(), ...args, '--json', '--metrics-port', '0'], {
      env: { ...common, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const closed = once(child, 'close')
    said[name] = ''
    const keep = (part: string) => {
      said[name] += part
    }
    child.stderr.setEncoding('utf8').on('data', keep)
    const told = await new Promise<Record<string, string>>((resolve, reject) => {
      closed.then(() => reject(new Error(`${name} did not start: ${said[name]}`)))
      createInterface({ input: child.stdout }).on('line', (line) => {
        keep(`${line}\n`)
        const found = JSON.parse(line) as Record<string, string>
        if (found['metricsUrl'] !== undefined) resolve(found)
      })
    })
    const crash = async (signal: 'SIGPWR' | 'SIGURG') => {
      child.kill('SIGUSR2')
      await vi.waitFor(() => expect(reportsOf(child.pid!)).toHaveLength(1), { timeout: 60_000 })
      child.kill(signal)
      await closed
      expect(reportsOf(child.pid!), `reports of ${name}`).toHaveLength(2)
    }
    return { told, crash }
  }
  const reportsOf = (pid: number) =>
    readAll(reports).filter(({ path, text }) => path.includes(`.${pid}.`) && text.trimEnd().endsWith('}'))

  const service = await begin('service', ['serve', '--folder', serviceFolder, '--provider', `x=${social.url}`], {})
  const bootstrap = JSON.parse(readFileSync(join(serviceFolder, 'bootstrap.json'), 'utf8')) as Record<string, string>
  const { organizationId = '', apiPrivateKey = '' } = bootstrap
  const baseUrl = service.told['baseUrl']!
  const stamper = createApiKeyStamper({ privateKey: new Secret(apiPrivateKey) })
  const client = createSubmitClient({ baseUrl, organizationId, stamper })
  const submit = async (type: ActivityType, parameters: object) => {
    const body = { type, timestampMs: String(Date.now()), organizationId, parameters }
    const { result } = await client.submit(activities[type].path, JSON.stringify(body))
    return (Object.values(result ?? {})[0] ?? {}) as Record<string, string>
  }
  const seen = new Set<string>()
  const nextCode = async () => {
    const { id, message } = await vi.waitFor(() => {
      const [sent] = listWrittenMessages(serviceFolder, seen)
      if (!sent) throw new Error('no code was sent')
      return sent
    })
    seen.add(id)
    return codeIn(message)
  }

  const payloadKey = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')
  const ofNotifications = { path: '/services/planted-path-of-slack', key: 'planted "key" of/webhooks+ü' }
  const temporalApiKey = 'planted-api-key-of-temporal'
  const env: Readonly<Record<string, string>> = {
    ...(await testTemporalEnvironment()),
    TEMPORAL_API_KEY: temporalApiKey,
    QUORATE_BASE_URL: baseUrl,
    QUORATE_ORGANIZATION_ID: organizationId,
    QUORATE_API_KEY: apiPrivateKey,
    QUORATE_PAYLOAD_KEY: payloadKey,
    QUORATE_DATA_DIR: join(folder, 'data'),
    ACME_ORGANIZATION_ID: organizationId,
  }
  const worker = await begin('worker', ['worker'], {
    ...env,
    QUORATE_NOTIFY_ONCALL: `${people.url}${ofNotifications.path}`,
    QUORATE_NOTIFY_SIEM: people.url,
    QUORATE_NOTIFY_SIEM_KEY: ofNotifications.key,
  })
  await submit('ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
  const proxy = await begin('proxy', ['proxy', '--folder', serviceFolder, '--base-url', baseUrl], {})

  const outputs: Record<string, string> = {}
  const run = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const { exit, stdout, stderr } = await quorate(args, { env: { ...common, ...env, ...more }, cwd: folder })
    outputs[args.join(' ')] = `${stdout}${stderr}`
    expect([args.join(' '), exit, exit === 0 ? '' : stderr]).toEqual([args.join(' '), 0, ''])
    return stdout
  }

  // A key of an API user is rotated by the worker, which makes the new one.
  const bot = generateP256KeyPair()
  const apiKeys = [{ apiKeyName: 'deploy', publicKey: bot.publicKey, curveType: 'API_KEY_CURVE_P256' }]
  const erin = newUser({ userName: 'erin', userEmail: EMAIL })
  await submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users: [newUser({ userName: 'bot', apiKeys }), erin] })
  writeFiles(folder, { 'defs/acme.yaml': DEFINITIONS, 'client-secret.txt': GRANT.clientSecret })
  chmodSync(join(folder, 'client-secret.txt'), 0o600)
  await run(['plan', 'defs', '--out', 'plan.json'])
  await run(['apply', 'plan.json', '--yes'])
  await run(['watch', 'add', 'defs'])
  await run([
    'rotate',
    'key',
    '--user',
    'bot',
    '--name',
    'deploy',
    '--to-file',
    'new.key',
    '--overlap',
    '0',
    '--yes',
    '--json',
  ])

  // A client secret is supplied, and used at the provider, which refuses, and is away.
  const sealedTo = bootstrap['tlsFetcherEncryptionPublicKey']!
  await submit('ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', {
    provider: 'OAUTH2_PROVIDER_X',
    clientId: GRANT.clientId,
    encryptedClientSecret: await encryptOauth2ClientSecret(GRANT.clientSecret, sealedTo),
  })
  await run([
    'rotate',
    'oauth2',
    GRANT.clientId,
    '--from-file',
    'client-secret.txt',
    '--encryption-key',
    sealedTo,
    '--yes',
  ])

  // A person logs in by a code, and works with the session.
  await submit('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: '' })
  const known = join(serviceFolder, 'bootstrap.json')
  const { authProxyConfigId = '' } = JSON.parse(readFileSync(known, 'utf8')) as Record<string, string>
  const { authProxyUrl = '' } = proxy.told
  const { QUORATE_API_KEY: _, ...rest } = env
  const asPerson = { ...common, ...rest, QUORATE_SESSION_FOLDER: join(folder, 'sessions') }
  const at = ['--service-keys', known, '--proxy-url', authProxyUrl, '--proxy-config-id', authProxyConfigId]
  const logging = startCommand(['login', '--email', EMAIL, ...at, '--json'], {
    env: asPerson,
    home: folder,
    cwd: folder,
  })
  await logging.says(/The code that was sent/)
  const code = await nextCode()
  logging.type('WRONGCODE\n')
  await logging.says(/not the code that was sent/)
  logging.type(`${code}\n`)
  const logged = await logging.ended
  outputs['login'] = logged.stdout + logged.stderr
  expect([logged.exit, logged.stderr]).toEqual([0, expect.any(String)])
  const who = await quorate(['whoami'], { env: asPerson, cwd: folder })
  outputs['whoami'] = who.stdout + who.stderr
  expect(who.stdout).toContain('erin')

  // In the older form a code goes through the proxy as it is; a second use of it is refused.
  const post = async (endpoint: string, body: object) => {
    const headers = { 'x-auth-proxy-config-id': authProxyConfigId }
    const answer = await fetch(`${authProxyUrl}/v1/${endpoint}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return (await answer.json()) as Record<string, string>
  }
  const { otpId } = await post('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact: EMAIL })
  const otpCode = await nextCode()
  const proving = { otpId, otpCode, publicKey: generateP256KeyPair().publicKey }
  const { verificationToken = '' } = await post('otp_verify', proving)
  outputs['the proxy'] = JSON.stringify(await post('otp_verify', proving))

  // A hand edit is told to people.
  const { userTags } = await client.query('list_user_tags', {})
  const { tagId } = userTags.find(({ tagName }) => tagName === MARK)!
  await submit('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [tagId] })
  await vi.waitFor(() => expect(people.received.join('')).toMatch(/webhook-signature.*drift/), {
    timeout: 60_000,
    interval: 250,
  })
  await run(['activities', '--json'])

  // What each of them tells its monitor.
  const pages: Record<string, string> = {}
  for (const [name, { told }] of Object.entries({ service, worker, proxy })) {
    const urls = [told['metricsUrl'], told['healthUrl']].filter((url) => url !== undefined)
    pages[name] = (await Promise.all(urls.map(async (url) => (await fetch(url)).text()))).join('\n')
  }

  // Each ends by a crash: the command while it waits for a person, the worker by memory that runs out.
  const waiting = startCommand(['status', '--watch'], { env: { ...common, ...env }, home: folder, cwd: folder })
  await waiting.says(/last as defined/)
  waiting.kill('SIGPWR')
  const crashed = await waiting.ended
  outputs['status --watch'] = crashed.stdout + crashed.stderr
  await proxy.crash('SIGPWR')
  await worker.crash('SIGURG')
  await service.crash('SIGPWR')

  const secrets: Readonly<Record<string, string>> = {
    apiPrivateKey,
    botKey: bot.privateKey,
    newBotKey: readFileSync(join(folder, 'new.key'), 'utf8').trim(),
    masterKey: readFileSync(join(serviceFolder, 'master.key'), 'utf8').trim(),
    payloadKey,
    storeKey: readFileSync(join(folder, 'data/plans.key'), 'utf8').trim(),
    temporalApiKey,
    temporalTlsKey: readFileSync(env['TEMPORAL_TLS_CLIENT_KEY_PATH']!, 'utf8').replace(/-----.*?-----|\s/g, ''),
    clientSecret: GRANT.clientSecret,
    code,
    otpCode,
    verificationToken,
    sessionKey: JSON.parse(readAll(join(folder, 'sessions'))[0]!.text).privateKey,
    slackPath: ofNotifications.path,
    webhookKey: ofNotifications.key,
  }
  for (const [name, secret] of Object.entries(secrets)) expect([name, secret.length > 8]).toEqual([name, true])
  const find = createSearch(secrets)

  const places = new Map<string, string>()
  const add = (name: string, text: string) => places.set(name, `${places.get(name) ?? ''}\n${text}`)
  for (const [name, text] of Object.entries(outputs)) add(`output of ${name}`, text)
  for (const [name, text] of Object.entries(said)) add(`log of ${name}`, text)
  for (const [name, text] of Object.entries(pages)) add(`pages of ${name}`, text)
  for (const text of collector.received) add('traces', text)
  for (const text of people.received) add('notifications', text)
  add('plan', readFileSync(join(folder, 'plan.json'), 'utf8'))
  for (const { text } of readAll(reports).filter(({ text }) => text !== ''))
    add(`crash reports: ${(JSON.parse(text) as { header: { trigger: string } }).header.trigger}`, text)
  const seal = createPayloadSeal([new Secret(payloadKey)])
  const temporal = await connectTemporal(await testTemporal(), seal)
  onTestFinished(() => temporal.close())
  const workflows = new Set<string>()
  for await (const { workflowId, runId, raw } of temporal.client.workflow.list()) {
    if (!workflowId.includes(organizationId)) continue
    const history = await temporal.client.workflow.getHandle(workflowId, runId).fetchHistory()
    workflows.add(workflowId.split('/')[0]!)
    add('histories, exported', historyToText(history))
    add('histories, opened', openAll({ raw, history }, seal))
  }
  expect([...workflows].toSorted()).toEqual(['apply', 'reconcile', 'rotate'])
  const watched = { namespace: 'default', scheduleId: `reconcile/${organizationId}` }
  add('Schedules, opened', openAll(await temporal.client.workflowService.describeSchedule(watched), seal))
  expect([...places].flatMap(([name, text]) => find(text).map((secret) => `${secret} in ${name}`))).toEqual([])

  // The same search finds there what stands there by right.
  const rightly: Readonly<Record<string, string>> = {
    'output of apply plan.json --yes': MARK,
    'output of login': organizationId,
    'output of status --watch': 'planted crash',
    'log of service': 'planted crash',
    'log of proxy': 'planted crash',
    'log of worker': 'heap out of memory',
    'pages of service': '# TYPE',
    'pages of worker': organizationId,
    'pages of proxy': '# TYPE',
    traces: organizationId,
    notifications: MARK,
    plan: MARK,
    'crash reports: Signal': organizationId,
    'crash reports: Exception': 'planted crash',
    'crash reports: OOMError': 'heap out of memory',
    'histories, exported': organizationId,
    'histories, opened': MARK,
    'Schedules, opened': organizationId,
  }
  const isThere = (name: string, value: string) => createSearch({ value })(places.get(name) ?? '').length > 0
  expect(Object.entries(rightly).filter(([name, value]) => !isThere(name, value))).toEqual([])

  // In files stand secrets of those who have them, each in its own, which nobody else may read.
  const kept = readAll(folder).flatMap(({ path, text }) =>
    find(text).map(
      (name) =>
        `${name}: ${relative(folder, path).replace(/[^/]+\.json$/, '*')} ${(statSync(path).mode & 0o777).toString(8)}`,
    ),
  )
  expect(kept.toSorted()).toEqual([
    'apiPrivateKey: service/* 600',
    'clientSecret: client-secret.txt 600',
    'code: service/messages/* 600',
    'masterKey: service/master.key 600',
    'newBotKey: new.key 600',
    'otpCode: service/messages/* 600',
    'sessionKey: sessions/* 600',
    'storeKey: data/plans.key 600',
  ])
}, 300_000)

const EMAIL = 'erin@planted.example'
const MARK = 'marked-tag'
const DEFINITIONS = `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { ${MARK}: {} }
watch:
  every: 2s
  notify:
    oncall: { slack: QUORATE_NOTIFY_ONCALL, about: [drift] }
    siem: { webhook: QUORATE_NOTIFY_SIEM, about: [drift] }
`
