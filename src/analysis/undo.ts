/**
 * Undo: who could take a plan back once it is carried out, and in how many activities. The inverse plan is asked, activity by activity,
 * who gets it executed in the state that the plan and the activities before it leave. A few are asked in every order; of more, the order of
 * the inverse plan, and others where nobody gets through in that one. `nobody` is said only where no order leads to the end, and no moves
 * (`indirect.ts`) either; where that could not be tried out, the answer is unknown.
 */
import { contextOf, instantsOf, timedTakingPart } from '../authority/index.ts'
import { fillParameters, type Plan, type PlanInput, type Undo } from '../plan/index.ts'
import { type Coalitions, type CompiledPolicy, type PolicyContext, whoCan, writeByTeam } from '../policy/index.ts'
import { kinds, type Resource, referencesOf } from '../resources/index.ts'
import { breathe, computing } from './computing.ts'
import { organizationIn, votersIn } from './everybody.ts'
import { createMoves } from './indirect.ts'
import { influenceOf } from './influence.ts'
import { type Inverse, inverseOf } from './inverse.ts'
import { walletsOf } from './outcome.ts'
import { type PolicyCompiler, policiesOf } from './policies.ts'
import { thingsAfter } from './recorded.ts'
import { sameCoalitions } from './same-coalitions.ts'
import { createCarrier, type OrganizationState, standIns, startState } from './state.ts'

/** Of so many activities every order is tried. */
const MOST_IN_EVERY_ORDER = 6
/** Most states that are looked into where they are more. */
const MOST_STATES = 200
/** Most sets of people of one activity that are put together with those of another. */
const MOST_SETS = 120
/** Most ways to one state that are followed further. */
const MOST_WAYS = 300
/** Most moments at which other policies are active that are tried; of more, that it hangs on the time is taken to be so. */
const MOST_MOMENTS = 16
const TOO_MANY = 'there are too many sets of people to try them all'

/** Says who could undo a plan; undefined for a plan that submits nothing. */
export function undoOf(
  plan: Plan,
  { desired, actual, baseUrl, now }: PlanInput,
  compile: PolicyCompiler,
): Undo | undefined {
  if (plan.batches.length === 0) return undefined
  const before = startState(actual).things
  const after = thingsAfter(plan, { desired, actual })
  const inverse = inverseOf({ before, after }, { actual, organization: desired.organization, baseUrl, now })
  const lost = inverse.lost.length > 0 ? { lost: inverse.lost } : {}
  const activities = inverse.plan.batches.length
  if (inverse.unknown !== undefined) return { activities, ways: [], unknown: inverse.unknown, ...lost }
  if (activities === 0) return { activities, ways: [], ...lost }
  const nowMs = Date.parse(now)
  const walk = createWalk(inverse, { after, nowMs, compile })
  const { end, isTimed } = computing('who could take the plan back', () => {
    const asked: [done: bigint, index: number][] = []
    const ask: Walk['ask'] = (done, index) => {
      asked.push([done, index])
      return walk.ask(done, index)
    }
    const found = walkToTheEnd({ ...walk, ask })
    return { end: found, isTimed: isOtherwiseAtOtherTimes(walk, { end: found, asked }) }
  })
  const timed = isTimed ? { isTimed: true as const } : {}
  if (end.people !== undefined) {
    const sets = end.people === 'too-many' ? end.people : setsTogether(end.people)
    if (sets === 'too-many') return { activities, ways: [], unknown: TOO_MANY, ...lost }
    return { activities, ways: writeByTeam(named(sets, walk.names)), ...timed, ...lost }
  }
  const { stuck } = end
  const [first] = stuck
  const fewer = { activities, ways: [], ...(first === undefined ? {} : { stuck: first.summary }), ...timed, ...lost }
  const unread = (actual.unread ?? []).filter((kind) => DECIDING.has(kind) || kinds[kind].credential)
  if (end.isCut || !first) return { ...fewer, unknown: 'there are too many orders to try them all' }
  if (unread.length > 0) return { ...fewer, unknown: `not read: ${unread.map((kind) => kinds[kind].many).join(', ')}` }
  const moves = createMoves({ ...actual, resources: after }, { nowMs })
  const paths = computing('who could take the plan back by moves', () =>
    stuck.map(({ context, policies }) => moves.pathTo(policies, context)),
  )
  const found = paths.flatMap((path) => path ?? [])
  if (found.length === paths.length) {
    const people = [...new Set(found.flatMap((path) => path.people))].sort()
    return { ...fewer, byMoves: { people, isConditional: found.some(({ isConditional }) => isConditional) } }
  }
  const [limit] = moves.limits()
  return limit === undefined ? fewer : { ...fewer, unknown: limit }
}

