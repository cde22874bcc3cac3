/**
 * Finds who gains and who loses which power between two states of an organization, by the answers of `power-lines.ts` to both. Only
 * requests that a difference can affect are asked about: those of policies that differ, or on which a person votes who differs; those of
 * wallets and private keys that differ; all of them if the root quorum differs. Answers are compared as sets of ids; they are shortened
 * and given names last. Answers that are not known to be the same are reported as a change.
 */
import type { Access, AccessChange } from '../plan/index.ts'
import { authorize, type Coalitions, mayVote, type Voter, writeByTeam } from '../policy/index.ts'
import type { Resource } from '../resources/index.ts'
import { breathe, computing } from './computing.ts'
import { organizationIn } from './everybody.ts'
import { decisionsMayDiffer, touchedThings } from './influence.ts'
import { createPolicyCompiler, type PolicyCompiler } from './policies.ts'
import {
  type AnswerLine,
  type Answers,
  conditionText,
  contextFor,
  createAnswers,
  denialOf,
  everySubset,
  partsOf,
} from './power-lines.ts'
import {
  type AddressedHolder,
  type AddressedWorld,
  type HolderRoot,
  holdersOf,
  POWER_NAMES,
  POWER_WORDS,
  type PowerName,
  type PowerRequest,
  requestsOf,
  requestWords,
} from './power-table.ts'
import {
  createQuestions,
  createRuleReader,
  type PolicyRule,
  type PowerQuestion,
  pinsOf,
  type RuleReader,
} from './questions.ts'
import { sameCoalitions } from './same-coalitions.ts'
import { type OrganizationState, thingsOf } from './state.ts'

const TOO_MANY = 'there are too many sets of people to try them all'

/** The differences in power between two states of an organization, in which things are identified by their ids. */
export function accessBetween(
  before: readonly Resource[],
  after: readonly Resource[],
  { nowMs }: { readonly nowMs: number },
): readonly AccessChange[] {
  const namesById = new Map([...before, ...after].map(({ id, address }) => [id!, address]))
  return accessChanges({ things: before }, { things: after }, { nowMs, namesById })
}

/** Whether somebody may gain or lose a power between two states; where not, that is found without asking who has which. */
export function powersMayDiffer(before: OrganizationState, after: OrganizationState, compile: PolicyCompiler): boolean {
  const holds = ({ kind }: Resource) => kind === 'wallet' || kind === 'privateKey'
  const touched = touchedThings(before, after)
  return touched.some(({ old, now }) => holds((now ?? old)!)) || decisionsMayDiffer(before, after, compile)
}

/** One state of the organization, with the answers about it. */
interface Side {
  readonly state: OrganizationState
  readonly answers: Answers
  readonly ask: (world: AddressedWorld) => PowerQuestion
}

/** The differences in power between two states, wallets and private keys by address; `namesById` writes the ids in open conditions as names. */
export function accessChanges(
  before: OrganizationState,
  after: OrganizationState,
  {
    nowMs,
    namesById,
    compile = createPolicyCompiler(),
  }: {
    readonly nowMs: number
    readonly namesById: ReadonlyMap<string, string>
    readonly compile?: PolicyCompiler
  },
): readonly AccessChange[] {
  const reader = createRuleReader(compile, nowMs)
  const [had, has] = [organizationIn(before), organizationIn(after)]
  const answers = createAnswers(had, nowMs)
  const old: Side = { state: before, answers, ask: createQuestions(before, reader) }
  const now: Side = {
    state: after,
    answers: has === had ? answers : createAnswers(has, nowMs),
    ask: createQuestions(after, reader),
  }
  return computing('who gains or loses power', () => {
    const differs = createDifference(old, now, { reader, nowMs })
    const compare = createComparison(old, now, { differs, namesById })
    const holders = holderPairs(before, after).filter(differs.mayTouch)
    return [...holders, undefined].flatMap((pair) =>
      POWER_NAMES.flatMap((power) => changesOf(power, pair, { differs, compare })),
    )
  })
}

