/** What a big organization leaves in Temporal: small payloads and short histories, far below where the server complains. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { creatorsOf, kindsMentioned, readActual } from '../../src/live/index.ts'
import { makePlan, type Plan } from '../../src/plan/index.ts'
import type { TemporalConnections } from '../../src/worker/index.ts'
import { loadFiles } from '../definitions/harness.ts'
import { type Applying, createApplying } from '../faults/applying.ts'
import { impatientClient } from '../faults/impatient.ts'
import { openHistory } from '../open-history.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { connectTestTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { historyToText } from '../workflows/history-json.ts'
import { line } from './figures.ts'

/** The server warns from here on, by Temporal's defaults. */
const MOST_PAYLOAD = 256 * 1024
/** The server suggests to continue as new from here on. */
const MOST_EVENTS = 4_096
const MOST_HISTORY = 4 * 1024 * 1024

let temporal: TemporalConnections
let service: TestService
let applying: Applying
beforeAll(async () => {
  temporal = await connectTestTemporal()
  service = await startTestService()
  applying = await createApplying(temporal, service, { attemptMs: 30_000 })
})
afterAll(async () => {
  await applying.close()
  await service.close()
  await temporal.close()
})

test('sizes: 100 users and 100 policies are applied in a history that is small in every way', async () => {
  const { organizationId, rootUserId: userId, root } = service
  const plan = await planFor(bigOrganization(organizationId))
  const run = await applying.start({ organizationId, userId, client: root }, plan)
  expect((await run.ended()).state).toBe('done')
  const [{ users }, { policies }] = [await root.query('list_users'), await root.query('list_policies')]
  expect([users.length, policies.length]).toEqual([100, 100])
  const recorded = await run.handle.fetchHistory()
  const text = historyToText(recorded)
  const history = JSON.parse(text) as { readonly events: readonly unknown[] }
  const payloads = payloadsOf(history)
  const figures = {
    events: history.events.length,
    historyBytes: Buffer.byteLength(text),
    payloads: payloads.length,
    largestPayload: Math.max(...payloads.map(({ length }) => length)),
    planBytes: JSON.stringify(plan).length,
  }
  console.log(line(figures))
  expect(figures.largestPayload).toBeLessThanOrEqual(MOST_PAYLOAD)
  expect(figures.events).toBeLessThanOrEqual(MOST_EVENTS)
  expect(figures.historyBytes).toBeLessThanOrEqual(MOST_HISTORY)
  // The plan is not in it, nor is what could act.
  expect(figures.largestPayload).toBeLessThan(figures.planBytes / 4)
  expect(payloads.map((payload) => payload.toString('latin1')).join('\n')).not.toContain(plan.digest)
  const opened = await openHistory(recorded, run.handle.workflowId, testSeal)
  expect(opened).toContain(plan.digest)
  for (const canary of [root.privateKey, root.privateKey.toUpperCase(), 'SIGNATURE_SCHEME', 'approvers.any']) {
    expect(opened).not.toContain(canary)
  }
})

test('sizes: a history that held the plan would be seen', async () => {
  const held = { events: [{ input: { payloads: [{ data: Buffer.from('x'.repeat(300_000)).toString('base64') }] } }] }
  expect(payloadsOf(held).map(({ length }) => length)).toEqual([300_000])
})

function bigOrganization(organizationId: string): string {
  const range = (count: number) => Array.from({ length: count }, (_, n) => n)
  const users = range(99).map((n) => {
    const { publicKey } = generateP256KeyPair()
    return `  u${n}: { tags: [t${n % 10}], apiKeys: { laptop: { curve: P256, publicKey: ${publicKey} } } }\n`
  })
  const policies = range(100).map(
    (n) =>
      `  p${n}: { effect: deny, consensus: "approvers.any(user, user.tags.contains('\${tag.t${n % 10}}'))", condition: "wallet.label == 'R${n}'" }\n`,
  )
  const tags = range(10).map((n) => `t${n}: {}`)
  return `organization: quorate\nid: ${organizationId}\ntags: { ${tags.join(', ')} }\nusers:\n${users.join('')}policies:\n${policies.join('')}`
}

async function planFor(text: string): Promise<Plan> {
  const { organizationId, root } = service
  const { desired, diagnostics } = await loadFiles({ 'a.yaml': text }, { env: {}, vars: {} })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  const client = impatientClient({ baseUrl: service.url, organizationId, privateKey: root.privateKey })
  const actual = await readActual(client, { mentioned: kindsMentioned(desired!) })
  const [creators, now] = [await creatorsOf(client, actual, {}), new Date().toISOString()]
  return makePlan({ desired: desired!, actual, creators, lock: {}, baseUrl: service.url, allow: [], now }).plan
}

/** The bytes of every payload; a history's JSON has them as base64. */
function payloadsOf(value: unknown): readonly Buffer[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'data' && typeof member === 'string' ? [Buffer.from(member, 'base64')] : payloadsOf(member),
  )
}
