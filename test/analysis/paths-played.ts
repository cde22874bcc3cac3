/**
 * Every way by moves that is told, to a power over funds or over who decides about them and to be as good as the root quorum, is played
 * in a service to its end, by a request that meets what is open.
 */
import fc from 'fast-check'
import { type IndirectPath, indirectPowersOf } from '../../src/analysis/index.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { readActual } from '../../src/live/index.ts'
import type { Actual } from '../../src/resources/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import {
  addKeys,
  addOrganizations,
  type Made,
  type Name,
  PEOPLE,
  type Shape,
  takeKey,
  takeWallet,
} from '../authority/organizations.ts'
import { createTestClock, startTestService, type TestClock, type TestService } from '../service/harness.ts'
import { startIssuer } from '../service/oidc/issuer.ts'
import { startAnvil } from '../service/sends/anvil.ts'
import { startSolanaNode } from '../service/sends/solana-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { ETHEREUM, makeWallet, SOLANA } from '../service/signing/keys.ts'
import { DEVNET, GOALS, type Goal, type Held, isOf, SIGNATURE } from './path-goals.ts'
import { NOT_STAGED, playPath, type Scene } from './paths.ts'

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
  "activity.resource == 'WALLET' && activity.action == 'UPDATE'",
  `${type('CREATE_API_KEYS_V2')} && activity.params.user_id != ''`,
]
/** Some of them hold of some requests only, which the analysis tells as open. */
const GOALS_OF_POLICIES = [
  "activity.action == 'SIGN'",
  "activity.action == 'EXPORT'",
  "activity.action == 'IMPORT'",
  "activity.resource == 'POLICY'",
  "activity.action in ['SIGN', 'EXPORT'] && wallet.label == 'hot'",
  "activity.action == 'SIGN' && wallet.label in ['payroll', 'vault']",
  "activity.action == 'SIGN' && wallet.id != '<hot>'",
  "private_key.label == 'warm'",
  "activity.params.hash_function == 'HASH_FUNCTION_NO_OP'",
  "activity.params.hash_function == 'HASH_FUNCTION_SHA256'",
  "activity.action == 'EXPORT' && activity.params.target_public_key != ''",
  'eth.tx.value > 5',
  'eth.tx.value == 0',
  "activity.action == 'SIGN' && private_key.label == 'cold'",
]

/** What of it there is beside the private key `cold`. */
const HELD = ['warm', 'hot', 'vault'] as const
type HeldName = (typeof HELD)[number] | 'cold'

interface Drawn {
  readonly shape: Shape
  readonly has: readonly HeldName[]
}