const DECIDING: ReadonlySet<string> = new Set(['user', 'tag', 'policy', 'rootQuorum', 'feature'])

/** One activity of the inverse plan in one state, at one moment. */
interface Asked {
  readonly index: number
  readonly summary: string
  readonly context: PolicyContext
  readonly policies: readonly CompiledPolicy[]
  /** People by their ids. */
  readonly people: Coalitions | 'gave-up'
  /** Equal for equal people. */
  readonly key: string
}

/** The activities of an inverse plan, done in any order; a set of them is a number with a bit for each. */
interface Walk {
  readonly size: number
  /** Once for each moment of the walk. */
  readonly ask: (done: bigint, index: number) => readonly Asked[]
  /** Whether all that it refers to is there. */
  readonly isReady: (done: bigint, index: number) => boolean
  readonly names: ReadonlyMap<string, string>
  readonly now: bigint
  /** Times of policies that have a part in what was asked. */
  readonly times: ReadonlySet<string>
  /** The same walk, with each activity at any of these moments. */
  readonly at: (moments: readonly bigint[]) => Walk
}

function createWalk(
  { plan, desired }: Inverse,
  {
    after,
    nowMs,
    compile,
  }: { readonly after: readonly Resource[]; readonly nowMs: number; readonly compile: PolicyCompiler },
): Walk {
  // Those of what the plan itself makes live by now, under stand-ins of their own.
  const ids = standIns(plan, desired, '4001')
  const carryOut = createCarrier({ plan, desired, ids })
  const makers = new Map(plan.batches.flatMap(({ index, produces }) => produces.map(({ address }) => [address, index])))
  const needs = plan.batches.map(({ parameters }) => referencesOf(parameters).flatMap((one) => makers.get(one) ?? []))
  const parameters = plan.batches.map(
    (batch) => fillParameters(batch.parameters, ids) as Readonly<Record<string, unknown>>,
  )
  const names = new Map<string, string>()
  const now = BigInt(nowMs) * 1_000_000n
  const times = new Set<string>()
  const sideOf = (state: OrganizationState) => {
    const organization = organizationIn(state)
    const voters = votersIn(organization, nowMs)
    for (const { name, approver } of voters) if (!names.has(approver.id)) names.set(approver.id, name)
    const people = voters.map((one) => ({ ...one, name: one.approver.id }))
    const policies = policiesOf(state, compile)
    return { state, organization, people, policies, known: new Map<string, Asked>() }
  }
  type Side = ReturnType<typeof sideOf>
  const sides = new Map<bigint, Side>([[0n, sideOf({ things: after })]])
  const sideAfter = (done: bigint): Side => {
    const known = sides.get(done)
    if (known) return known
    const last = plan.batches.findLast(({ index }) => (done >> BigInt(index)) & 1n)!
    const earlier = sideAfter(done & ~(1n << BigInt(last.index)))
    const state = carryOut(earlier.state, last)
    // Whoever acts, no decision comes out otherwise where nothing changes that decisions read.
    const side = influenceOf(earlier.state, state, '') ? sideOf(state) : { ...earlier, state }
    sides.set(done, side)
    return side
  }
  const askAt = (moment: bigint, done: bigint, index: number): Asked => {
    const { state, organization, people, policies, known } = sideAfter(done)
    const { type, summary } = plan.batches[index]!
    const facts = walletsOf(type, parameters[index]!, state)
    const request = { type, parameters: parameters[index]!, nowMs, facts }
    const standing = contextOf(request, { approvers: [], credentials: [], rootQuorum: organization.rootQuorum })
    const context = { ...standing, now: moment }
    const same = JSON.stringify([type, parameters[index], facts, String(moment)])
    const found = known.get(same)
    if (found) return { ...found, index, summary }
    breathe()
    for (const { policy } of timedTakingPart(policies, standing)) times.add(policy.time!)
    const sets = whoCan(policies, context, people)
    const asked: Asked = { index, summary, context, policies, people: sets, key: keyOf(sets) }
    known.set(same, asked)
    return asked
  }
  const isReady = (done: bigint, index: number) =>
    needs[index]!.every((one) => one === index || (done >> BigInt(one)) & 1n)
  const at = (some: readonly bigint[]): Walk => ({
    size: plan.batches.length,
    ask: (done, index) => some.map((moment) => askAt(moment, done, index)),
    isReady,
    names,
    times,
    now,
    at,
  })
  return at([now])
}

