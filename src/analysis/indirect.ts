/**
 * Finds who could get a power that they do not have, by *moves*: activities that change who may decide. A move *gains* something: the
 * right to write any policy, to delete policies, to give oneself any tag or name, to have users made, to act for other users by adding
 * credentials to them. Whether people who have made a move can make the next one, or use the power itself, is computed by the same exact
 * code as direct powers (`whoCan`), until no move gains anything more.
 *
 * Premise: a gain never takes anything away from the people who have it. So a *reach* (some people, and what they have gained) with
 * fewer people and more gains than another makes the other superfluous. A move that depends on what its request says is taken to be
 * possible, and its path is marked as conditional. Limits that were hit are named in the result: then more may be possible.
 */
import { approverOf, usersByName, votersOf } from '../authority/index.ts'
import {
  type Approver,
  type Coalitions,
  type CompiledPolicy,
  type CredentialFacts,
  compilePolicy,
  type PolicyContext,
  readsOf,
  type Voter,
  whoCan,
} from '../policy/index.ts'
import { type Actual, organizationOf } from '../resources/index.ts'
import { breathe, computing } from './computing.ts'
import { GAINS, type Gain } from './families.ts'
import {
  actsForOthers,
  createOwnRight,
  createViews,
  type Gains,
  isDenial,
  type Move,
  madeCredentials,
  movesOf,
  newcomersFor,
  type OwnWay,
  tagsHoldBack,
  UNFOLLOWED,
} from './moves.ts'
import { includes, NOBODY, type People, personAt, sizeOf, unionOf } from './people.ts'
import { createPolicyCompiler } from './policies.ts'
import { type AnswerLine, type Answers, conditionText, createAnswers, denialOf } from './power-lines.ts'
import {
  type AddressedWorld,
  activitiesOf,
  holdersOf,
  POWER_NAMES,
  POWER_WORDS,
  type PowerName,
  worldsOf,
} from './power-table.ts'
import { createQuestions, createRuleReader, type PolicyRule, type PowerQuestion } from './questions.ts'
import { startState, thingsOf } from './state.ts'

/** One activity of a path. */
export interface IndirectStep {
  /** The type of activity. */
  readonly activity: string
  /** The names of those who vote for it; users who were made or taken over by an earlier step are marked as such. */
  readonly people: readonly string[]
  /** Names of the policies that allow it; none where the root quorum, or the right to change one's own credentials, allows it. */
  readonly policies: readonly string[]
  /** What the request must say; a path with such a step is conditional. */
  readonly condition?: string
  readonly unless?: readonly string[]
  /** Names of the DENY policies that `unless` is about. */
  readonly deniedBy?: readonly string[]
  /** What the step gains, in words; absent in the last step, which uses the power itself. */
  readonly gains?: string
}

/** People who get to a power together, and a shortest way. */
export interface IndirectPath {
  readonly people: readonly string[]
  /** Whether a step depends on what its request says. */
  readonly isConditional: boolean
  readonly steps: readonly IndirectStep[]
}

export interface IndirectRow {
  readonly power: PowerName
  readonly activities: readonly string[]
  readonly over: readonly string[]
  /** Sets of people from which nobody can be left out and that do not have the power directly. */
  readonly paths: readonly IndirectPath[]
}

export interface IndirectPowers {
  readonly rows: readonly IndirectRow[]
  /** Paths of people outside the root quorum who get as much power as it has: they can change it, or write and delete every policy. */
  readonly roots: readonly IndirectPath[]
  /** Limits that were hit, in words; then more may be possible than the rows say. */
  readonly limits: readonly string[]
}

/** Some people, what they have gained, and the steps by which they gained it. */
interface Reach extends Way {
  readonly gains: Gains
  /** A bit for each gain. */
  readonly gained: number
  /** The moves of these steps, without that of adding credentials of one's own. */
  readonly trail: readonly Move[]
  /** The activity by which alone they add credentials of their own. @default any */
  readonly ownBy?: string
}

/** A candidate for a reach. Most are dropped, because a better reach is known. */
interface Onward extends Gained {
  readonly size: number
  readonly from: Pick<Reach, 'steps' | 'trail'>
  readonly move: Move
  readonly step: NextStep['step']
  /** The gains of its last step, in words. */
  readonly more: string
}
type Gained = Pick<Reach, 'people' | 'isConditional' | 'gained'>

interface Way {
  readonly people: People
  readonly steps: readonly IndirectStep[]
  readonly isConditional: boolean
  /** The steps as they are told: found for the few ways that are. @default steps */
  readonly toldBy?: () => readonly IndirectStep[]
}

