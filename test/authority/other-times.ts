/**
 * Activities that are submitted by day and voted on at night, or the other way round, played in a service; and what is told of them
 * wrongly.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { createRecordedJudge, PowerLine, powersOf, reviewOf } from '../../src/analysis/index.ts'
import { recordedOutcome } from '../../src/analysis/index.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { readActual } from '../../src/live/index.ts'
import type { ActivityType, Wire } from '../../src/protocol/index.ts'
import type { Actual } from '../../src/resources/index.ts'
import { factsOfActivity } from '../../src/scenarios/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { ordersOf } from '../analysis/players.ts'
import { createTestClock, startTestService, type TestService } from '../service/harness.ts'
import { createJudge, factsOf, isOpenAt, linesOf, setsOf, toHour } from './agreement.ts'
import { addOrganizations, type Made, type Name, REQUESTS, type Shape, shapes, TIMES } from './organizations.ts'

/** Hours of the day at which the votes are cast, one after another, within one window of approvals. */
const HOURS = [
  [10, 23],
  [23, 10],
  [10, 23, 9],
] as const

/** A vote on an activity that waits. */
export interface CastVote {
  readonly made: Made
  readonly actual: Actual
  /** Before it. */
  readonly activity: Wire.Activity
  readonly name: Name
  readonly castMs: number
  /** Undefined where the vote was denied. */
  readonly after: Wire.Activity | undefined
  /** Who has voted on what came of it, and when, the submitter first. */
  readonly voters: readonly Name[]
  readonly moments: readonly number[]
}

/** Makes so many organizations and lets their people vote at several times. */
export async function playAtOtherTimes(of: {
  readonly count: number
  readonly seed: number
}): Promise<readonly CastVote[]> {
  const clock = createTestClock()
  const service = await startTestService({ clock })
  try {
    const all = [BY_DAY_AND_AT_NIGHT, ...fc.sample(timed, { numRuns: of.count, seed: of.seed })]
    const votes: CastVote[] = []
    for (const made of await addOrganizations(service, all, clock()))
      for (const hours of HOURS) votes.push(...(await playAt(hours, { service, made, clock })))
    return votes
  } finally {
    await service.close()
  }
}

const [DAY, NIGHT] = TIMES
const by = (name: Name) => `approvers.any(u, u.alias == '${name}')`
/** What alice asks for by day, when it waits for carol, bob gets executed at night, when it would have been denied to her. */
const BY_DAY_AND_AT_NIGHT: Shape = {
  people: Object.fromEntries(['alice', 'bob', 'carol', 'dave'].map((name) => [name, { has: ['key'], tagged: false }])),
  members: ['dave'],
  threshold: 1,
  policies: [
    { consensus: `${by('alice')} && ${by('carol')}`, who: 'alice', denies: false, time: DAY },
    { consensus: by('bob'), who: 'bob', denies: false, time: NIGHT },
    { consensus: `!${by('alice')}`, who: 'alice', denies: true, time: NIGHT },
  ],
}

/** Organizations of at most four with one key each, most of whose policies have a time. */
const timed: fc.Arbitrary<Shape> = fc
  .tuple(shapes, fc.array(fc.constantFrom('', DAY, NIGHT), { minLength: 12, maxLength: 12 }))
  .filter(([{ people }]) => Object.keys(people).length <= 4)
  .map(([shape, times]) => ({
    ...shape,
    people: Object.fromEntries(
      Object.entries(shape.people).map(([name, one]) => [name, { ...one, has: ['key'] as const }]),
    ),
    policies: shape.policies.map((policy, index) => ({ ...policy, time: times[index]! })),
  }))

interface Playing {
  readonly service: TestService
  readonly made: Made
  readonly clock: ReturnType<typeof createTestClock>
}

