/** Every way to signatures by moves that is told, and to be as good as the root quorum, is played in a service and ends in a signature. */
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { type IndirectPath, indirectPowersOf } from '../../src/analysis/index.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { readActual } from '../../src/live/index.ts'
import type { Actual } from '../../src/resources/index.ts'
import { setQuorum } from '../../src/service/resources/organizations/quorum-store.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { addOrganizations, inStore, type Made, type Name, PEOPLE, type Shape } from '../authority/organizations.ts'
import { runs } from '../runs.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestClock, startTestService, type TestClock, type TestService } from '../service/harness.ts'
import { playPath, type Scene } from './paths.ts'

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

const IN_SUITE = 200

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
        return { shape: all[at]!, paths: unique(paths) }
      }),
    )
    figures.organizations = all.length
    figures.withPaths = told.filter(({ paths }) => paths.length > 0).length
    // The first way of each is played where it was told, each other in a copy.
    const others = told.flatMap(({ shape, paths }) => paths.slice(1).map(() => shape))
    const copies = (await open(service, others, clock)).values()
    clock.advance(2 * HOUR)
    for (const [at, { paths }] of told.entries()) {
      for (const [index, { path, isRoot }] of paths.entries()) {
        const { shape, ...scene } = index === 0 ? firsts[at]! : copies.next().value!
        const failed = await playPath({ service, ...scene }, path).catch(({ message }: Error) => message)
        figures[isRoot ? 'roots' : 'paths']++
        figures.steps += path.steps.length
        if (failed !== undefined) untrue.push(`${failed}\n${JSON.stringify(path)}\n${JSON.stringify(shape)}`)
      }
    }
    expect(untrue.join('\n\n'), JSON.stringify(figures)).toBe('')
    expect(figures.paths).toBeGreaterThan(all.length / 10)
    expect(figures.withPaths, JSON.stringify(figures)).toBeGreaterThan(all.length / 4)
    expect(figures.roots).toBeGreaterThan(all.length / 10)
  } finally {
    await service.close()
  }
})

interface Opened extends Pick<Scene, 'made' | 'signWith' | 'tagId' | 'policies'> {
  readonly shape: Shape
}

/** Organizations of these shapes, each with a private key, in which nobody logs in by a phone. */
async function open(service: TestService, shapes: readonly Shape[], clock: TestClock): Promise<readonly Opened[]> {
  const all = await addOrganizations(
    service,
    shapes.map((shape) => ({ ...shape, members: ['alice'], threshold: 1 })),
    clock(),
  )
  const signWith: string[] = []
  for (const { organizationId, alice } of all) {
    const client = service.client(alice.privateKey)
    const submitted: typeof client = {
      ...client,
      submit: (kind, parameters) => client.submit(kind, parameters, { organizationId }),
    }
    // A private key costs a fifth of what a wallet does.
    const key = { privateKeyName: 'cold', curve: 'CURVE_SECP256K1', addressFormats: [], privateKeyTags: [] }
    const made = await complete(submitted, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: [key] })
    signWith.push(made.privateKeys[0]!.privateKeyId!)
  }
  // Alice alone was the root quorum until each had its key.
  await inStore(service, clock(), async (tx) => {
    const ids = all.map(({ organizationId }) => organizationId)
    await tx.deleteFrom('features').where('organization_id', 'in', ids).execute()
    for (const [at, { organizationId, userIds }] of all.entries()) {
      const { members, threshold } = shapes[at]!
      const quorum = { threshold, userIds: members.map((name) => userIds[name]), now: clock() }
      await setQuorum(tx, organizationId, quorum)
    }
  })
  return all.map((made, at) => {
    const { tagId, policyIds } = made
    const policies = shapes[at]!.policies.map(({ denies }, index) => ({ id: policyIds[index]!, denies }))
    return { shape: shapes[at]!, made, signWith: signWith[at]!, tagId, policies }
  })
}

function read(service: TestService, { organizationId, alice }: Made): Promise<Actual> {
  const stamper = createApiKeyStamper({ privateKey: new Secret(alice.privateKey) })
  return readActual(createQueryClient({ baseUrl: service.url, organizationId, stamper }), {
    sparing: true,
    mentioned: new Set(['privateKey'] as const),
  })
}

function unique<T extends { readonly path: IndirectPath }>(all: readonly T[]): readonly T[] {
  return [...new Map(all.map((one) => [JSON.stringify(one.path), one])).values()]
}