/** One more step of a way, and who has to join for it. */
interface NextStep {
  readonly joining: People
  readonly isConditional: boolean
  /** Makes the step's description; called only for the few steps that are kept. */
  readonly step: () => IndirectStep
}

/** The question that a request asks, and the questions that the same request would ask if its wallet had another name. */
interface Questions {
  readonly asked: readonly PowerQuestion[]
  readonly renamed: readonly PowerQuestion[]
  /** As `renamed`, of DENY policies alone: people who can write an ALLOW need another name only to evade a DENY. */
  readonly evading: readonly PowerQuestion[]
}

/** Which people can rename a wallet: `renamed` is asked where others can, `evading` where writers of policies can. */
interface Renamers {
  readonly writers: boolean
  readonly others: boolean
}

const GAIN_NAMES = Object.keys(GAINS) as readonly Gain[]
const BITS = Object.fromEntries(GAIN_NAMES.map((gain, at) => [gain, 1 << at])) as Readonly<Record<Gain, number>>

const OWN_UNLESS = BITS.own | BITS.ownUnless
const START: Gained = { people: NOBODY, isConditional: false, gained: 0 }
const NO_STEPS = { steps: [], trail: [] } as const
/** The first step of who adds credentials of their own, until it is told by which activity. */
const OWN_STEP: IndirectStep = { activity: '', people: ['each of them'], policies: [], gains: GAINS.own }

const WRITES_ALL = BITS.policies | BITS.denials
const NOT_ACTING = GAIN_NAMES.filter((gain) => !actsForOthers(new Set([gain]))).reduce(
  (bits, gain) => bits | BITS[gain],
  0,
)

/** What is not followed where some act for others of whom policies ask this very key. */
const OWN_KEYS =
  'policies ask for keys that are somebody’s own: what others gain who act for this user, together with who keeps such a key, was not followed'

const MOST_REACHES = 1500
const MOST_SETS = 200
const MOST_PATHS = 300

/** Finds the indirect powers in an organization as it was read, at a moment in milliseconds since the epoch. */
export function indirectPowersOf(
  actual: Actual,
  { nowMs, powers = POWER_NAMES }: { readonly nowMs: number; readonly powers?: readonly PowerName[] },
): IndirectPowers {
  const limits = new Set<string>()
  const search = createSearch(actual, { nowMs, limits })
  const reaches = search.reaches()
  const renamers = search.renamersOf(reaches)
  const holders = holdersOf(startState(actual))
  const known = new Map<string, { readonly paths: readonly IndirectPath[]; readonly summary: string }>()
  const pathsOf = (world: AddressedWorld) => {
    const questions = search.questionsOf(world, renamers)
    const { asked, renamed, evading } = questions
    const key = JSON.stringify([asked, renamed, evading].map((some) => some.map((one) => one.key)))
    let found = known.get(key)
    if (found === undefined) {
      const paths = search.pathsTo(questions, world.row.type, reaches)
      found = { paths, summary: JSON.stringify(paths.map(summaryOf)) }
      known.set(key, found)
    }
    return found
  }
  const rowsOf = (power: PowerName): readonly IndirectRow[] => {
    const worlds = worldsOf(power, holders).map((world) => ({ ...world, ...pathsOf(world) }))
    const byHolder = Map.groupBy(worlds, ({ holder, summary }) => `${holder?.address ?? ''} ${summary}`)
    const alike = Map.groupBy(byHolder.values(), (group) => `${group.map(({ index }) => index)} ${group[0]!.summary}`)
    return [...alike.values()].flatMap((groups): readonly IndirectRow[] => {
      const { paths } = groups[0]![0]!
      const over = groups.flatMap(([world]) => world?.holder?.address ?? []).sort()
      return paths.length === 0 ? [] : [{ power, activities: activitiesOf(groups[0]!), over, paths }]
    })
  }
  const rows = powers.flatMap((power) => computing(`who can ${POWER_WORDS[power]} by moves`, () => rowsOf(power)))
  return { rows, roots: search.roots(reaches), limits: [...limits].sort() }
}

/** Answers who could get one request executed by moves. */
export interface Moves {
  /** A smallest group of people, and whether one of their moves depends on what its request says; undefined if there is no such group. */
  readonly pathTo: (
    policies: readonly CompiledPolicy[],
    context: PolicyContext,
  ) => Pick<IndirectPath, 'people' | 'isConditional'> | undefined
  /** Limits that were hit, in words. */
  readonly limits: () => readonly string[]
}