/**
 * Whether others get to the end, or nobody, at another time: at one moment, or with each activity at a moment of its own. Of activities
 * that are not tried in every order, it is whether others get one of them executed that was asked.
 */
function isOtherwiseAtOtherTimes(
  walk: Walk,
  { end, asked }: { readonly end: End; readonly asked: readonly (readonly [done: bigint, index: number])[] },
): boolean {
  for (;;) {
    const { size } = walk.times
    if (size === 0) return false
    const { values, isCut } = instantsOf([...walk.times].sort(), walk.now)
    const moments = values.filter((at) => at >= walk.now)
    if (isCut || moments.length > MOST_MOMENTS) return true
    const atAny = walk.at(moments)
    if (walk.size > MOST_IN_EVERY_ORDER)
      return asked.some(([done, index]) => new Set(atAny.ask(done, index).map(({ key }) => key)).size > 1)
    const others = [...moments.slice(1).map((one) => walk.at([one])), ...(moments.length > 1 ? [atAny] : [])]
    if (others.some((other) => !isSameEnd(walkToTheEnd(other), end))) return true
    // What is asked at those moments alone may have times of its own.
    if (walk.times.size === size) return false
  }
}

function isSameEnd(one: End, other: End): boolean {
  if (one.isCut || other.isCut) return false
  if (!one.people || !other.people) return one.people === other.people
  const [some, others] = [one.people, other.people].map((people) =>
    people === 'too-many' ? people : setsTogether(people),
  )
  return some !== 'too-many' && others !== 'too-many' && sameCoalitions(some!, others!) === true
}

function keyOf(sets: Coalitions | 'gave-up'): string {
  if (sets === 'gave-up') return sets
  const used = sets.classes.map((_, at) => sets.found.some((counts) => counts[at]! > 0))
  const part = <T>(row: readonly T[]) => row.filter((_, at) => used[at])
  return JSON.stringify([part(sets.classes), sets.found.map(part)])
}

/** Ways to the end: of each, whose sets are all needed. */
type Requirements = readonly (readonly Coalitions[])[]

interface End {
  /** Absent where nobody gets there. */
  readonly people?: Requirements | 'too-many'
  /** What nobody gets executed where most others are done. */
  readonly stuck: readonly Asked[]
  readonly isCut: boolean
}

/** Follows the orders in which the activities can be executed, by whomever. */
function walkToTheEnd(walk: Walk): End {
  return walk.size <= MOST_IN_EVERY_ORDER ? inEveryOrder(walk) : inSomeOrder(walk)
}

function inEveryOrder(walk: Walk): End {
  const known = new Map<string, Coalitions | 'gave-up'>()
  // By what is done: which sets of people were needed so far, one entry for each way that is no worse than another.
  let reached: ReadonlyMap<bigint, readonly ReadonlySet<string>[]> = new Map([[0n, [new Set()]]])
  let stuck: readonly Asked[] = []
  for (let count = 0; count < walk.size; count++) {
    const next = new Map<bigint, readonly ReadonlySet<string>[]>()
    const halted: Asked[] = []
    for (const [done, ways] of reached) {
      for (const [bit, asked] of asks(walk, done)) {
        if (isNobody(asked)) halted.push(asked)
        else {
          known.set(asked.key, asked.people)
          const more = ways.map((keys) => new Set([...keys, asked.key]))
          const least = leastKeys([...(next.get(done | bit) ?? []), ...more])
          if (least.length > MOST_WAYS) return { people: 'too-many', stuck: [], isCut: false }
          next.set(done | bit, least)
        }
      }
    }
    stuck = halted
    if (next.size === 0) return { stuck: oncePerActivity(stuck), isCut: false }
    reached = next
  }
  const ways = [...reached.values()].flat().map((keys) => [...keys].map((key) => known.get(key)!))
  return { people: knownWays(ways), stuck: [], isCut: false }
}

