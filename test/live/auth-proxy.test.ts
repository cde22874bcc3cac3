import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createQueryClient } from '../../src/client/index.ts'
import { kindsMentioned, readActual } from '../../src/live/index.ts'
import { makePlan } from '../../src/plan/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { environmentOf, quorateShared as quorate, testFolder } from '../cli/harness.ts'
import { loadFiles } from '../definitions/harness.ts'
import { complete } from '../service/handlers/steps.ts'
import { startTestService, type TestService } from '../service/harness.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

/** Plans definitions against the real service, and carries the plan out. */
async function apply(sections: object): Promise<readonly string[]> {
  const { organizationId: id, url: baseUrl, root } = service
  const text = stringify({ organization: 'acme', id, ...sections }, { lineWidth: 0 })
  const { desired, diagnostics } = await loadFiles({ 'a.yaml': text }, { env: {}, vars: {} })
  if (diagnostics.length > 0) return diagnostics.map(({ code, message }) => `${code} ${message}`)
  const stamper = createApiKeyStamper({ privateKey: service.service.bootstrap.apiPrivateKey! })
  const client = createQueryClient({ baseUrl, organizationId: id, stamper })
  const actual = await readActual(client, { mentioned: kindsMentioned(desired!) })
  const me = { userId: actual.actor.userId, userName: 'root' }
  const creators = Object.fromEntries(actual.resources.map((one) => [one.id!, me]))
  const now = '2026-01-02T03:04:05.000Z'
  const made = makePlan({ desired: desired!, actual, lock: { [id]: {} }, creators, baseUrl, allow: [], now })
  for (const { type, parameters } of made.plan.batches) await complete(root, type as ActivityType, parameters as object)
  return [
    ...made.diagnostics.map(({ code, message }) => `${code} ${message}`),
    ...made.plan.batches.map(({ type, parameters }) => `${type.slice(14)} ${JSON.stringify(parameters)}`),
  ]
}

const whole = {
  origins: ['https://app.acme.test', 'http://localhost:3000'],
  methods: ['email', 'passkey'],
  walletKit: {
    enabledSocialProviders: ['google'],
    oauthClientIds: { google: 'c' },
    oauthRedirectUrl: 'https://a.test/',
  },
  sessionSeconds: 3600,
  codeSeconds: 120,
  verificationTokenSeconds: 600,
  codeLength: 6,
  codeAlphanumeric: false,
  email: { appName: 'Acme', logoUrl: 'https://acme.test/logo.png' },
  emailTemplateId: 'login',
  codeTemplateId: '00000000-0000-4000-8000-000000000001',
  smsTemplate: 'Code {{ .OtpCode }}',
  sendFrom: 'login@acme.test',
  senderName: 'Acme',
  replyTo: 'help@acme.test',
  contactsNeedProof: true,
  socialLinkingClientIds: ['c'],
  captcha: true,
}

describe('definitions of the authentication proxy', () => {
  test('authProxy: it is enabled and set, and then there is nothing to do', async () => {
    const done = await apply({ authProxy: whole })
    expect(done.map((line) => line.split(' ')[0])).toEqual(['ENABLE_AUTH_PROXY', 'UPDATE_AUTH_PROXY_CONFIG'])
    expect(await apply({ authProxy: whole })).toEqual([])
    expect(await apply({})).toEqual([])
  })

  test('authProxy: what changed elsewhere is set back, and every setting is told again', async () => {
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG', {
      allowedOrigins: [],
      captchaEnabled: false,
    })
    const [update, ...rest] = await apply({ authProxy: whole })
    expect(rest).toEqual([])
    expect(Object.keys(JSON.parse(update!.slice(update!.indexOf('{')))).length).toBe(18)
    expect(await apply({ authProxy: whole })).toEqual([])
  })

  test('authProxy: a part of the settings manages that part', async () => {
    expect(await apply({ authProxy: { sessionSeconds: 3600 } })).toEqual([])
    expect(await apply({ authProxy: { sessionSeconds: 60, smsTemplate: '' } })).toEqual([
      'UPDATE_AUTH_PROXY_CONFIG {"sessionExpirationSeconds":60,"smsCustomizationParams":{"template":""}}',
    ])
    expect(await apply({ authProxy: { sessionSeconds: 60, smsTemplate: '' } })).toEqual([])
  })

  test('authProxy: it is disabled, and enabled again with the settings that it had', async () => {
    expect(await apply({ authProxy: { delete: true } })).toEqual(['DISABLE_AUTH_PROXY {}'])
    expect(await apply({ manage: { authProxy: 'all' } })).toEqual([])
    expect(await apply({ authProxy: {} })).toEqual(['ENABLE_AUTH_PROXY {}'])
    expect(await apply({ manage: { authProxy: 'all' } })).toEqual(['DISABLE_AUTH_PROXY {}'])
  })

  test('authProxy: it is imported, and a plan of what was imported has nothing to do', async () => {
    await apply({ authProxy: { origins: ['https://app.acme.test'] } })
    const folder = testFolder()
    const env = environmentOf(service, folder, service.service.bootstrap.apiPrivateKey!.reveal())
    expect((await quorate(['import', join(folder, 'out')], { env, cwd: folder })).exit).toBe(0)
    const plan = await quorate(['plan', join(folder, 'out'), '--detailed-exitcode'], { env, cwd: folder })
    expect([plan.exit, plan.stderr]).toEqual([0, expect.not.stringContaining('error')])
  })

  test('authProxy: a wildcard in an origin is refused at its place', async () => {
    expect(await apply({ authProxy: { origins: ['https://*.acme.test'] } })).toEqual([
      'resources/bad-origin expected an origin, such as `https://app.example.com`, got `https://*.acme.test`',
    ])
  })
})