async function playAt(hours: readonly number[], { service, made, clock }: Playing): Promise<readonly CastVote[]> {
  const { organizationId, names, stampings, shape } = made
  const { type, parameters } = REQUESTS[shape.request ?? 'tag']
  const stamper = createApiKeyStamper({ privateKey: new Secret(made.alice.privateKey) })
  toHour(clock, hours[0]!)
  const actual = await readActual(createQueryClient({ baseUrl: service.url, organizationId, stamper }))
  const send = async (name: Name, activityType: ActivityType, intent: object) => {
    const { path, text } = service.body(activityType, intent, { organizationId })
    const { status, body } = await stampings[name][0]!.raw(path, text)
    if (status !== 200 && status !== 403) throw new Error(`status ${status}: ${JSON.stringify(body)}`)
    return status === 200 ? (body['activity'] as unknown as Wire.Activity) : undefined
  }
  const votes: CastVote[] = []
  for (const [first, ...others] of ordersOf(names)) {
    toHour(clock, hours[0]!)
    let activity = await send(first!, type, parameters(made))
    let [voters, moments]: [readonly Name[], readonly number[]] = [[first!], [clock()]]
    for (const [at, name] of others.entries()) {
      if (activity?.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') break
      toHour(clock, hours[Math.min(at + 1, hours.length - 1)]!)
      const { fingerprint } = activity
      const after: Wire.Activity | undefined = await send(name, 'ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint })
      if (after)
        [voters, moments] = [
          [...voters, name],
          [...moments, clock()],
        ]
      votes.push({ made, actual, activity, name, castMs: clock(), after, voters, moments })
      activity = after ?? activity
    }
  }
  return votes
}

/** What tells of these votes. */
export interface Telling {
  readonly reviewOf: typeof reviewOf
  readonly createRecordedJudge: typeof createRecordedJudge
  readonly powersOf: typeof powersOf
}

/** What is told of votes that is not so. */
export function* faultsOfTelling(votes: readonly CastVote[], telling: Telling): Generator<string> {
  for (const vote of votes) {
    const { made, voters, moments, name, castMs } = vote
    const hours = moments.map((at) => new Date(at).getUTCHours())
    const told = `${JSON.stringify(made.shape)}\n${voters} at ${hours}, ${name} at ${new Date(castMs).getUTCHours()}: `
    for (const fault of [reviewFault(vote, telling), recordFault(vote, telling), powerFault(vote, telling)])
      if (fault) yield told + fault
  }
}

/** Of a key that is named by its id a record does not tell the address by which transactions are read. */
const factsFor = ({ made, actual }: CastVote, activity: Wire.Activity) =>
  factsOfActivity(activity, actual) ?? factsOf(made)
/** Which records do not tell. */
const readsFlags = ({ made }: CastVote) =>
  made.shape.policies.some(({ condition = '' }) => condition.includes('imported'))

/** A vote has it executed just where the review before it names its voter alone. */
function reviewFault(vote: CastVote, telling: Telling): string | undefined {
  const { activity, actual, castMs: nowMs, name, after } = vote
  const isDone = after?.status === 'ACTIVITY_STATUS_COMPLETED'
  const reviewAt = (at: number) =>
    telling.reviewOf(activity, { actual, nowMs: at, baseUrl: '', facts: factsFor(vote, activity) })
  const { standing } = reviewAt(nowMs)
  if (!standing) return readsFlags(vote) ? undefined : 'a review tells nothing'
  const { needed } = standing
  const { timedBy = [], ...now } = needed
  // Within one window of approvals, so that as many of them count.
  const { timedBy: _, ...before } = reviewAt(vote.moments.at(-1)!).standing!.needed
  if (timedBy.length === 0 && !isDeepStrictEqual(now, before))
    return `a review names no policy, and told ${JSON.stringify(before)} before, ${JSON.stringify(now)} now`
  const isNamed =
    needed.outcome === 'waits' &&
    (needed.needed.some((set) => set.join() === name) || (needed.any?.count === 1 && needed.any.of.includes(name)))
  return isNamed === isDone ? undefined : `executed ${isDone}, and a review tells ${JSON.stringify(needed)}`
}

/** What is on record is decided again as it was. */
function recordFault(vote: CastVote, { createRecordedJudge: judgeOf }: Telling): string | undefined {
  const { actual, after, castMs: nowMs } = vote
  if (!after) return undefined
  const { outcome } = judgeOf(actual.resources, { nowMs }).decide(after, factsFor(vote, after))
  if (outcome === recordedOutcome(after) || (outcome === 'unknown' && readsFlags(vote))) return undefined
  return `recorded as ${recordedOutcome(after)}, and decided again ${outcome}`
}

/** Of who had it executed `who-can` tells, under what was open at one of their votes. */
function powerFault({ made, actual, after, voters, moments }: CastVote, telling: Telling): string | undefined {
  if (after?.status !== 'ACTIVITY_STATUS_COMPLETED') return undefined
  const [now] = moments as [number]
  // Whom a DENY stops is told by its own line, or not at all: `unless` names what may.
  const holds = createJudge(actual, made, now, (time) => moments.some((at) => isOpenAt(time, at)))
  const isOf = ({ condition }: PowerLine) => condition === undefined || holds(condition)
  const told = linesOf(actual, made, now, telling.powersOf).filter(isOf)
  const isTold =
    told.some(({ people }) => people === 'unknown') ||
    told.flatMap(setsOf).some((set) => set.every((name) => voters.includes(name)))
  return isTold ? undefined : 'who-can does not tell of them'
}