/** A wallet or private key before and after; one of the two may be absent. */
interface HolderPair {
  readonly root: HolderRoot
  readonly address: string
  readonly was: AddressedHolder | undefined
  readonly is: AddressedHolder | undefined
}

function holderPairs(before: OrganizationState, after: OrganizationState): readonly HolderPair[] {
  const [had, has] = [holdersOf(before), holdersOf(after)]
  return (['wallet', 'private_key'] as const).flatMap((root) => {
    const was = new Map(had[root].map((one) => [one.id, one]))
    const is = new Map(has[root].map((one) => [one.id, one]))
    const pairs = [...new Set([...was.keys(), ...is.keys()])].map((id) => {
      const [old, now] = [was.get(id), is.get(id)]
      return { root, address: (now ?? old)!.address, was: old, is: now }
    })
    return pairs.sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0))
  })
}

/** The changes of one power over one holder, or over none, an entry for each group of requests that change alike. */
function changesOf(
  power: PowerName,
  pair: HolderPair | undefined,
  { differs, compare }: { readonly differs: Difference; readonly compare: Comparison },
): readonly AccessChange[] {
  const requests = requestsOf(power).filter(({ root }) => root === pair?.root)
  const found = requests.flatMap((request) => {
    breathe()
    if (!differs.touches(request, pair)) return []
    const world = (holder: AddressedHolder | undefined) => (holder ? { ...request, holder } : request)
    const change = compare(
      pair && !pair.was ? undefined : world(pair?.was),
      pair && !pair.is ? undefined : world(pair?.is),
    )
    return change ? [{ request, change }] : []
  })
  const groups = Map.groupBy(found, ({ change }) => change.key)
  return [...groups.values()].map((group) => {
    const { before, after } = group[0]!.change
    // Where a power is over wallets or private keys, a request that is about none of them names its activities.
    const isAll =
      group.length === requests.length && (pair !== undefined || !requestsOf(power).some(({ root }) => root))
    const some = group.map(({ request }) => request)
    return {
      power: POWER_WORDS[power],
      ...(isAll ? {} : { requests: requestWords(some, pair?.root) }),
      ...(pair ? { wallet: pair.address } : {}),
      before,
      after,
    }
  })
}

/** The differences between two states that can change a power. */
interface Difference {
  /** Whether the answer for some request about it could have changed: of most wallets and keys that is said by their names alone. */
  readonly mayTouch: (pair: HolderPair) => boolean
  /** Whether the answer for a request could have changed. */
  readonly touches: (request: PowerRequest, pair: HolderPair | undefined) => boolean
  /** Whether a person who differs between the states may be in a set of these answers. */
  readonly movedCount: (question: PowerQuestion) => boolean
  readonly sameQuorum: boolean
}

function createDifference(
  old: Side,
  now: Side,
  { reader, nowMs }: { readonly reader: RuleReader; readonly nowMs: number },
): Difference {
  const text = (value: unknown) => JSON.stringify(value)
  const moved = movedBetween(old.answers, now.answers)
  const sameQuorum = text(old.answers.organization.rootQuorum) === text(now.answers.organization.rootQuorum)
  const members = new Set([old, now].flatMap(({ answers }) => answers.organization.rootQuorum.userIds))
  const isCentral = !sameQuorum || moved.some(({ approver }) => members.has(approver.id))
  const context = contextFor(now.answers.organization, nowMs, false)
  const { rootQuorum: _, ...base } = context
  const counting = new Map<number, boolean>()
  const counts = (rule: PolicyRule): boolean => {
    breathe()
    const { consensusSerial } = rule
    const known = counting.get(consensusSerial) ?? moved.some((person) => countsIn(rule.consensus, base, person))
    counting.set(consensusSerial, known)
    return known
  }
  const rulesOf = ({ state }: Side) => thingsOf(state, 'policy').map(reader.ruleOf)
  const [had, has] = [rulesOf(old), rulesOf(now)]
  const touching = isCentral
    ? []
    : [...surplus(had, has), ...surplus(has, had), ...(moved.length === 0 ? [] : has.filter(counts))].filter(
        ({ isReadable }) => isReadable,
      )
  const perRequest = new Map<number, readonly PolicyRule[]>()
  const touchingOf = (request: PowerRequest) => {
    const known = perRequest.get(request.index) ?? touching.filter((rule) => reader.possible(rule, request).canHold)
    perRequest.set(request.index, known)
    return known
  }
  return {
    sameQuorum,
    movedCount: ({ applying }) => isCentral || applying.some(({ rule }) => counts(rule)),
    mayTouch: (pair) => isCentral || isOther(pair) || touching.some((rule) => mayHoldFor(rule, pair)),
    touches: (request, pair) => {
      if (isCentral || (pair && isOther(pair))) return true
      const rules = touchingOf(request)
      if (!pair) return rules.length > 0
      return rules.some(
        (rule) => mayHoldFor(rule, pair) && reader.possible(rule, { ...request, holder: pair.is! }).canHold,
      )
    },
  }
}

