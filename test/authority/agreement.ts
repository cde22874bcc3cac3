/**
 * Who could decide, told by all that tells it, and by the service that decides: `plan`, `send --dry-run`, `policy explain
 * --live`, `who-can`, the approver's view. Used with few organizations by the tests and with many by `npm run soak -- authority`.
 */
import fc from 'fast-check'
import { type PowerLine, planWithForecast, powersOf, waysOf as writtenWays } from '../../src/analysis/index.ts'
import { contextOf, votesOn } from '../../src/authority/index.ts'
import { readTransactionFacts } from '../../src/chain/index.ts'
import { viewActivity } from '../../src/cli/views/activity.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { createSource } from '../../src/diagnostics/index.ts'
import { readActual } from '../../src/live/index.ts'
import {
  authorize,
  compilePolicy,
  conditionHolds,
  type Explanation,
  type PolicyContext,
} from '../../src/policy/index.ts'
import type { ActivityType, Wire } from '../../src/protocol/index.ts'
import type { Actual } from '../../src/resources/index.ts'
import { explainRequest, readRequestFile, readTransaction, worldOfActual } from '../../src/scenarios/index.ts'
import { forecastSend } from '../../src/sending/forecast.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { ordersOf, waysOf } from '../analysis/players.ts'
import { declare, desiredOf } from '../plan/organization.ts'
import { createTestClock, startTestService, type TestService } from '../service/harness.ts'
import {
  addOrganizations,
  type Made,
  type Name,
  REQUESTS,
  type RequestName,
  type Shape,
  type Stamping,
  shapes,
  TIMES,
  wideShapes,
} from './organizations.ts'

const HOUR = 3_600_000

/** What comes of a request: who else must approve, where it waits. */
type Told = 'completes' | 'denied' | 'too many' | readonly string[]

export interface Agreement {
  readonly organizations: number
  readonly waits: number
  readonly denied: number
  readonly completes: number
  /** Approvals that a passkey or a session key gave. */
  readonly otherCredentials: number
  readonly lapsed: number
  readonly deniedVotes: number
  /** Sets of people who can do it as `who-can` tells, each played to its end. */
  readonly played: number
  /** Those of them that are told under a condition, or unless a policy denies. */
  readonly underConditions: number
  /** Those of them that are told under a time, or unless a policy denies at it. */
  readonly atTimes: number
  /** Lines of `who-can` of which the request that was played is no such request. */
  readonly otherRequests: number
  /** Votes in an order, with any credentials, of people of whom `who-can` does not tell, each of which must not end it. */
  readonly tried: number
  /** Organizations that have more of them than were tried. */
  readonly cut: number
  /** Organizations of whose request `who-can` tells of something that it is unknown. */
  readonly unknown: number
}

interface Asked {
  readonly count: number
  readonly seed: number
  /** Of votes of people of whom `who-can` does not tell, at most so many are tried in an organization. */
  readonly tries: number
}

/** Makes so many organizations, asks everybody, and lets the people vote. Throws what does not agree. */
export function agree(asked: Asked): Promise<Agreement> {
  return inEach(shapes, asked, (service, made, { clock, figures, index }) =>
    check(service, made, clock, figures, { index, tries: asked.tries }),
  )
}

/** The same of who-can alone, in organizations of more people or more policies: whom it tells of and nobody else. */
export function agreeOnPowers(asked: Asked): Promise<Agreement> {
  return inEach(wideShapes, asked, async (service, made, { clock, figures }) => {
    const actual = await readAs(service, made)
    const voting = createVoting(service, made, figures)
    await checkPowers(actual, { voting, made, now: clock(), tries: asked.tries }, figures)
  })
}

