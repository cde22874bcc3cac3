/** An organization as it was, rebuilt from its activities: held against what a real service told at the time. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { powersOf, thingsAt } from '../../src/analysis/index.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { readActual } from '../../src/live/index.ts'
import { listActivities } from '../../src/operations/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import type { Actual } from '../../src/resources/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { runs } from '../runs.ts'
import { createTestClock, startTestService } from '../service/harness.ts'

const MINUTE = 60_000

/** What happens, given what lives and a number that chooses; undefined where there is nothing to do it to. */
type Happening = (
  actual: Actual,
  pick: <T>(from: readonly T[]) => T | undefined,
  n: number,
) => readonly [ActivityType, object] | undefined
const of = ({ resources }: Actual, kind: string) => resources.filter((one) => one.kind === kind)
const keys = (name: string) => [
  { apiKeyName: name, publicKey: generateP256KeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' },
]
const CONSENSUS = ['approvers.count() >= 2', 'true', "approvers.any(u, u.alias == 'u1')"]
const others = (actual: Actual) => of(actual, 'user').filter(({ id }) => id !== actual.actor.userId)
const happenings: readonly Happening[] = [
  (_, __, n) => ['ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `t${n}`, userIds: [] }],
  (actual, _, n) => [
    'ACTIVITY_TYPE_CREATE_USER_TAG',
    {
      userTagName: `t${n}`,
      userIds: others(actual)
        .slice(0, 2)
        .map(({ id }) => id!),
    },
  ],
  (actual, _, n) => [
    'ACTIVITY_TYPE_CREATE_USERS_V3',
    {
      users: [
        {
          userName: `u${n}`,
          apiKeys: keys('k'),
          authenticators: [],
          oauthProviders: [],
          userTags: of(actual, 'tag')
            .slice(0, 1)
            .map(({ id }) => id!),
        },
      ],
    },
  ],
  (_, pick, n) => [
    'ACTIVITY_TYPE_CREATE_POLICY_V3',
    {
      policyName: `p${n}`,
      effect: n % 3 === 0 ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
      consensus: pick(CONSENSUS),
      condition: "activity.action == 'SIGN'",
      notes: '',
    },
  ],
  (actual, pick) => {
    const policyId = pick(of(actual, 'policy'))?.id
    return policyId === undefined
      ? undefined
      : ['ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, policyConsensus: pick(CONSENSUS) }]
  },
  (actual, pick) => {
    const policyId = pick(of(actual, 'policy'))?.id
    return policyId === undefined ? undefined : ['ACTIVITY_TYPE_DELETE_POLICIES', { policyIds: [policyId] }]
  },
  (actual, pick, n) => {
    const [tag, user] = [pick(of(actual, 'tag')), pick(others(actual))]
    if (!tag || !user) return undefined
    const list = { addUserIds: n % 2 ? [user.id!] : [], removeUserIds: n % 2 ? [] : [user.id!] }
    return ['ACTIVITY_TYPE_UPDATE_USER_TAG', { userTagId: tag.id!, newUserTagName: tag.name, ...list }]
  },
  (actual, pick) => {
    const id = pick(of(actual, 'tag'))?.id
    return id === undefined ? undefined : ['ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [id] }]
  },
  (actual, pick) => {
    const member = pick(others(actual))?.id
    const userIds = [actual.actor.userId, ...(member === undefined ? [] : [member])]
    return ['ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds }]
  },
  (actual, pick) => {
    const id = pick(others(actual))?.id
    return id === undefined ? undefined : ['ACTIVITY_TYPE_DELETE_USERS', { userIds: [id] }]
  },
  (actual, pick, n) => {
    const userId = pick(others(actual))?.id
    return userId === undefined ? undefined : ['ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys: keys(`k${n}`) }]
  },
  (actual, pick, n) => {
    const userId = pick(others(actual))?.id
    return userId === undefined ? undefined : ['ACTIVITY_TYPE_UPDATE_USER_NAME', { userId, userName: `u${n}` }]
  },
  (_, __, n) => ['ACTIVITY_TYPE_CREATE_WALLET', { walletName: `w${n}`, accounts: [] }],
]

describe('who can, at a time', () => {
  test('after any activities, what could be done before each of them is told as it was', async () => {
    const seeds = fc.sample(
      fc.array(fc.tuple(fc.nat(happenings.length - 1), fc.nat(997)), { minLength: 14, maxLength: 22 }),
      {
        numRuns: runs(4),
        seed: 7,
      },
    )
    let checked = 0
    for (const happened of seeds) {
      const clock = createTestClock()
      const service = await startTestService({ clock })
      try {
        const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
        const client = createQueryClient({ baseUrl: service.url, organizationId: service.organizationId, stamper })
        const read = () => readActual(client, { everything: true })
        const told: { readonly atMs: number; readonly rows: string; readonly before: string }[] = []
        const rowsOf = (actual: Actual, nowMs: number) =>
          JSON.stringify(powersOf(actual, { nowMs, powers: ['sign', 'policies', 'quorum', 'credentials'] }), null, 1)
        for (const [n, [which, chosen]] of happened.entries()) {
          const actual = await read()
          const pick = <T>(from: readonly T[]) => from[chosen % Math.max(1, from.length)]
          const request = happenings[which]!(actual, pick, n)
          if (!request) continue
          told.push({ atMs: clock(), rows: rowsOf(actual, clock()), before: request[0] })
          clock.advance(MINUTE)
          // What the service refuses, such as deleting a member of the quorum, changes nothing.
          await service.root.submit(...request).catch(() => {})
          clock.advance(MINUTE)
        }
        const [actual, activities] = [await read(), await listActivities(client, { limit: 1000 })]
        for (const { atMs, rows, before } of told) {
          const { things, unknown } = thingsAt(actual, { activities, atMs })
          expect([before, unknown]).toEqual([before, []])
          expect([before, rowsOf({ ...actual, resources: things }, atMs)]).toEqual([before, rows])
          checked++
        }
      } finally {
        await service.close()
      }
    }
    expect(checked).toBeGreaterThan(40 * (runs(4) / 4))
  })
})