/** People of one state who are not the same in the other. */
function movedBetween({ people: had }: Answers, { people: has }: Answers): readonly Voter[] {
  if (had === has) return []
  const [then, later] = [had, has].map(
    (people) => new Map(people.map((one) => [JSON.stringify([one.approver, one.credentials]), one])),
  )
  const without = (some: ReadonlyMap<string, Voter>, others: ReadonlyMap<string, Voter>) =>
    [...some].flatMap(([key, person]) => (others.has(key) ? [] : [person]))
  return [...without(then!, later!), ...without(later!, then!)]
}

/** Whether a holder is in one state alone, or has another name. */
function isOther({ was, is }: HolderPair): boolean {
  return !was || !is || was.label !== is.label
}

/** Whether the names in a policy let it hold for what both states have. */
function mayHoldFor({ pins }: PolicyRule, { root, is }: HolderPair): boolean {
  const names = pins[root]
  return names === undefined || pinsOf(is!).some((pin) => names.has(pin))
}

/** The elements that the first list has more often than the other. */
function surplus(first: readonly PolicyRule[], other: readonly PolicyRule[]): readonly PolicyRule[] {
  const left = new Map<number, number>()
  for (const { serial } of other) left.set(serial, (left.get(serial) ?? 0) + 1)
  return first.filter(({ serial }) => {
    const count = left.get(serial) ?? 0
    left.set(serial, count - 1)
    return count <= 0
  })
}

/** Whether a person could be in a group that a policy lets through: they may submit what it allows, or vote on it. */
function countsIn(
  policy: PolicyRule['consensus'],
  base: Parameters<typeof authorize>[1],
  { approver, credentials = [] }: Voter,
): boolean {
  if (policy.policy.effect === 'EFFECT_DENY') return false
  return credentials.some((credential) => {
    const alone = { ...base, approvers: [approver], credentials: [credential] }
    if (mayVote([policy], alone, approver, credential)) return true
    const { outcome } = authorize([policy], alone)
    return outcome === 'OUTCOME_ALLOW' || outcome === 'OUTCOME_REQUIRES_CONSENSUS'
  })
}

type Comparison = (
  was: AddressedWorld | undefined,
  is: AddressedWorld | undefined,
) => { readonly key: string; readonly before: Access; readonly after: Access } | undefined