async function inEach(
  of: fc.Arbitrary<Shape>,
  { count, seed }: Asked,
  play: (
    service: TestService,
    made: Made,
    more: { readonly clock: ReturnType<typeof createTestClock>; readonly figures: Figures; readonly index: number },
  ) => Promise<void>,
): Promise<Agreement> {
  const clock = createTestClock()
  const service = await startTestService({ clock })
  const figures: Figures = {
    waits: 0,
    denied: 0,
    completes: 0,
    otherCredentials: 0,
    lapsed: 0,
    deniedVotes: 0,
    played: 0,
    underConditions: 0,
    atTimes: 0,
    otherRequests: 0,
    tried: 0,
    cut: 0,
    unknown: 0,
  }
  try {
    const organizations = await addOrganizations(service, fc.sample(of, { numRuns: count, seed }), clock())
    // What expires has expired.
    clock.advance(2 * HOUR)
    for (const [index, one] of organizations.entries()) {
      toHour(clock, index % 2 === 0 ? 10 : 23)
      try {
        await play(service, one, { clock, figures, index })
      } catch (error) {
        const { message } = error as Error
        throw new Error(`seed ${seed}, organization ${index}: ${message}\n${JSON.stringify(one.shape)}`, {
          cause: error,
        })
      }
    }
    return { organizations: count, ...figures }
  } finally {
    await service.close()
  }
}

/** Lets the time pass until the next such hour of a day, in UTC. */
export function toHour(clock: ReturnType<typeof createTestClock>, hour: number): void {
  clock.advance((hour * HOUR - (clock() % (24 * HOUR)) + 24 * HOUR) % (24 * HOUR))
}

type Figures = { -readonly [name in Exclude<keyof Agreement, 'organizations'>]: number }