/** Follows the moves of an organization, for requests whose every value is known. */
export function createMoves(actual: Actual, { nowMs }: { readonly nowMs: number }): Moves {
  const limits = new Set<string>()
  const search = createSearch(actual, { nowMs, limits })
  const reaches = search.reaches()
  return {
    pathTo: (policies, context) => search.pathToOne({ policies, context }, reaches),
    limits: () => [...limits].sort(),
  }
}

function summaryOf({ people, isConditional, steps }: IndirectPath) {
  const own = steps.flatMap(({ activity, gains, unless }) => (gains === GAINS.own ? [activity, unless] : []))
  return [people, isConditional, steps.map(({ gains, people: voters, policies }) => [gains, voters, policies]), own]
}

function createSearch(actual: Actual, { nowMs, limits }: { readonly nowMs: number; readonly limits: Set<string> }) {
  const state = startState(actual)
  const organization = organizationOf(actual.resources)
  const reader = createRuleReader(createPolicyCompiler(), nowMs)
  const rules = thingsOf(state, 'policy').map(reader.ruleOf)
  const askDirect = createQuestions(state, reader)
  const things = state.things.filter((one) => one.kind !== 'policy' || isDenial(reader.ruleOf(one)))
  const askDenials = createQuestions({ ...state, things }, reader)
  const namesById = new Map(actual.resources.map(({ id, address }) => [id!, address]))
  const voters = votersOf(organization, nowMs)
  const voting = new Map(voters.map((one) => [one.approver.id, one]))
  // Users without a credential are included: others can add one to them.
  const everybody = Object.entries(usersByName(organization.users)).map(
    ([name, user]): Voter => voting.get(user.id) ?? { name, approver: approverOf(user), credentials: [] },
  )
  const names = new Map(everybody.map(({ name, approver }) => [approver.id, name]))
  const persons = new Map(everybody.map(({ approver }, at) => [approver.id, personAt(at)]))
  const peopleOf = (ids: readonly string[]): People =>
    ids.reduce((all, id) => unionOf(all, persons.get(id) ?? NOBODY), NOBODY)
  const { userIds, threshold } = organization.rootQuorum
  const members = peopleOf(userIds)
  const features = new Set(thingsOf(state, 'feature').map(({ name }) => name))
  const { chains } = readsOf(...rules.map(({ compiled }) => compiled.condition?.tree))
  // A wallet name that no policy compares with evades each DENY that goes by name, so one such name is tried too.
  const walletNames = chains.get('wallet.label') ?? (chains.has('wallet') ? 'otherwise' : undefined)
  const newNames = walletNames === undefined ? [] : [...(walletNames === 'otherwise' ? [] : walletNames), 'a new name']
  const consensuses = readsOf(...rules.map(({ compiled }) => compiled.consensus?.tree))
  const readsCredentials = consensuses.roots.has('credentials')
  /** Whether a policy tells a credential from each that is added. */
  const isAskedFor = (credential: CredentialFacts) =>
    (['id', 'public_key', 'credential_id'] as const).some((field) => {
      const use = consensuses.chains.get(`credentials.${field}`)
      return use === 'otherwise' || use?.has(credential[field] ?? '') === true
    })
  const moves = movesOf({
    features,
    hasPolicies: rules.length > 0,
    readsCredentials,
    tagsHoldBack: tagsHoldBack(rules),
    threshold,
    readsWalletNames: walletNames !== undefined,
  })
  const views = createViews(rules, new Set(thingsOf(state, 'tag').map(({ id }) => id!)), limits)
  const newcomers = newcomersFor(rules, limits)
  const ownWays = createOwnRight(askDirect, { organization, nowMs })
  const direct = createAnswers(organization, nowMs)
  const known = new Map<string, { readonly answers: Answers; readonly steps: Map<string, readonly NextStep[]> }>()

  /** The key by which reaches with the same electors share their answers. */
  const electorsKey = ({ people, gains, ownBy = '' }: Reach): string => {
    // Acting for another user changes only which credentials vote, so it matters only where policies read credentials.
    const acting = actsForOthers(gains) && readsCredentials ? people.bits : ''
    return `${views.telling(gains)} ${acting} ${ownBy}`
  }
  /** The answers for the people of a reach. A user for whom they act votes only by the credentials that they add. */
  const answersFor = (reach: Reach) => {
    const { gains } = reach
    const telling = views.telling(gains)
    const key = electorsKey(reach)
    let found = known.get(key)
    if (found === undefined) {
      const answers = telling.length === 0 ? direct : createAnswers(organization, nowMs, electorsFor(reach))
      found = { answers, steps: new Map() }
      known.set(key, found)
    }
    return found
  }
  const electorsFor = ({ people, gains, ownBy }: Reach): readonly Voter[] => {
    const acting = actsForOthers(gains)
    const ownFor = (voter: Voter) =>
      ownWays(voter, gains).flatMap(({ activity, made }) => (ownBy === undefined || activity === ownBy ? made : []))
    const present = (acting ? everybody : voters).map((voter): Voter => {
      const { approver, credentials = [] } = voter
      const isTaken = acting && !includes(people, peopleOf([approver.id]))
      const held = isTaken ? madeCredentials(approver.id, gains) : credentials
      const addable = isTaken || gains.has('own') ? ownFor({ ...voter, credentials: held }) : []
      // `addable` counts among the sorts: adding credentials of one's own is another way, which is followed by itself.
      const sorts = new Set([...held, ...addable].map(({ type }) => type))
      if (isTaken && readsCredentials && credentials.some(({ type }) => !sorts.has(type)))
        limits.add('credentials of one sort let somebody act for others; who has another was not asked to join')
      const own = gains.has('own') ? addable : []
      return { ...voter, views: views.of(approver, gains), credentials: [...held, ...own] }
    })
    if (!gains.has('users')) return present
    const made = Array.from({ length: newcomers }, (_, index): Voter => {
      const approver: Approver = { id: `new user ${index + 1}`, alias: `new user ${index + 1}`, tags: [] }
      const all: Gains = new Set(['tags', 'name', 'email'])
      const held = madeCredentials(approver.id)
      const one = { name: approver.id, approver, views: views.of(approver, all), credentials: held }
      return gains.has('own') ? { ...one, credentials: [...held, ...ownFor(one)] } : one
    })
    return [...present, ...made]
  }

  /** The question as it is for people with these gains: without the DENY policies that they can delete, with the ALLOW that they can write. */
  const ask = (question: PowerQuestion, gains: Gains): PowerQuestion => {
    const kept = gains.has('denials') ? question.applying.filter(({ rule }) => !isDenial(rule)) : question.applying
    const applying = gains.has('policies') ? [...kept, { rule: WRITTEN, open: '' }] : kept
    return { ...question, applying, key: `${question.key} ${gains.has('denials')} ${gains.has('policies')}` }
  }

  /** Ways to get a request executed from a reach: who has to join, and the step. */
  const stepsTo = (question: PowerQuestion, activity: string, reach: Reach): readonly NextStep[] => {
    breathe()
    const { answers, steps } = answersFor(reach)
    const asked = ask(question, reach.gains)
    const key = `${activity} ${asked.key}`
    const known = actsForOthers(reach.gains) ? undefined : steps.get(key)
    if (known) return known
    const lines = answers.linesOf(asked).filter(({ people }) => people !== 'unknown' || isTooMany())
    const made = actsForOthers(reach.gains) ? takingOver(lines, activity, reach) : joiningIn(lines, activity)
    if (!actsForOthers(reach.gains)) steps.set(key, made)
    return made
  }
  const isTooMany = () => {
    limits.add('there are too many sets of people to try them all')
    return false
  }
  const joiningIn = (lines: readonly AnswerLine[], activity: string): readonly NextStep[] =>
    lines.flatMap((line) =>
      joiningOf(line.people as Coalitions).map(({ set, joining }) => ({
        joining,
        isConditional: isOpen(line),
        step: () => stepOf(line, activity, set.map((id) => names.get(id) ?? id).sort()),
      })),
    )
  // Remembered, because thousands of lines have the same sets.
  const writtenOut = new WeakMap<Coalitions, readonly { readonly set: readonly string[]; readonly joining: People }[]>()
  const joiningOf = (people: Coalitions) => {
    const known = writtenOut.get(people) ?? setsOf(people, limits).map((set) => ({ set, joining: peopleOf(set) }))
    writtenOut.set(people, known)
    return known
  }
  /** The steps of people who act for everybody: nobody has to join them, so one set of voters is as good as another. */
  const takingOver = (lines: readonly AnswerLine[], activity: string, { people }: Reach): readonly NextStep[] => {
    const line = lines.find((one) => !isOpen(one)) ?? lines[0]
    if (line === undefined) return []
    const { classes, found } = line.people as Coalitions
    const called = classes
      .flatMap((ids, at) => ids.slice(0, found[0]![at]))
      .map((id) => {
        const name = names.get(id)
        return name === undefined || includes(people, peopleOf([id])) ? (name ?? id) : `${name} (taken over)`
      })
    return [{ joining: NOBODY, isConditional: isOpen(line), step: () => stepOf(line, activity, called.sort()) }]
  }
  const isOpen = ({ conditions, unless }: AnswerLine) => conditions.length > 0 || unless.length > 0
  const stepOf = (line: AnswerLine, activity: string, people: readonly string[]): IndirectStep => {
    const condition = conditionText(line.conditions, namesById)
    return {
      activity,
      people,
      policies: line.policies(),
      ...(condition === undefined ? {} : { condition }),
      ...denialOf(line, namesById),
    }
  }

  const gainSets = new Map<number, Gains>()
  const gainsOf = (gained: number): Gains => {
    const gains = gainSets.get(gained) ?? new Set(GAIN_NAMES.filter((gain) => (gained & BITS[gain]) > 0))
    gainSets.set(gained, gains)
    return gains
  }
  const reachOf = (
    { people, isConditional, gained }: Gained,
    { steps, trail, ownBy }: Pick<Reach, 'steps' | 'trail' | 'ownBy'>,
  ): Reach => ({
    people,
    isConditional,
    gained,
    gains: gainsOf(gained),
    steps,
    trail,
    ...(ownBy === undefined ? {} : { ownBy }),
  })
  const reaches = (): readonly Reach[] => {
    const all: Reach[] = []
    return computing(
      () => `what people could gain by moves, ${all.length} ways so far`,
      () => {
        follow(all)
        if (walletNames === 'otherwise' && all.some(({ gains }) => gains.has('walletNames')))
          limits.add('policies read `wallet.label` in a way of which not every name was tried')
        if (all.some(lacksOwnKeys)) limits.add(OWN_KEYS)
        for (const move of UNFOLLOWED) if (isOpenTo(move, all)) limits.add(move.says)
        return all
      },
    )
  }
  /** Whether they act for somebody of whom a policy asks a key of their own, and may need it. */
  const lacksOwnKeys = (reach: Reach): boolean =>
    actsForOthers(reach.gains) &&
    !isRoot(reach) &&
    !writesAll(reach) &&
    everybody.some(
      ({ approver, credentials = [] }) =>
        !includes(reach.people, peopleOf([approver.id])) && credentials.some(isAskedFor),
    )
  /** Whether people who are not the root quorum and cannot write policies may make a move of a kind that is not followed. */
  const isOpenTo = ({ requests, matters }: (typeof UNFOLLOWED)[number], all: readonly Reach[]): boolean => {
    if (!matters({ features, readsCredentials })) return false
    // A request that no policy applies to is for the root quorum alone.
    const allowed = requests.filter((world) => askDirect(world).applying.length > 0)
    return allowed.some((world) =>
      all.some(
        (reach) =>
          !reach.gains.has('policies') &&
          !actsForOthers(reach.gains) &&
          stepsTo(askDirect(world), world.row.type, reach).some(
            ({ joining }) => !isRoot({ people: unionOf(reach.people, joining) }),
          ),
      ),
    )
  }
  /** The same steps, begun by a member of the root quorum, which makes them conditional: whether the others may vote then is not tried. */
  const begunByMember = (steps: readonly NextStep[]): readonly NextStep[] =>
    steps.flatMap((next): readonly NextStep[] => {
      const { joining, step } = next
      if (sizeOf(joining, members) > 0)
        return [{ ...next, isConditional: next.isConditional || step().people.length > 1 }]
      return userIds.map((id) => ({
        joining: unionOf(joining, peopleOf([id])),
        isConditional: true,
        step: () => ({ ...step(), people: [names.get(id) ?? id, ...step().people] }),
      }))
    })
  const stepsOf = ({ question, activity, isMembers }: Move, reach: Reach): readonly NextStep[] => {
    const steps = stepsTo(question, activity, reach)
    return isMembers ? begunByMember(steps) : steps
  }
  /** Some who have added credentials of their own; one with a DENY that may hold is a way that is perhaps possible. */
  const startWith = (gained: number, ownBy?: string): Reach =>
    reachOf(
      { ...START, isConditional: gained === OWN_UNLESS, gained },
      { steps: [OWN_STEP], trail: [], ...(ownBy === undefined ? {} : { ownBy }) },
    )
  /** Adds every reach to `all`. */
  const follow = (all: Reach[]): void => {
    const starts = [reachOf(START, NO_STEPS)]
    const canAdd = (gained: number) => everybody.reduce((sum, one) => sum + ownWays(one, gainsOf(gained)).length, 0)
    if (readsCredentials && canAdd(BITS.own) > 0) starts.push(startWith(BITS.own))
    if (readsCredentials && canAdd(OWN_UNLESS) > canAdd(BITS.own)) starts.push(startWith(OWN_UNLESS))
    let last: readonly Reach[] = starts
    all.push(...last)
    while (last.length > 0) {
      const next = new Map<string, Onward>()
      for (const reach of last) for (const move of moves.asked(askDirect)) goOn(reach, move, next, all)
      // Without a condition and with fewer people first: a reach that is kept makes most of those after it superfluous.
      const sorted = [...next.values()].sort(
        (a, b) =>
          Number(a.isConditional) - Number(b.isConditional) ||
          a.size - b.size ||
          Number(writesAll(b)) - Number(writesAll(a)),
      )
      const from = all.length
      for (const onward of sorted) {
        breathe()
        if (all.some((one) => isBetter(one, onward))) continue
        if (all.length >= MOST_REACHES) {
          limits.add('there are too many ways to go on to try them all')
          return
        }
        const { steps, trail } = onward.from
        const step = { ...onward.step(), gains: onward.more }
        all.push(reachOf(onward, { steps: [...steps, step], trail: [...trail, onward.move] }))
      }
      last = all.slice(from)
    }
  }
  /** Adds the reaches that a move leads to to `next`; of those with the same people and gains the first is kept. */
  const goOn = (reach: Reach, move: Move, next: Map<string, Onward>, all: readonly Reach[]) => {
    const { gains, isConditional: isPerhaps } = move
    const has = effectiveOf(reach)
    // `tags` includes `untags`: people who may give and take any tag need no other way to take one.
    const more = gains.filter((gain) => (has & BITS[gain]) === 0 && !(gain === 'untags' && reach.gains.has('tags')))
    // People who act for others already act for the members of the root quorum.
    if (more.length === 0 || (move.isMembers && actsForOthers(reach.gains))) return
    const gained = more.reduce((bits, gain) => bits | BITS[gain], reach.gained)
    // People who act for everybody need nobody to join, so `best` is the most that this move can lead to. Asking for its steps is costly.
    const best = { ...reach, gained }
    if (actsForOthers(reach.gains) && all.some((one) => isBetter(one, best))) return
    const told = more.map((gain) => GAINS[gain]).join(', ')
    for (const { joining, step, isConditional: isOpen } of stepsOf(move, reach)) {
      const people = unionOf(reach.people, joining)
      if (gains.includes('walletNames') && isRoot({ people })) continue
      const isConditional = reach.isConditional || isOpen || isPerhaps
      const key = `${isConditional} ${gained} ${people.bits}`
      if (next.has(key)) continue
      next.set(key, { people, size: sizeOf(people), isConditional, gained, from: reach, move, step, more: told })
    }
  }

  /** Whether renaming a wallet helps this reach. It never helps the root quorum, which gets everything executed by any name. */
  const canRename = (reach: Reach) => reach.gains.has('walletNames') && !isRoot(reach)
  /** Whether any reach that can rename wallets can also write policies, and whether any cannot. */
  const renamersOf = (all: readonly Reach[]): Renamers => {
    const found = all.filter(canRename)
    const isWriter = ({ gains }: Reach) => gains.has('policies')
    return { writers: found.some(isWriter), others: found.some((reach) => !isWriter(reach)) }
  }
  const questionsOf = (world: AddressedWorld, { writers, others }: Renamers): Questions => {
    const { holder } = world
    if (holder?.root !== 'wallet') return { asked: [askDirect(world)], renamed: [], evading: [] }
    const anew = (own: PowerQuestion, ask: typeof askDirect): readonly PowerQuestion[] => {
      const named = newNames.map((label) => ask({ ...world, holder: { ...holder, label } }))
      return [...new Map(named.filter((one) => one.key !== own.key).map((one) => [one.key, one])).values()]
    }
    const [own, denials] = [askDirect(world), askDenials(world)]
    const isDenied = ({ applying }: PowerQuestion) => {
      const all = new Set(applying.map(({ rule, open }) => `${rule.serial} ${open}`))
      return denials.applying.every(({ rule, open }) => all.has(`${rule.serial} ${open}`))
    }
    return {
      asked: [own],
      renamed: others ? anew(own, askDirect) : [],
      // A name by which the same policies deny evades none of them.
      evading: writers && denials.applying.length > 0 ? anew(denials, askDenials).filter((one) => !isDenied(one)) : [],
    }
  }
  /** The minimal sets of people who get to a power by moves and not directly, each by a shortest way. */
  const pathsTo = (
    { asked, renamed, evading }: Questions,
    activity: string,
    all: readonly Reach[],
  ): readonly IndirectPath[] => {
    const found: Way[] = []
    const isNeedless = (way: Pick<Way, 'people' | 'isConditional'>, length: number) =>
      found.some(
        (one) =>
          includes(way.people, one.people) &&
          (!one.isConditional || way.isConditional) &&
          // Fewer people are better than fewer steps.
          (one.people.bits !== way.people.bits || one.steps.length <= length),
      )
    for (const reach of all) {
      breathe()
      // Every path from this reach has at least its people, and more steps.
      if (isNeedless(reach, reach.steps.length)) continue
      if (found.length >= MOST_PATHS) {
        limits.add(`more than ${MOST_PATHS} sets of people get to one power; those by the shortest ways are told`)
        break
      }
      const others = !canRename(reach) ? [] : reach.gains.has('policies') ? evading : renamed
      const stepsFrom = (one: Reach) => [...asked, ...others].flatMap((question) => stepsTo(question, activity, one))
      const steps = stepsFrom(reach)
      for (const { joining, step, isConditional: isOpen } of steps) {
        const people = unionOf(reach.people, joining)
        const isConditional = reach.isConditional || isOpen
        if (isNeedless({ people, isConditional }, reach.steps.length + 1)) continue
        const way = { people, isConditional, steps: [...reach.steps, step()] }
        found.push({ ...way, toldBy: () => withOwn(way, reach, stepsFrom) })
      }
    }
    return leastOf(found)
      .filter(({ steps }) => steps.length > 1)
      .map(toPath)
  }
  const toPath = ({ people, isConditional, steps, toldBy = () => steps }: Way): IndirectPath => ({
    people: within(people)
      .map(({ name }) => name)
      .sort(),
    isConditional,
    steps: toldBy(),
  })
  const within = (people: People) => everybody.filter(({ approver }) => includes(people, peopleOf([approver.id])))
  /**
   * The steps of a way that begins with credentials of one's own, by the one activity that suffices for it, or else by each that is
   * possible. `last` are the steps that end the way.
   */
  const withOwn = (
    { people, isConditional, steps }: Way,
    { gained, trail }: Pick<Reach, 'gained' | 'trail'>,
    last?: (reach: Reach) => readonly NextStep[],
  ): readonly IndirectStep[] => {
    if (steps[0] !== OWN_STEP) return steps
    const start = gained & OWN_UNLESS
    const ways = within(people).flatMap((one) => ownWays(one, gainsOf(start)))
    const possible = [...Map.groupBy(ways, ({ activity }) => activity).values()].map((some) => some[0]!)
    const toldOf = ({ activity, denial }: OwnWay) => ({ ...OWN_STEP, activity, ...denialOf(denial, namesById) })
    const isOf = (reach: Reach, next: NextStep) =>
      includes(people, unionOf(reach.people, next.joining)) && (isConditional || !next.isConditional)
    /** Where the same moves lead from one activity alone; undefined where it does not suffice for them. */
    const replayed = (ownBy: string): Reach | undefined => {
      let reach = startWith(start, ownBy)
      for (const [at, move] of trail.entries()) {
        const next = stepsOf(move, reach).find((one) => isOf(reach, one))
        if (next === undefined) return undefined
        const step = { ...next.step(), gains: steps[at + 1]!.gains! }
        const more = move.gains.reduce((bits, gain) => bits | BITS[gain], reach.gained)
        const onward = { people: unionOf(reach.people, next.joining), isConditional, gained: more }
        reach = reachOf(onward, { steps: [...reach.steps, step], trail, ownBy })
      }
      return reach
    }
    for (const way of possible) {
      const reach = replayed(way.activity)
      if (reach === undefined) continue
      const [, ...moved] = reach.steps
      if (last === undefined) return [toldOf(way), ...moved]
      const end = last(reach).find((one) => isOf(reach, one))
      if (end) return [toldOf(way), ...moved, end.step()]
    }
    return [...possible.map(toldOf), ...steps.slice(1)]
  }
  const isRoot = ({ people }: Pick<Way, 'people'>) => threshold > 0 && sizeOf(people, members) >= threshold
  const roots = (all: readonly Reach[]): readonly IndirectPath[] => {
    const rooted = all.filter((one) => one.gains.has('quorum') || writesAll(one))
    const ways = rooted.filter((one) => !isRoot(one)).map((one): Way => ({ ...one, toldBy: () => withOwn(one, one) }))
    return leastOf(ways).map(toPath)
  }
  /** A smallest group of people who get the request executed from some reach. */
  const pathToOne = (
    { policies, context }: { readonly policies: readonly CompiledPolicy[]; readonly context: PolicyContext },
    all: readonly Reach[],
  ) => {
    const tried = new Map<string, readonly (readonly string[])[]>()
    const setsFor = (reach: Reach) => {
      const { gains } = reach
      const kept = gains.has('denials') ? policies.filter(({ policy }) => policy.effect !== 'EFFECT_DENY') : policies
      const electors = electorsFor(reach).map((one) => ({ ...one, name: one.approver.id }))
      const found = whoCan(gains.has('policies') ? [...kept, WRITTEN.compiled] : kept, context, electors)
      if (found !== 'gave-up') return setsOf(found, limits)
      isTooMany()
      return []
    }
    const ways = all.flatMap((reach): readonly Way[] => {
      breathe()
      const { people, gains, isConditional, steps } = reach
      const key = `${gains.has('denials')} ${gains.has('policies')} ${electorsKey(reach)}`
      const sets = tried.get(key) ?? setsFor(reach)
      tried.set(key, sets)
      const joining = (set: readonly string[]) => (actsForOthers(gains) ? NOBODY : peopleOf(set))
      return sets.map((set) => ({ people: unionOf(people, joining(set)), isConditional, steps }))
    })
    const [best] = leastOf(ways)
    return best && toPath(best)
  }
  return { questionsOf, renamersOf, reaches, pathsTo, pathToOne, roots }
}

