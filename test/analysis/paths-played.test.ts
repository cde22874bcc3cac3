/** Every way to signatures by moves that is told, and to be as good as the root quorum, is played in a service and ends in a signature. */
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { type IndirectPath, indirectPowersOf } from '../../src/analysis/index.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { readActual } from '../../src/live/index.ts'
import type { Actual } from '../../src/resources/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { addOrganizations, type Made, type Name, PEOPLE, type Shape } from '../authority/organizations.ts'
import { runs } from '../runs.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestClock, startTestService, type TestClock, type TestService } from '../service/harness.ts'
import { accountsOf, ETHEREUM } from '../service/signing/keys.ts'
import { playPath } from './paths.ts'

const HOUR = 3_600_000
vi.setConfig({ testTimeout: 600_000 })

const type = (name: string) => `activity.type == 'ACTIVITY_TYPE_${name}'`
const MOVES = [
  type('UPDATE_USER_TAG'),
  type('UPDATE_USER'),
  type('UPDATE_USER_NAME'),
  type('UPDATE_USER_EMAIL'),
  type('CREATE_USERS_V3'),
  type('CREATE_API_KEYS_V2'),
  type('CREATE_AUTHENTICATORS_V2'),
  type('CREATE_POLICIES'),
  type('CREATE_POLICY_V3'),
  type('UPDATE_POLICY_V2'),
  type('DELETE_POLICIES'),
  type('UPDATE_ROOT_QUORUM'),
  "activity.resource == 'POLICY' && activity.action == 'UPDATE'",
  "activity.resource == 'USER' && activity.action == 'UPDATE'",
]

const shapes: fc.Arbitrary<Shape> = fc
  .record({
    has: fc.record({
      bob: fc.constantFrom(['key'], ['key', 'passkey'], ['passkey']),
      carol: fc.constantFrom(['key'], [], ['expired']),
      dave: fc.constantFrom(['key'], []),
    }),
    tagged: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    members: fc.constantFrom<readonly Name[]>(['alice', 'dave'], ['alice', 'carol'], ['dave'], ['alice']),
    policies: fc.array(
      fc.record({
        consensus: fc.nat(13),
        who: fc.constantFrom<Name>('bob', 'carol', 'alice'),
        denies: fc.constantFrom(false, false, false, true),
        condition: fc.constantFrom("activity.action == 'SIGN'", ...MOVES, ...MOVES),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ has, tagged, members, policies }) => ({
    people: Object.fromEntries(
      PEOPLE.map((name, at) => [name, { has: name === 'alice' ? ['key'] : has[name], tagged: tagged[at]! }]),
    ) as unknown as Shape['people'],
    members,
    threshold: members.length,
    policies,
  }))

const MOST_PATHS = 6
const IN_SUITE = 50

test('who gets there by moves is told only where the moves lead to a signature', async () => {
  const clock = createTestClock()
  const service = await startTestService({ clock })
  const figures = { organizations: 0, withPaths: 0, paths: 0, roots: 0, steps: 0 }
  const untrue: string[] = []
  try {
    const all = fc.sample(shapes, { numRuns: runs(IN_SUITE), seed: 18 })
    const firsts = await open(service, all, clock)
    // What is called expired is.
    clock.advance(2 * HOUR)
    const told = await Promise.all(
      firsts.map(async (one, at) => {
        const actual = await read(service, one.made)
        const { rows, roots } = indirectPowersOf(actual, { nowMs: clock(), powers: ['sign'] })
        const raw = rows.filter(({ activities }) =>
          activities.some((name) => name.startsWith('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2')),
        )
        const paths = [
          ...raw.flatMap((row) => row.paths.map((path) => ({ path, isRoot: false }))),
          ...roots.map((path) => ({ path, isRoot: true })),
        ].filter(({ path }) => !path.isConditional)
        return { shape: all[at]!, paths: unique(paths).slice(0, MOST_PATHS) }
      }),
    )
    figures.organizations = all.length
    const played = told.flatMap(({ shape, paths }) => paths.map((one) => ({ shape, ...one })))
    figures.withPaths = told.filter(({ paths }) => paths.length > 0).length
    const copies = await open(
      service,
      played.map(({ shape }) => shape),
      clock,
    )
    clock.advance(2 * HOUR)
    for (const [at, { path, shape, isRoot }] of played.entries()) {
      const { made, signWith } = copies[at]!
      const actual = await read(service, made)
      const failed = await playPath({ service, made, actual, signWith }, path).catch(({ message }: Error) => message)
      figures[isRoot ? 'roots' : 'paths']++
      figures.steps += path.steps.length
      if (failed !== undefined) untrue.push(`${failed}\n${JSON.stringify(path)}\n${JSON.stringify(shape)}`)
    }
    expect(untrue.join('\n\n'), JSON.stringify(figures)).toBe('')
    expect(figures.withPaths, JSON.stringify(figures)).toBeGreaterThan(all.length / 4)
    expect(figures.roots).toBeGreaterThan(all.length / 10)
  } finally {
    await service.close()
  }
})

/** Organizations of these shapes, each with a wallet, in which nobody logs in by a phone. */
async function open(service: TestService, shapes: readonly Shape[], clock: TestClock) {
  const all = await addOrganizations(
    service,
    shapes.map((shape) => ({ ...shape, members: ['alice'], threshold: 1 })),
    clock(),
  )
  const opened: { readonly made: Made; readonly signWith: string }[] = []
  for (const [at, made] of all.entries()) {
    const { organizationId, userIds } = made
    const alice = service.client(made.alice.privateKey)
    const submitted: typeof alice = {
      ...alice,
      submit: (kind, parameters) => alice.submit(kind, parameters, { organizationId }),
    }
    const { members, threshold } = shapes[at]!
    const wallet = { walletName: 'cold', accounts: accountsOf(ETHEREUM) }
    const { addresses } = await complete(submitted, 'ACTIVITY_TYPE_CREATE_WALLET', wallet)
    await complete(submitted, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_SMS_AUTH' })
    const quorum = { threshold, userIds: members.map((name) => userIds[name]) }
    await complete(submitted, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', quorum)
    opened.push({ made, signWith: addresses[0]! })
  }
  return opened
}

function read(service: TestService, { organizationId, alice }: Made): Promise<Actual> {
  const stamper = createApiKeyStamper({ privateKey: new Secret(alice.privateKey) })
  return readActual(createQueryClient({ baseUrl: service.url, organizationId, stamper }), { everything: true })
}

function unique<T extends { readonly path: IndirectPath }>(all: readonly T[]): readonly T[] {
  return [...new Map(all.map((one) => [JSON.stringify(one.path), one])).values()]
}