async function check(
  service: TestService,
  made: Made,
  clock: ReturnType<typeof createTestClock>,
  figures: Figures,
  { index, tries }: { readonly index: number; readonly tries: number },
): Promise<void> {
  const actual = await readAs(service, made)
  const { creation, send, request } = tellAll(actual, made, clock())
  for (const said of [creation, send])
    for (const [who, told] of Object.entries(said))
      demand(`${who} tells what the others tell`, told, Object.values(said)[0])
  const first = request

  const voting = createVoting(service, made, figures)
  await checkPowers(actual, { voting, made, now: clock(), tries }, figures)
  const activity = await voting.ask()
  if (first === 'denied' && activity === undefined) return void figures.denied++
  if (activity === undefined) throw new Error(`the service denied what was forecast as ${JSON.stringify(first)}`)
  if (first === 'completes') {
    demand('status', activity.status, 'ACTIVITY_STATUS_COMPLETED')
    figures.completes++
    return
  }
  demand('status', activity.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED')
  if (first === 'too many') return
  figures.waits++
  const others = made.names.filter((name) => name !== 'alice')
  const sets = first === 'denied' ? [] : first
  const size = sets[0]?.split(' ').length ?? Math.min(others.length, 3)
  // Whatever is smaller does not suffice, and of that size just what was told.
  for (const some of subsetsOf(others)) {
    if (some.length === 0 || some.length > size) continue
    const expected = sets.includes([...some].sort().join(' '))
    if (some.length < size || !expected) demand(`${some} suffice`, await voting.suffice(some), false)
    else demand(`${some} suffice`, await voting.suffice(some), true)
  }
  if (index % 4 === 0) await lapse(voting, others, clock, figures)
}

/** Who could ever do it, whoever asks: those of whom `who-can` tells bring it to its end in the service, and no others. */
async function checkPowers(
  actual: Actual,
  {
    voting,
    made,
    now,
    tries,
  }: {
    readonly voting: ReturnType<typeof createVoting>
    readonly made: Made
    readonly now: number
    readonly tries: number
  },
  figures: Figures,
): Promise<void> {
  const lines = linesOf(actual, made, now)
  const holds = createJudge(actual, made, now)
  const isOf = ({ condition }: PowerLine) => condition === undefined || holds(condition)
  const isTold = (line: PowerLine) => isOf(line) && !(line.unless ?? []).some(holds)
  figures.otherRequests += lines.filter((line) => !isTold(line)).length
  for (const line of lines.filter(isTold))
    for (const people of setsOf(line)) {
      demand(`who-can: ${people} can do it (${JSON.stringify(line)})`, await voting.can(people), true)
      figures.played++
      if (line.condition !== undefined || line.unless !== undefined) figures.underConditions++
      const told = [line.condition ?? '', ...(line.unless ?? [])]
      if (told.some((text) => TIMES.some((time) => text.includes(time)))) figures.atTimes++
    }
  if (lines.filter(isOf).some(({ people }) => people === 'unknown')) return void figures.unknown++
  const told = lines.filter(isOf).flatMap(setsOf)
  const untold = (some: readonly Name[]) => !told.some((set) => set.every((name) => some.includes(name)))
  const { tried, isCut } = await voting.tryAll(untold, tries)
  figures.tried += tried
  if (isCut) figures.cut++
}

function readAs(service: TestService, { organizationId, alice }: Made): Promise<Actual> {
  const stamper = createApiKeyStamper({ privateKey: new Secret(alice.privateKey) })
  return readActual(createQueryClient({ baseUrl: service.url, organizationId, stamper }))
}

/** The sets of people of a line, by their names. */
export function setsOf(line: PowerLine): readonly (readonly Name[])[] {
  const ways = writtenWays(line)
  return ways === 'unknown' ? [] : ways.flatMap(({ sets }) => sets as readonly (readonly Name[])[])
}

/** What rows call the request, where not all of its type have the same answer. */
const CALLED: Readonly<Record<RequestName, string>> = {
  tag: '',
  payload: ' (PAYLOAD_ENCODING_HEXADECIMAL)',
  transaction: ' (TRANSACTION_TYPE_ETHEREUM)',
  export: '',
}

/** The lines that `who-can` tells of the request of an organization. */
export function linesOf(
  actual: Actual,
  { shape: { request = 'tag' }, key }: Made,
  now: number,
  powers: typeof powersOf = powersOf,
): readonly PowerLine[] {
  const { type } = REQUESTS[request]
  return powers(actual, { nowMs: now })
    .filter(({ activities }) => activities.some((one) => one === type || one === `${type}${CALLED[request]}`))
    .filter(({ over }) => key === undefined || over.includes('privateKey.cold'))
    .flatMap(({ lines }) => lines)
}

/**
 * Whether a condition of a line holds for the request of an organization: by the evaluator, and not by what made the line.
 * @param isOpen says of each time whether it is. @default as it is at `now`
 */
export function createJudge(
  actual: Actual,
  made: Made,
  now: number,
  isOpen: (time: string) => boolean = (time) => isOpenAt(time, now),
): (condition: string) => boolean {
  const { type, parameters } = REQUESTS[made.shape.request ?? 'tag']
  const nobody = { approvers: [], credentials: [], rootQuorum: { threshold: 0, userIds: [] } }
  const facts = factsOf(made)
  const context = contextOf({ type, parameters: parameters(made), nowMs: now, facts }, nobody)
  const ids = new Map(actual.resources.map(({ kind, name, id }) => [`\${${kind}.${name}}`, id ?? '']))
  return (told) => {
    const named = told.replaceAll(/\$\{[^}]*\}/g, (name) => ids.get(name) ?? name)
    // A condition cannot read the time.
    const condition = TIMES.reduce((text, time) => text.replaceAll(time, isOpen(time) ? '1 == 1' : '1 == 2'), named)
    const compiled = compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition })
    return conditionHolds(compiled, context) === true
  }
}

/** What policies read of the request of an organization besides its parameters. */
export function factsOf(made: Made): Partial<PolicyContext> {
  const { key, shape } = made
  const { type, parameters } = REQUESTS[shape.request ?? 'tag']
  const signed =
    type === 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'
      ? readTransactionFacts({
          ...{ type: 'TRANSACTION_TYPE_ETHEREUM', interfaces: [], signer: key!.address },
          unsignedTransaction: (parameters(made) as { unsignedTransaction: string }).unsignedTransaction,
        })
      : {}
  const held = key && { private_key: { id: key.id, label: 'cold', tags: [], imported: false, exported: false } }
  return { ...held, ...signed } as Partial<PolicyContext>
}