/** Whether they can write every policy and delete every DENY: then whatever policies may allow is executed for them. */
function writesAll({ gained }: Pick<Gained, 'gained'>): boolean {
  return (gained & WRITES_ALL) === WRITES_ALL
}

/** The gains, with those that would add nothing: people who write all policies gain something only by acting for the root quorum's members. */
function effectiveOf(one: Pick<Gained, 'gained'>): number {
  return writesAll(one) ? one.gained | NOT_ACTING : one.gained
}

/** Whether the first has no more people, as many gains and no more conditions. */
function isBetter(one: Reach, other: Gained): boolean {
  return (
    (!one.isConditional || other.isConditional) &&
    (effectiveOf(one) & other.gained) === other.gained &&
    includes(other.people, one.people)
  )
}

/** Leaves out each way whose people include all of another's. Of ways with the same people it keeps one without a condition, then the shortest. */
function leastOf(ways: readonly Way[]): readonly Way[] {
  const sorted = ways.toSorted(
    (a, b) =>
      sizeOf(a.people) - sizeOf(b.people) ||
      Number(a.isConditional) - Number(b.isConditional) ||
      a.steps.length - b.steps.length,
  )
  const kept: Way[] = []
  for (const way of sorted) {
    const isNeedless = kept.some((one) => includes(way.people, one.people) && (!one.isConditional || way.isConditional))
    if (!isNeedless) kept.push(way)
  }
  return kept
}

