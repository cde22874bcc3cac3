/** Every way to signatures and exports by moves that is told, and to be as good as the root quorum, is played in a service to its end, by a request that meets what is open. */
import fc from 'fast-check'
import { serializeTransaction } from 'viem'
import { type IndirectPath, indirectPowersOf } from '../../src/analysis/index.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { readActual } from '../../src/live/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import type { Actual } from '../../src/resources/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { addOrganizations, inStore, type Made, type Name, PEOPLE, type Shape } from '../authority/organizations.ts'
import { createTestClock, startTestService, type TestClock, type TestService } from '../service/harness.ts'
import { playPath, type Scene } from './paths.ts'

const HOUR = 3_600_000

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
  `${type('CREATE_API_KEYS_V2')} && activity.params.user_id != ''`,
]
/** Some of them hold of some requests only, which the analysis tells as open. */
const GOALS = [
  "activity.action == 'SIGN'",
  "activity.action == 'EXPORT'",
  "activity.params.hash_function == 'HASH_FUNCTION_NO_OP'",
  "activity.params.hash_function == 'HASH_FUNCTION_SHA256'",
  "activity.action == 'EXPORT' && activity.params.target_public_key != ''",
  'eth.tx.value > 5',
  'eth.tx.value == 0',
  "activity.action == 'SIGN' && private_key.label == 'cold'",
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
        condition: fc.constantFrom("activity.action == 'SIGN'", ...GOALS, ...MOVES, ...MOVES),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ has, tagged, members, policies }) => ({
    people: Object.fromEntries(
      PEOPLE.map((name, at) => [name, { has: name === 'alice' ? ['key'] : has[name], tagged: tagged[at]! }]),
    ) as unknown as Shape['people'],
    request: 'payload',
    members,
    threshold: members.length,
    policies,
  }))

export interface Played {
  readonly organizations: number
  readonly withPaths: number
  readonly paths: number
  readonly conditional: number
  readonly otherGoals: number
  readonly roots: number
  readonly steps: number
  /** Ways that were told and do not lead there. */
  readonly untrue: readonly string[]
}

/** Makes so many organizations and plays every way that is told of them. */
export async function playWays({ count }: { readonly count: number }): Promise<Played> {
  const clock = createTestClock()
  const service = await startTestService({ clock })
  const figures = { organizations: 0, withPaths: 0, paths: 0, conditional: 0, otherGoals: 0, roots: 0, steps: 0 }
  const untrue: string[] = []
  try {
    const all = fc.sample(shapes, { numRuns: count, seed: 18 })
    const firsts = await open(service, all, clock)
    // What is called expired is.
    clock.advance(2 * HOUR)
    const told = await Promise.all(
      firsts.map(async (one, at) => {
        const actual = await read(service, one.made)
        const { rows, roots } = indirectPowersOf(actual, { nowMs: clock(), powers: ['sign', 'export'] })
        const paths = [
          ...Object.values(GOAL_OF).flatMap((goal) =>
            rows
              .filter(({ activities, over }) => activities.some(goal.isOf) && over.includes('privateKey.cold'))
              .flatMap((row) => row.paths.map((path) => ({ path, goal, isRoot: false }))),
          ),
          ...roots.map((path) => ({ path, goal: GOAL_OF.payload, isRoot: true })),
        ]
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
      for (const [index, { path, goal, isRoot }] of paths.entries()) {
        const { shape, ...scene } = index === 0 ? firsts[at]! : copies.next().value!
        const failed = await playPath({ service, ...scene }, path, goal.requests(scene.made)).catch(
          ({ message }: Error) => message,
        )
        figures[isRoot ? 'roots' : 'paths']++
        figures.steps += path.steps.length
        if (path.isConditional) figures.conditional++
        if (goal !== GOAL_OF.payload) figures.otherGoals++
        if (failed !== undefined) untrue.push(`${failed}\n${JSON.stringify(path)}\n${JSON.stringify(shape)}`)
      }
    }
    return { ...figures, untrue }
  } finally {
    await service.close()
  }
}

/** What ways lead to, and requests that each asks for: which of them meet what is open is tried. */
const GOAL_OF = {
  payload: goalOf('SIGN_RAW_PAYLOAD_V2', '(PAYLOAD_ENCODING_HEXADECIMAL)', ({ key }) =>
    ['NO_OP', 'SHA256', 'KECCAK256'].map((hash) => ({
      ...{ signWith: key!.id, payload: '00'.repeat(32), encoding: 'PAYLOAD_ENCODING_HEXADECIMAL' },
      hashFunction: `HASH_FUNCTION_${hash}`,
    })),
  ),
  transaction: goalOf('SIGN_TRANSACTION_V2', '(TRANSACTION_TYPE_ETHEREUM)', ({ key }) =>
    [6n, 0n, 1n].map((value) => ({
      ...{ signWith: key!.id, type: 'TRANSACTION_TYPE_ETHEREUM' },
      unsignedTransaction: serializeTransaction({
        ...({ type: 'eip1559', chainId: 1, nonce: 4, gas: 21_000n, to: `0x${'1'.repeat(40)}`, value } as const),
        ...{ maxFeePerGas: 40_000_000_000n, maxPriorityFeePerGas: 1n },
      }),
    })),
  ),
  export: goalOf('EXPORT_PRIVATE_KEY', '', ({ key }) => [
    { privateKeyId: key!.id, targetPublicKey: generateP256KeyPair().publicKey },
  ]),
}

function goalOf(name: string, called: string, parameters: (made: Made) => readonly object[]) {
  const activity = `ACTIVITY_TYPE_${name}` as ActivityType
  return {
    isOf: (told: string) => told === activity || told === `${activity} ${called}`,
    requests: (made: Made) => parameters(made).map((one) => ({ type: activity, parameters: one })),
  }
}

interface Opened extends Pick<Scene, 'made' | 'tagId' | 'policies'> {
  readonly shape: Shape
}

/** Organizations of these shapes, each with a private key, in which nobody logs in by a phone. */
async function open(service: TestService, shapes: readonly Shape[], clock: TestClock): Promise<readonly Opened[]> {
  const all = await addOrganizations(service, shapes, clock())
  await inStore(service, clock(), async (tx) => {
    const ids = all.map(({ organizationId }) => organizationId)
    await tx.deleteFrom('features').where('organization_id', 'in', ids).execute()
  })
  return all.map((made, at) => {
    const { tagId, policyIds } = made
    const policies = shapes[at]!.policies.map(({ denies }, index) => ({ id: policyIds[index]!, denies }))
    return { shape: shapes[at]!, made, tagId, policies }
  })
}

function read(service: TestService, { organizationId, alice }: Made): Promise<Actual> {
  const stamper = createApiKeyStamper({ privateKey: new Secret(alice.privateKey) })
  return readActual(createQueryClient({ baseUrl: service.url, organizationId, stamper }), {
    sparing: true,
    mentioned: new Set(['privateKey'] as const),
  })
}

/** Ways that differ in no more than what they lead to are played once. */
function unique<T extends { readonly path: IndirectPath }>(all: readonly T[]): readonly T[] {
  const keyOf = ({ path: { people, steps } }: T) =>
    JSON.stringify([people, steps.map((step) => (step.gains === undefined ? { ...step, activity: '' } : step))])
  return [...new Map(all.toReversed().map((one) => [keyOf(one), one])).values()].reverse()
}