/** Whether the time of a policy is open at a moment. */
export function isOpenAt(time: string, nowMs: number): boolean {
  const policy = compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', time })
  const context = { now: BigInt(nowMs) * 1_000_000n, activity: { type: '' }, approvers: [] }
  return authorize([policy], context).policies[0]!.outcome === 'OUTCOME_ALLOW'
}

/** After a day the approvals count no more: the approver's view says so, and the service lets the same people vote again. */
async function lapse(
  voting: ReturnType<typeof createVoting>,
  others: readonly Name[],
  clock: ReturnType<typeof createTestClock>,
  figures: Figures,
): Promise<void> {
  const asked = (await voting.ask())!
  const view = async () => viewActivity(await voting.read(asked.id), clock())
  demand('approved at once', (await view()).approvedBy, ['alice'])
  demand('lapses a day after', (await view()).approvalsLapseAt, new Date(clock() + 24 * HOUR).toISOString())
  clock.advance(25 * HOUR)
  demand('approved a day later', [(await view()).approvedBy, (await view()).lapsedApprovals], [[], ['alice']])
  demand('nothing lapses', (await view()).approvalsLapseAt, undefined)
  for (const name of [...others, 'alice' as const]) {
    const seen = await voting.read(asked.id)
    if (seen.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') break
    const before = votesOn(seen, clock()).approvals.length
    const voted = await voting.vote(name, seen.fingerprint)
    const after = await view()
    if (voted && after.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
      demand('one more counts', after.approvedBy.length, before + 1)
      if (before === 0) demand('a new window', after.approvalsLapseAt, new Date(clock() + 24 * HOUR).toISOString())
    }
  }
  figures.lapsed++
}

type Said = Readonly<Record<string, Told>>

/** What is told of alice's creation of a tag and of a send, by each that tells it, and of the request of the organization. */
function tellAll(
  actual: Actual,
  { organizationId, shape, key, tagId }: Made,
  now: number,
): { readonly creation: Said; readonly send: Said; readonly request: Told } {
  const desired = { ...desiredOf([declare('tag.probe')]), organizationId }
  const { plan, diagnostics } = planWithForecast({
    desired,
    actual,
    lock: {},
    creators: {},
    allow: [],
    baseUrl: 'http://127.0.0.1:1',
    now: new Date(now).toISOString(),
  })
  demand('diagnostics', diagnostics, [])
  const world = worldOfActual(actual, now)
  const asked = (activity: string, more: object = {}) => {
    const source = createSource(
      'request.yaml',
      JSON.stringify({ by: { user: 'alice', with: 'key' }, activity, ...more }),
    )
    const { context, diagnostics: faults } = readRequestFile(source, { world, readTransaction })
    demand('faults of the request', faults, [])
    return explanationTold(explainRequest(world, context!))
  }
  const [from, to] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
  const order = {
    reference: 'r',
    organization: { id: organizationId, name: 'o', baseUrl: '' },
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION' as const,
    parameters: { from, to, caip2: 'eip155:1', value: '1' },
    from,
    to,
    amount: '1',
    orderedAt: new Date(now).toISOString(),
  }
  const directory = { addressBook: {}, assets: {}, wallets: [], privateKeys: [] }
  const forecast = plan.batches[0]!.forecast!
  const creation: Said & { readonly plan: Told } = {
    plan:
      forecast.outcome === 'waits'
        ? setsTold(forecast.needed)
        : forecast.outcome === 'depends'
          ? 'too many'
          : (forecast.outcome as 'completes' | 'denied'),
    'policy explain --live': asked('CREATE_USER_TAG'),
  }
  // What is asked has no facts of a transaction, which the send has.
  const isSameRequest = shape.policies.every(({ condition = '' }) => !condition.includes('eth.'))
  const send = {
    'send --dry-run': explanationTold(forecastSend(order, { actual, world, directory, now }).explanation),
    ...(isSameRequest ? { 'policy explain --live of a send': asked('ETH_SEND_TRANSACTION') } : {}),
    ...(shape.policies.every(({ condition }) => condition === undefined) ? creation : {}),
  }
  const { request = 'tag' } = shape
  if (request === 'tag') return { creation, send, request: creation.plan }
  const { type, parameters } = REQUESTS[request]
  const made = parameters({ tagId, key: key! }) as Readonly<Record<string, string>>
  const params = {
    tag: {},
    payload: { encoding: made['encoding'], hash_function: made['hashFunction'] },
    transaction: { type: made['type'] },
    export: { target_public_key: made['targetPublicKey'] },
  }[request]
  const signed =
    request === 'transaction' ? { account: key!.address, transaction: { ethereum: made['unsignedTransaction'] } } : {}
  const privateKey = { id: key!.id, label: 'cold' }
  return { creation, send, request: asked(type, { privateKey, params, ...signed }) }
}

function explanationTold({ outcome, needs }: Explanation): Told {
  if (outcome === 'OUTCOME_ALLOW') return 'completes'
  if (outcome !== 'OUTCOME_REQUIRES_CONSENSUS' || needs === 'nobody') return 'denied'
  if (needs === undefined) throw new Error('it waits, and nobody is named')
  return needs === 'too-many' ? 'too many' : setsTold(needs.sets)
}

function setsTold(sets: readonly (readonly string[])[]): readonly string[] {
  return sets.map((set) => [...set].sort().join(' ')).sort()
}

function createVoting(service: TestService, made: Made, figures: Figures) {
  const { organizationId, stampings, alice, shape } = made
  const { type, parameters } = REQUESTS[shape.request ?? 'tag']
  const isOfTag = type === 'ACTIVITY_TYPE_UPDATE_USER_TAG'
  const client = service.client(alice.privateKey)
  let tags = 0
  /** What alice asks for: of tags their creation, of which the plan tells. */
  const ask = () =>
    isOfTag
      ? submit(client.raw, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `t${tags++}`, userIds: [] })
      : submit(client.raw, type, parameters(made))
  const submit = async (
    raw: Stamping['raw'],
    type: ActivityType,
    parameters: object,
  ): Promise<Wire.Activity | undefined> => {
    const { path, text } = service.body(type, parameters, { organizationId })
    const answer = await raw(path, text)
    if (answer.status === 403) return undefined
    demand('status of the submit', answer.status, 200)
    return answer.body['activity'] as unknown as Wire.Activity
  }
  const read = async (activityId: string) =>
    (await client.query('get_activity', { organizationId, activityId })).activity
  const voteWith = async ({ name, way }: Ballot, fingerprint: string): Promise<Wire.Activity | undefined> => {
    const { raw, sort } = stampings[name][way]!
    const { path, text } = service.body('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint }, { organizationId })
    const answer = await raw(path, text)
    if (answer.status === 403) {
      figures.deniedVotes++
      return undefined
    }
    demand('status of the vote', answer.status, 200)
    if (!sort.includes('key') || sort === 'passkey') figures.otherCredentials++
    return answer.body['activity'] as unknown as Wire.Activity
  }
  const creations = createTrials(ask, voteWith)
  /** Whether there is an order and a choice of credentials in which these, and nobody else, bring it to an end, each needed. */
  const suffice = async (people: readonly Name[]): Promise<boolean> => {
    for (const ballots of ballotsOf(people, stampings)) {
      const done = await creations.after([{ name: 'alice', way: 0 }, ...ballots])
      if (done?.status === 'ACTIVITY_STATUS_COMPLETED' && done.votes.length === people.length + 1) return true
    }
    return false
  }
  // There may be few tags, so that one is changed again and again.
  const changes = createTrials(({ name, way }) => submit(stampings[name][way]!.raw, type, parameters(made)), voteWith)
  /** Whether there is an order and a choice of credentials in which these bring it to an end, the first of them by asking. */
  const can = async (people: readonly Name[]): Promise<boolean> => {
    for (const ballots of ballotsOf(people, stampings))
      if ((await changes.after(ballots))?.status === 'ACTIVITY_STATUS_COMPLETED') return true
    return false
  }
  /** Tries votes in every order with every credential, the fewest first, of such people alone; none of them may bring it to an end. */
  const tryAll = async (isAsked: (people: readonly Name[]) => boolean, most: number) => {
    let tried = 0
    for (const waiting: (readonly Ballot[])[] = [[]]; waiting.length > 0; ) {
      const before = waiting.shift()!
      const voted = before.map(({ name }) => name)
      for (const name of made.names) {
        if (voted.includes(name) || !isAsked([...voted, name])) continue
        for (const way of stampings[name].keys()) {
          if (tried >= most) return { tried, isCut: true }
          tried++
          const ballots = [...before, { name, way }]
          const came = await changes.after(ballots)
          demand(`who-can: ${[...voted, name]} can do it`, came?.status === 'ACTIVITY_STATUS_COMPLETED', false)
          if (came?.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') waiting.push(ballots)
        }
      }
    }
    return { tried, isCut: false }
  }
  const vote = async (name: Name, fingerprint: string) => {
    for (const way of stampings[name].keys()) if (await voteWith({ name, way }, fingerprint)) return true
    return false
  }
  return { ask, read, suffice, can, tryAll, vote }
}

/** One person's vote, with one of their credentials. */
interface Ballot {
  readonly name: Name
  readonly way: number
}

function* ballotsOf(people: readonly Name[], stampings: Made['stampings']): Generator<readonly Ballot[]> {
  for (const order of ordersOf(people))
    for (const ways of waysOf(order.map((name) => stampings[name].length)))
      yield order.map((name, at) => ({ name, way: ways[at]! }))
}

/**
 * Activities that are alike, tried by ballots in one order after another. What comes of an order is asked once, and what waits after
 * some ballots is what the next are cast on: a vote that is denied leaves it as it was.
 */
function createTrials(
  ask: (first: Ballot) => Promise<Wire.Activity | undefined>,
  vote: (ballot: Ballot, fingerprint: string) => Promise<Wire.Activity | undefined>,
) {
  const known = new Map<string, Wire.Activity | undefined>()
  /** Fingerprints of what waits after these ballots. */
  const waiting = new Map<string, string>()
  const keyOf = (ballots: readonly Ballot[]) => JSON.stringify(ballots)
  const cast = async (ballots: readonly Ballot[]): Promise<Wire.Activity | undefined> => {
    const [earlier, last] = [ballots.slice(0, -1), ballots.at(-1)!]
    if (earlier.length === 0) return keep(ballots, await ask(last))
    const fingerprint = waiting.get(keyOf(earlier)) ?? (await cast(earlier))!.fingerprint
    const came = await vote(last, fingerprint)
    if (came) waiting.delete(keyOf(earlier))
    return keep(ballots, came)
  }
  const keep = (ballots: readonly Ballot[], came: Wire.Activity | undefined) => {
    const key = keyOf(ballots)
    // Of what was asked before, the same comes again.
    if (known.has(key)) demand(`status after ${key}`, came?.status, known.get(key)?.status)
    known.set(key, came)
    if (came?.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') waiting.set(key, came.fingerprint)
    return came
  }
  /** What it is after all of these ballots, or after those of them that ended it; undefined where the last was denied. */
  const after = async (ballots: readonly Ballot[]): Promise<Wire.Activity | undefined> => {
    const key = keyOf(ballots)
    if (known.has(key)) return known.get(key)
    const before = ballots.length > 1 ? await after(ballots.slice(0, -1)) : undefined
    if (ballots.length > 1 && before?.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return before
    return cast(ballots)
  }
  return { after }
}

function subsetsOf(names: readonly Name[]): readonly (readonly Name[])[] {
  return Array.from({ length: 2 ** names.length }, (_, bits) => names.filter((_name, index) => (bits >> index) & 1))
}

function demand(what: string, got: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(got), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}: expected ${b}, got ${a}`)
}

export type { Shape }