/** Writes the sets of people out as ids, up to `MOST_SETS` for each combination. */
function setsOf({ classes, found }: Coalitions, limits: Set<string>): readonly (readonly string[])[] {
  const sets: (readonly string[])[] = []
  for (const counts of found) {
    let some: readonly (readonly string[])[] = [[]]
    for (const [index, count] of counts.entries()) {
      some = some.flatMap((set) => choose(classes[index]!, count).map((more) => [...set, ...more]))
      if (some.length > MOST_SETS) {
        limits.add(`more than ${MOST_SETS} sets of people can make one move; of these so many were followed`)
        some = some.slice(0, MOST_SETS)
      }
    }
    sets.push(...some)
  }
  return sets
}

/** The combinations of so many names; stops at one more than `MOST_SETS`, which tells the caller that there are too many. */
function choose(names: readonly string[], count: number): readonly (readonly string[])[] {
  if (count === 0) return [[]]
  const sets: (readonly string[])[] = []
  for (const [index, name] of names.entries()) {
    for (const rest of choose(names.slice(index + 1), count - 1)) {
      sets.push([name, ...rest])
      if (sets.length > MOST_SETS) return sets
    }
  }
  return sets
}

const WRITTEN: PolicyRule = (() => {
  const compiled = compilePolicy({ id: 'new policy', name: 'a new policy', effect: 'EFFECT_ALLOW' })
  return {
    name: 'a new policy',
    serial: -1,
    consensusSerial: -1,
    compiled,
    consensus: compiled,
    condition: undefined,
    isReadable: true,
    pins: {},
  }
})()