/** Compares the answers for a request, once for equal questions; undefined if they are known to be the same. */
function createComparison(
  old: Side,
  now: Side,
  { differs, namesById }: { readonly differs: Difference; readonly namesById: ReadonlyMap<string, string> },
): Comparison {
  const known = new Map<string, ReturnType<Comparison>>()
  return (was, is) => {
    const [then, later] = [was && old.ask(was), is && now.ask(is)]
    const key = JSON.stringify([then?.key ?? null, later?.key ?? null])
    if (!known.has(key)) {
      const isSame = isSameAnswer(then, later)
      const told = () => ({ before: accessOf(old, then), after: accessOf(now, later) })
      known.set(key, isSame ? undefined : withKey(told()))
    }
    return known.get(key)
  }

  function isSameAnswer(then: PowerQuestion | undefined, later: PowerQuestion | undefined): boolean {
    if (then && later && then.key === later.key && differs.sameQuorum && !differs.movedCount(later)) return true
    const [had, has] = [then, later].map((question, index) =>
      question ? [old, now][index]!.answers.linesOf(question) : [],
    )
    if (!sameLines(had!, has!)) return false
    // Whom no open DENY keeps away has the power under each of them: where there is nobody else, they change nothing.
    if (had!.every(({ unless }) => unless.length === 0)) return true
    return then === undefined || later === undefined || sameUnderDenials(then, later)
  }

  /** Lines leave out requests to which an open DENY applies; this tries whether both states decide those alike. */
  function sameUnderDenials(then: PowerQuestion, later: PowerQuestion): boolean {
    const [had, has] = [partsOf(then), partsOf(later)]
    const kinds = (some: readonly { readonly open: string }[]) => [...new Set(some.map(({ open }) => open))].sort()
    const [denials, conditions] = [
      kinds([...had.denials, ...has.denials]),
      kinds([...had.allowances, ...has.allowances]),
    ]
    if (denials.length === 0) return true
    if (denials.length + conditions.length > MOST_TRIED) return false
    return everySubset([
      ...denials.map((open) => ({ open, denies: true })),
      ...conditions.map((open) => ({ open, denies: false })),
    ]).every((holding) => {
      const given = (parts: ReturnType<typeof partsOf>) => [
        ...parts.closed,
        ...parts.denials.filter(({ open }) => holding.some((one) => one.denies && one.open === open)),
        ...parts.allowances.filter(({ open }) => holding.some((one) => !one.denies && one.open === open)),
      ]
      return isSame(old.answers.find(given(had), then.isRootOnly), now.answers.find(given(has), later.isRootOnly))
    })
  }

  function accessOf({ answers }: Side, question: PowerQuestion | undefined): Access {
    return question ? accessText(answers.linesOf(question), answers) : { ways: [] }
  }

  /** An answer as a plan shows it. */
  function accessText(lines: readonly AnswerLine[], { named }: Answers): Access {
    const ways = (people: Coalitions) => writeByTeam(named(people))
    const isPlain = ({ conditions, unless }: AnswerLine) => conditions.length === 0 && unless.length === 0
    const told = (line: AnswerLine) => {
      const condition = conditionText(line.conditions, namesById)
      return {
        ...(condition === undefined ? {} : { condition }),
        ...denialOf(line, namesById),
      }
    }
    const under = lines.flatMap((line) => {
      const { policies, people } = line
      return isPlain(line) || people === 'unknown' ? [] : [{ ...told(line), policies: policies(), ways: ways(people) }]
    })
    const always = lines.find(isPlain)
    const unknown = lines
      .filter(({ people }) => people === 'unknown')
      .map((line) => (isPlain(line) ? TOO_MANY : `under \`${told(line).condition ?? 'no condition'}\`: ${TOO_MANY}`))
    return {
      ways: always && always.people !== 'unknown' ? ways(always.people) : [],
      ...(under.length > 0 ? { under } : {}),
      ...(unknown.length > 0 ? { unknown: unknown.join('; ') } : {}),
    }
  }
}

function withKey(told: { readonly before: Access; readonly after: Access }) {
  return { ...told, key: JSON.stringify(told) }
}

/** The most open conditions of which every combination is tried. */
const MOST_TRIED = 6

function isSame(one: Coalitions | 'gave-up', other: Coalitions | 'gave-up'): boolean {
  return one !== 'gave-up' && other !== 'gave-up' && sameCoalitions(one, other) === true
}

/** Whether two answers are known to be the same, even if different policies give them. */
function sameLines(some: readonly AnswerLine[], others: readonly AnswerLine[]): boolean {
  const keyOf = ({ conditions, unless }: AnswerLine) => JSON.stringify([conditions, unless])
  const byKey = new Map(others.map((line) => [keyOf(line), line]))
  return (
    some.length === others.length &&
    some.every((line) => {
      const other = byKey.get(keyOf(line))
      const known = other && line.people !== 'unknown' && other.people !== 'unknown'
      return known && sameCoalitions(line.people as Coalitions, other.people as Coalitions) === true
    })
  )
}