const shapes: fc.Arbitrary<Drawn> = fc
  .record({
    has: fc.record({
      bob: fc.constantFrom(['key'], ['key', 'passkey'], ['passkey']),
      carol: fc.constantFrom(['key'], [], ['expired']),
      dave: fc.constantFrom(['key'], []),
    }),
    held: fc.subarray([...HELD]),
    tagged: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    members: fc.constantFrom<readonly Name[]>(['alice', 'dave'], ['alice', 'carol'], ['dave'], ['alice']),
    policies: fc.array(
      fc.record({
        consensus: fc.nat(13),
        who: fc.constantFrom<Name>('bob', 'carol', 'alice'),
        denies: fc.constantFrom(false, false, false, true),
        condition: fc.constantFrom("activity.action == 'SIGN'", ...GOALS_OF_POLICIES, ...MOVES, ...MOVES),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ has, held, tagged, members, policies }) => ({
    has: ['cold', ...held],
    shape: {
      people: Object.fromEntries(
        PEOPLE.map((name, at) => [name, { has: name === 'alice' ? ['key'] : has[name], tagged: tagged[at]! }]),
      ) as unknown as Shape['people'],
      request: 'payload',
      members,
      threshold: members.length,
      policies,
    },
  }))

export interface Played {
  readonly organizations: number
  readonly withPaths: number
  readonly paths: number
  readonly conditional: number
  readonly roots: number
  readonly steps: number
  /** How many ways were played to each goal. */
  readonly goals: Readonly<Record<string, number>>
  /** Ways to an import of which nobody of them may make the target. */
  readonly notStaged: number
  /** Ways that were told and do not lead there. */
  readonly untrue: readonly string[]
}

/** Makes so many organizations and plays every way that is told of them; one that leads to several powers, to so many of them. */
export async function playWays({
  count,
  each = 1,
}: {
  readonly count: number
  readonly each?: number
}): Promise<Played> {
  const clock = createTestClock()
  const [ethereum, solana] = [
    await startAnvil({ mining: 'on-request' }),
    await startSolanaNode({ blocks: 'on-request' }),
  ]
  const issuer = await startIssuer()
  const pollMs = HOUR
  const chains = { [SEPOLIA]: { url: ethereum.url, pollMs }, [DEVNET]: { url: solana.url, pollMs } }
  const service = await startTestService({ clock, chains, privateIssuers: [issuer.url] })
  const figures = { organizations: 0, withPaths: 0, paths: 0, conditional: 0, roots: 0, steps: 0, notStaged: 0 }
  const goals: Record<string, number> = {}
  const untrue: string[] = []
  try {
    const all = fc.sample(shapes, { numRuns: count, seed: 18 })
    const firsts = await open(service, all, clock)
    // What is called expired is.
    clock.advance(2 * HOUR)
    const told: { readonly drawn: Drawn; readonly ways: readonly ToldWay[] }[] = []
    for (const [at, one] of firsts.entries())
      told.push({
        drawn: all[at]!,
        ways: waysOf(await read(service, one.made), { nowMs: clock(), shape: one.shape, each }),
      })
    figures.organizations = all.length
    figures.withPaths = told.filter(({ ways }) => ways.length > 0).length
    // The first way of each is played where it was told, each other in a copy with nothing more than it is about.
    const others = told.flatMap(({ drawn: { shape }, ways }) =>
      ways.slice(1).map(({ over }): Drawn => ({ shape, has: ['cold', ...(over === 'cold' ? [] : [over])] })),
    )
    const copies = (await open(service, others, clock)).values()
    clock.advance(2 * HOUR)
    for (const [at, { ways }] of told.entries()) {
      for (const [index, { path, goal, over, isRoot }] of ways.entries()) {
        const { shape, held, ...scene } = index === 0 ? firsts[at]! : copies.next().value!
        const failed = await playPath({ service, issuer, clock, ...scene }, path, { goal, held: held[over]! }).catch(
          ({ message }: Error) => message,
        )
        if (failed === NOT_STAGED) {
          figures.notStaged++
          continue
        }
        figures[isRoot ? 'roots' : 'paths']++
        figures.steps += path.steps.length
        if (path.isConditional) figures.conditional++
        goals[goal.called] = (goals[goal.called] ?? 0) + 1
        if (failed !== undefined)
          untrue.push(`${goal.called} over ${over}: ${failed}\n${JSON.stringify(path)}\n${JSON.stringify(shape)}`)
      }
    }
    return { ...figures, goals, untrue }
  } finally {
    await service.close()
    await issuer.close()
    await solana.close()
    await ethereum.kill()
  }
}

interface ToldWay {
  readonly path: IndirectPath
  readonly goal: Goal
  readonly over: HeldName
  readonly isRoot: boolean
}

/** All that is told of an organization; of those that differ in what they lead to alone, so many, others of each. */
function waysOf(
  actual: Actual,
  { nowMs, shape, each }: { readonly nowMs: number; readonly shape: Shape; readonly each: number },
): readonly ToldWay[] {
  const powers = [...new Set(GOALS.map(({ power }) => power))]
  const { rows, roots } = indirectPowersOf(actual, { nowMs, powers })
  const hasPolicies = shape.policies.some(({ denies }) => !denies)
  const ways = GOALS.filter(({ needsPolicy }) => hasPolicies || needsPolicy !== true).flatMap((goal) =>
    rows
      .filter(({ power, activities }) => power === goal.power && activities.some((one) => isOf(goal, one)))
      .flatMap(({ over, paths }) => {
        const names = over.length === 0 ? ['cold'] : over.map((one) => one.replace(/^.*\./, ''))
        const some = (names as readonly HeldName[]).filter((name) => goal.over?.(isWallet(name)) ?? true)
        return some.flatMap((one) => paths.map((path): ToldWay => ({ path, goal, over: one, isRoot: false })))
      }),
  )
  const keyOf = ({ path: { people, steps } }: ToldWay) =>
    JSON.stringify([people, steps.map((step) => (step.gains === undefined ? { ...step, activity: '' } : step))])
  const groups = [...Map.groupBy(ways, keyOf).values()]
  const chosen = groups.flatMap((group, at) => {
    const from = (at * 7 + shape.policies.length) % group.length
    return [...group.slice(from), ...group.slice(0, from)].slice(0, each)
  })
  return [...chosen, ...roots.map((path): ToldWay => ({ path, goal: SIGNATURE, over: 'cold', isRoot: true }))]
}

const isWallet = (name: HeldName) => name === 'hot' || name === 'vault'

interface Opened extends Pick<Scene, 'made' | 'tagId' | 'policies'> {
  readonly shape: Shape
  readonly held: Readonly<Partial<Record<HeldName, Held>>>
}

/** The parent may have no more wallets at a time. */
const MOST_WALLETS = 90

/** Organizations of these shapes, each with what it has of wallets and private keys, in which nobody logs in by a phone. */
async function open(service: TestService, all: readonly Drawn[], clock: TestClock): Promise<readonly Opened[]> {
  const opened: Opened[] = []
  for (let at = 0; at < all.length; at += MOST_WALLETS / 2)
    opened.push(...(await openSome(service, all.slice(at, at + MOST_WALLETS / 2), clock)))
  return opened
}

async function openSome(service: TestService, all: readonly Drawn[], clock: TestClock): Promise<readonly Opened[]> {
  const keys = (await addKeys(service, all.filter(({ has }) => has.includes('warm')).length)).values()
  const held = new Map<Drawn, Record<string, Held>>()
  for (const one of all) {
    const things: Record<string, Held> = {}
    for (const name of one.has)
      if (name === 'warm') {
        const { id, address } = keys.next().value!
        things[name] = { id, ethereum: address }
      } else if (isWallet(name)) {
        const { walletId: id, accounts } = await makeWallet(service.root, ETHEREUM, SOLANA)
        things[name] = { id, ethereum: accounts[0]!.address, solana: accounts[1]!.address }
      }
    held.set(one, things)
  }
  const shapes = all.map((one): Shape => {
    const hot = held.get(one)!['hot']?.id ?? 'none'
    const policies = one.shape.policies.map((policy) => ({
      ...policy,
      condition: policy.condition!.replaceAll('<hot>', hot),
    }))
    return { ...one.shape, policies }
  })
  const made = await addOrganizations(service, shapes, clock(), async (tx, organizations) => {
    const ids = organizations.map(({ organizationId }) => organizationId)
    await tx.deleteFrom('features').where('organization_id', 'in', ids).execute()
    for (const [at, { organizationId }] of organizations.entries())
      for (const [name, { id }] of Object.entries(held.get(all[at]!)!))
        await (isWallet(name as HeldName) ? takeWallet : takeKey)(tx, id, { organizationId, name })
  })
  return made.map((one, at): Opened => {
    const { tagId, policyIds, key } = one
    const policies = shapes[at]!.policies.map(({ denies }, index) => ({ id: policyIds[index]!, denies }))
    const cold = { id: key!.id, ethereum: key!.address }
    return { shape: shapes[at]!, made: one, tagId, policies, held: { cold, ...held.get(all[at]!)! } }
  })
}

function read(service: TestService, { organizationId, alice }: Made): Promise<Actual> {
  const stamper = createApiKeyStamper({ privateKey: new Secret(alice.privateKey) })
  return readActual(createQueryClient({ baseUrl: service.url, organizationId, stamper }), {
    sparing: true,
    mentioned: new Set(['privateKey', 'wallet'] as const),
  })
}
