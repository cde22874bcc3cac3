/** A user without rights can still send as much as it wants: what is kept of that is bounded, and counted. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { fingerprintOf } from '../../src/protocol/index.ts'
import { createTestClock, createTestUser, startTestService, type TestService } from '../service/harness.ts'

async function start(options: { readonly keptDenialsADay?: number } = {}) {
  const clock = createTestClock()
  const service = await startTestService({ clock, ...options })
  onTestFinished(() => service.close())
  return { clock, service, mallory: await createTestUser(service, 'mallory') }
}

/** Bytes of the tables' rows, whatever the files have grown to. */
function kept({ dataDir }: TestService) {
  const database = new DatabaseSync(join(dataDir, 'quorate.db'), { readOnly: true })
  const sum = (sql: string) => Number(database.prepare(sql).get()!['sum'])
  const found = {
    denied: sum("select count(*) as sum from activities where fingerprint like '% %'"),
    bytes:
      sum(
        "select coalesce(sum(length(intent) + length(failure)), 0) as sum from activities where fingerprint like '% %'",
      ) +
      sum(
        "select coalesce(sum(length(message)), 0) as sum from votes where activity_id in (select id from activities where fingerprint like '% %')",
      ),
    evaluations: sum(
      'select (select count(*) from policy_evaluations) + (select count(*) from votes where evaluation_id is not null) as sum',
    ),
    counted: sum('select coalesce(sum(not_kept), 0) as sum from denials'),
  }
  database.close()
  return found
}

const policyOf = (notes: string) => ({ policyName: 'p', effect: 'EFFECT_ALLOW', condition: 'true', notes })

test('denials: one body that is sent again and again is kept once, as its digest and a shortened intent', async () => {
  const { service, mallory } = await start()
  const body = service.body('ACTIVITY_TYPE_CREATE_POLICY_V3', policyOf('n'.repeat(900_000)))
  for (let i = 0; i < 20; i++) {
    expect((await mallory.client.raw(body.path, body.text)).status).toBe(403)
  }
  const { denied, bytes, counted } = kept(service)
  expect([denied, counted]).toEqual([1, 19])
  expect(bytes).toBeLessThan(10_000)
  const { activities } = await service.root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_FAILED'] })
  expect(activities).toHaveLength(1)
  const { fingerprint, intent, votes } = activities[0]!
  expect(fingerprint).toBe(fingerprintOf(Buffer.from(body.text)))
  expect(intent.createPolicyIntentV3).toMatchObject({
    policyName: 'p',
    condition: 'true',
    notes: `${'n'.repeat(256)}…`,
  })
  expect(votes[0]!.message).toContain(fingerprint)
})

test('denials: so many of one user and day are kept, the first ones, and another user has a share of its own', async () => {
  const { clock, service, mallory } = await start({ keptDenialsADay: 5 })
  const eve = await createTestUser(service, 'eve')
  const send = async (client = mallory.client, name = 'p') => {
    const body = service.body('ACTIVITY_TYPE_CREATE_POLICY_V3', { ...policyOf(''), policyName: name })
    expect((await client.raw(body.path, body.text)).status).toBe(403)
  }
  for (let i = 0; i < 12; i++) await send(mallory.client, `p${i}`)
  expect(kept(service)).toMatchObject({ denied: 5, counted: 7 })
  await send(eve.client)
  expect(kept(service)).toMatchObject({ denied: 6, counted: 7 })
  const { activities } = await service.root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_FAILED'] })
  const names = activities.map(({ intent }) => intent.createPolicyIntentV3!.policyName)
  expect(names).toEqual(['p', 'p4', 'p3', 'p2', 'p1', 'p0'])
  clock.advance(86_400_000)
  await send()
  expect(kept(service)).toMatchObject({ denied: 7, counted: 7 })
})

test('denials: large lists and deep intents are cut to what is kept of any', async () => {
  const { service, mallory } = await start()
  const accounts = Array.from({ length: 3_000 }, (_, i) => ({
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    path: `m/44'/60'/0'/0/${i}`,
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  }))
  const bodies = [
    service.body('ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', { privateKeyTagName: 'x', privateKeyIds: [] }),
    service.body('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', {
      walletId: '00000000-0000-4000-8000-000000000001',
      accounts,
    }),
    service.body('ACTIVITY_TYPE_CREATE_POLICIES', {
      policies: Array.from({ length: 90 }, (_, i) => ({ ...policyOf('n'.repeat(8_000)), policyName: `p${i}` })),
    }),
  ]
  for (const { path, text } of bodies) await mallory.client.raw(path, text)
  const { denied, bytes } = kept(service)
  expect(denied).toBeGreaterThan(1)
  expect(bytes).toBeLessThan(denied * 10_000)
  const answer = await service.root.query('list_activities')
  expect(answer.activities.length).toBeGreaterThan(denied)
})
