/** What the published checks of the API refuse is said of definitions, at its place, before anything is submitted. */
import { expect, test } from 'vitest'
import { fillParameters, makePlan, type PlanInput } from '../../src/plan/index.ts'
import { type ActivityType, ApiError, createDecoder } from '../../src/protocol/index.ts'
import { kinds } from '../../src/resources/index.ts'
import { idFor } from '../plan/organization.ts'
import { planInput } from '../plan/planning.ts'
import { KEYS, loadFiles, ORGANIZATION_ID } from './harness.ts'

type Path = readonly (string | number)[]

/** An organization in which every text that is submitted is written. */
const EVERYTHING = {
  organization: 'acme',
  id: ORGANIZATION_ID,
  name: 'Acme',
  rootQuorum: { threshold: 1, users: ['ann'] },
  tags: { desk: {} },
  users: {
    ann: {
      email: 'ann@desk.test',
      phone: '+15551234567',
      tags: ['desk'],
      apiKeys: {
        laptop: {
          curve: 'P256',
          publicKey: KEYS.p256,
          ipAllowlist: { rules: [{ cidr: '203.0.113.0/24', label: 'office' }] },
        },
      },
      mfaPolicies: {
        rules: {
          condition: "activity.resource == 'POLICY'",
          requiredAuthenticationMethods: ['passkey'],
          order: 1,
          notes: 'a remark',
        },
      },
    },
  },
  invitations: { second: { email: 'second@desk.test', tags: ['desk'], access: 'web', sender: 'ann' } },
  privateKeyTags: { hot: {} },
  privateKeys: { settlement: { curve: 'secp256k1', formats: ['ethereum'], tags: ['hot'] } },
  wallets: { desk: { accounts: [{ path: "m/44'/60'/0'/0/0", curve: 'secp256k1', format: 'ethereum', name: 'Fees' }] } },
  smartContractInterfaces: {
    usdc: {
      address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      type: 'ethereum',
      interface: [{ type: 'function', name: 'total', inputs: [], outputs: [], stateMutability: 'view' }],
      notes: 'a remark',
    },
  },
  policies: { small: { effect: 'allow', consensus: 'true', condition: 'true', notes: 'a remark' } },
  webhooks: { ops: { url: 'https://hooks.example.com/x', subscriptions: ['ACTIVITY_UPDATES'] } },
  ipAllowlist: { enabled: true, rules: [{ cidr: '203.0.113.0/24', label: 'office' }] },
  features: { POLICY_TIME: true },
  authProxy: {
    origins: ['https://app.example.com'],
    methods: ['passkey'],
    sendFrom: 'codes@acme.test',
    senderName: 'Acme',
    replyTo: 'help@acme.test',
    smsTemplate: 'Code {{otp}}',
    emailTemplateId: idFor('one'),
    codeTemplateId: idFor('another'),
    email: {
      appName: 'Acme',
      logoUrl: 'https://acme.test/logo.png',
      magicLinkTemplate: 'https://acme.test/%s',
      templateVariables: '{}',
      templateId: idFor('a third'),
    },
    walletKit: {
      enabledSocialProviders: ['google'],
      oauthClientIds: { google: 'acme' },
      oauthRedirectUrl: 'https://acme.test',
    },
    socialLinkingClientIds: ['acme'],
  },
}

/** What other parts refer to. */
const REFERRED = ['organization', 'id', 'name', 'rootQuorum', 'tags', 'users', 'privateKeyTags']

/** The part of it in which a place is, with what that refers to. */
function partWith([section]: Path): unknown {
  return Object.fromEntries(Object.entries(EVERYTHING).filter(([key]) => key === section || REFERRED.includes(key)))
}

/** Texts that one field or another cannot take; as long as any bound that is published. */
const TEXTS = [
  ...['', ' a', 'a\u0007b', 'a\u202eb', 'x'.repeat(255), 'x'.repeat(256), '\u{1f600}'.repeat(255), 'nonsense', '{{'],
  ...['+1', '+12', '+1234567890123456', 'a@b', 'a@b.c', 'a@b.com', `${'x'.repeat(65)}@b.com`, '"a"@b.com', 'a@-b.com'],
  ...['http://hooks.example.com/x', 'https://u:p@h.com/', idFor('x')],
]

function textsIn(value: unknown, at: Path = []): readonly Path[] {
  if (typeof value === 'string') return [at]
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return value.flatMap((one, index) => textsIn(one, [...at, index]))
  return Object.entries(value).flatMap(([key, one]) => textsIn(one, [...at, key]))
}

/** The places of names: keys two, four … levels down, under what is written as a map of them. */
function namesIn(value: object, at: Path = []): readonly Path[] {
  const maps = Object.values(kinds).flatMap(({ form }) => (form.shape === 'map' ? [form.key] : []))
  return Object.entries(value).flatMap(([key, map]) => {
    if (!maps.includes(key)) return []
    return Object.entries(map as object).flatMap(([name, one]) => [
      [...at, key, name],
      ...namesIn(one as object, [...at, key, name]),
    ])
  })
}

function change(value: unknown, [key, ...rest]: Path, how: (holder: object, key: string | number) => unknown): unknown {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>
  if (rest.length === 0) return how(copy, key!)
  copy[key!] = change(copy[key!], rest, how)
  return copy
}

const withText = (to: string) => (holder: object, key: string | number) => Object.assign(holder, { [key]: to })
const withName = (to: string) => (holder: object, key: string | number) =>
  Object.fromEntries(Object.entries(holder).map(([name, one]) => [name === key ? to : name, one]))

/** What the decoder of the API says of each activity by which all of it would be made; nothing where it is refused here. */
async function refusalsOf(tree: unknown): Promise<{ readonly valid: boolean; readonly refusals: readonly string[] }> {
  const { desired } = await loadFiles({ 'acme.yaml': JSON.stringify(tree) })
  if (!desired) return { valid: false, refusals: [] }
  const input: PlanInput = { ...planInput({}), desired }
  const { plan } = makePlan(input)
  const ids = Object.fromEntries(
    [...desired.resources, ...input.actual.resources].map(({ address }) => [address, idFor(address)]),
  )
  const refusals = plan.batches.flatMap(({ type, parameters }) => {
    try {
      createDecoder().intent(type as ActivityType, fillParameters(parameters, ids) as never)
      return []
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return [`${type}: ${error.message}`]
    }
  })
  return { valid: true, refusals }
}

test('what passes as definitions passes the published checks of the API, whatever is written in any text or name', async () => {
  expect(await refusalsOf(EVERYTHING)).toEqual({ valid: true, refusals: [] })
  const found: string[] = []
  let [valid, refused] = [0, 0]
  const places = [
    ...textsIn(EVERYTHING).map((at) => ({ at, how: withText })),
    ...namesIn(EVERYTHING).map((at) => ({ at, how: withName })),
  ]
  for (const { at, how } of places) {
    for (const text of TEXTS) {
      const judged = await refusalsOf(change(partWith(at), at, how(text)))
      if (judged.valid) valid++
      else refused++
      found.push(...judged.refusals.map((refusal) => `${at.join('.')} ${JSON.stringify(text)} ${refusal}`))
    }
  }
  expect(found).toEqual([])
  // Neither is everything refused here, nor nothing.
  expect(valid).toBeGreaterThan(200)
  expect(refused).toBeGreaterThan(200)
})