function inSomeOrder(walk: Walk): End {
  const whole = (1n << BigInt(walk.size)) - 1n
  const seen = new Set<bigint>()
  const path: Asked[] = []
  let most: { readonly done: number; readonly stuck: readonly Asked[] } = { done: -1, stuck: [] }
  let isCut = false
  const goOn = (done: bigint): boolean => {
    if (done === whole) return true
    if (seen.size > walk.size + MOST_STATES) isCut = true
    if (seen.has(done) || isCut) return false
    seen.add(done)
    const stuck: Asked[] = []
    for (const [bit, asked] of asks(walk, done)) {
      if (isNobody(asked)) stuck.push(asked)
      else {
        path.push(asked)
        if (goOn(done | bit)) return true
        path.pop()
      }
    }
    if (path.length > most.done) most = { done: path.length, stuck }
    return false
  }
  if (!goOn(0n)) return { stuck: most.stuck, isCut }
  const people = [...new Map(path.map((asked) => [asked.key, asked.people])).values()]
  return { people: knownWays([people]), stuck: [], isCut: false }
}

/** What could be done next, by the bit of each. */
function* asks(walk: Walk, done: bigint): Generator<readonly [bigint, Asked]> {
  for (let index = 0; index < walk.size; index++) {
    const bit = 1n << BigInt(index)
    if ((done & bit) === 0n && walk.isReady(done, index)) for (const asked of walk.ask(done, index)) yield [bit, asked]
  }
}

function isNobody({ people }: Asked): boolean {
  return people !== 'gave-up' && people.found.length === 0
}

function oncePerActivity(stuck: readonly Asked[]): readonly Asked[] {
  return [...new Map(stuck.map((one) => [one.index, one])).values()]
}

function knownWays(ways: readonly (readonly (Coalitions | 'gave-up')[])[]): Requirements | 'too-many' {
  const known = ways.filter((needed): needed is Coalitions[] => !needed.includes('gave-up'))
  return known.length < ways.length ? 'too-many' : known
}

/** Without those that need all that another needs, or more. */
function leastKeys(all: readonly ReadonlySet<string>[]): readonly ReadonlySet<string>[] {
  const kept: ReadonlySet<string>[] = []
  for (const keys of all.toSorted((a, b) => a.size - b.size))
    if (!kept.some((one) => [...one].every((key) => keys.has(key)))) kept.push(keys)
  return kept
}

/** Sets of people that have, of one way, a set of each requirement within them, and from which nobody can be left out. */
function setsTogether(ways: Requirements): Coalitions | 'too-many' {
  const [only] = ways
  if (ways.length === 1 && only!.length === 1) return only![0]!
  const bits = new Map<string, bigint>()
  const bitOf = (id: string) => {
    const bit = bits.get(id) ?? 1n << BigInt(bits.size)
    bits.set(id, bit)
    return bit
  }
  const all: bigint[] = []
  for (const needed of ways) {
    let some: readonly bigint[] = [0n]
    for (const sets of needed) {
      const each = setsOf(sets, bitOf)
      if (each === undefined) return 'too-many'
      some = leastSets(some.flatMap((one) => each.map((other) => one | other)))
      if (some.length > MOST_SETS) return 'too-many'
    }
    all.push(...some)
  }
  const ids = [...bits.keys()]
  const found = leastSets(all).map((set) => ids.map((_, at) => Number((set >> BigInt(at)) & 1n)))
  return { classes: ids.map((id) => [id]), found }
}

/** The sets written out, a bit for each person; undefined where they are too many. */
function setsOf({ classes, found }: Coalitions, bitOf: (id: string) => bigint): readonly bigint[] | undefined {
  const sets: bigint[] = []
  for (const counts of found) {
    let some: readonly bigint[] = [0n]
    for (const [at, count] of counts.entries()) {
      const more = choose(classes[at]!.map(bitOf), count)
      some = some.flatMap((one) => more.map((other) => one | other))
      if (some.length > MOST_SETS) return undefined
    }
    sets.push(...some)
  }
  return sets.length > MOST_SETS ? undefined : sets
}

/** At most one more than are put together. */
function choose(bits: readonly bigint[], count: number): readonly bigint[] {
  if (count === 0) return [0n]
  const sets: bigint[] = []
  for (const [at, bit] of bits.entries()) {
    for (const rest of choose(bits.slice(at + 1), count - 1)) sets.push(bit | rest)
    if (sets.length > MOST_SETS) break
  }
  return sets
}

function leastSets(all: readonly bigint[]): readonly bigint[] {
  const sized = [...new Set(all)].map((set) => ({ set, size: set.toString(2).replaceAll('0', '').length }))
  const kept: bigint[] = []
  for (const { set } of sized.sort((a, b) => a.size - b.size))
    if (!kept.some((one) => (one & set) === one)) kept.push(set)
  return kept
}

function named({ classes, found }: Coalitions, names: ReadonlyMap<string, string>): Coalitions {
  return { classes: classes.map((ids) => ids.map((id) => names.get(id) ?? id)), found }
}
