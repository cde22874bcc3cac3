/**
 * Who could get a power that they have not: by *moves*, activities that change who may decide. A move *gains* something: to write any
 * policy, to take policies away, to wear any tag or name, to have users made, to act for others by credentials added to them. With what
 * was gained the next move or the power itself is asked of the same exact core as direct powers, until nothing more is gained.
 *
 * Premise: what is gained never takes anything from whoever gained it, so a *reach* (some people, and what they gained) that has fewer
 * people and more gains than another makes the other needless. Moves that depend on the request are taken to be possible, and their
 * paths are told as such. Limits that were met are named: then more may be possible.
 */
import { apiKeyFacts, approverOf, passkeyFacts, usersByName, votersOf } from '../authority/index.ts'
import {
  type Approver,
  authorize,
  type Coalitions,
  type CredentialFacts,
  compilePolicy,
  readsOf,
  type Voter,
} from '../policy/index.ts'
import { type Actual, loginFeaturesOf, organizationOf } from '../resources/index.ts'
import { createPolicyCompiler } from './policies.ts'
import { type Answers, conditionText, contextFor, createAnswers, namedTexts } from './power-lines.ts'
import {
  type AddressedWorld,
  activitiesOf,
  EVERY_REQUEST,
  holdersOf,
  POWER_NAMES,
  type PowerName,
  worldsOf,
} from './power-table.ts'
import { createQuestions, createRuleReader, type PolicyRule, type PowerQuestion } from './questions.ts'
import { startState, thingsOf } from './state.ts'

/** What people can gain, in words. */
const GAINS = {
  policies: 'writes any policy that allows',
  denials: 'takes policies away, those that deny among them',
  tags: 'gives itself any tag, or takes one off',
  profile: 'takes any name or e-mail address',
  users: 'has users made, with any tags',
  own: 'adds credentials of its own',
  others: 'acts for any user, by a credential or login added to them',
  quorum: 'changes the root quorum',
} as const
type Gain = keyof typeof GAINS
type Gains = ReadonlySet<Gain>

/** One activity of a path. */
export interface IndirectStep {
  /** The type of activity. */
  readonly activity: string
  /** Who votes for it, by name; those who were made or taken over on the way are said to be. */
  readonly people: readonly string[]
  /** Names of the policies that allow it; none where the root quorum, or the right to one's own, does. */
  readonly policies: readonly string[]
  /** What the request must say; the path is then one that may be possible. */
  readonly condition?: string
  readonly unless?: readonly string[]
  /** What comes of it; of the last step nothing but its power. */
  readonly gains?: string
}

/** People who get there together, and a shortest way. */
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
  /** Who is as good as the root quorum without being it: can change it, or write and delete every policy. */
  readonly roots: readonly IndirectPath[]
  /** Limits that were met, in words; then more may be possible than is told. */
  readonly limits: readonly string[]
}

/** Some people and what they have gained, with the way there. */
interface Reach {
  readonly people: ReadonlySet<string>
  readonly gains: Gains
  readonly steps: readonly IndirectStep[]
  readonly isConditional: boolean
}

const OWN = 'ACTIVITY_TYPE_CREATE_API_KEYS_V2'
const MOST_REACHES = 1500
const MOST_SETS = 200
const MOST_VIEWS = 64
const MOST_NEW_USERS = 6

/** Answers for an organization as it was read, at a moment in milliseconds since the epoch. */
export function indirectPowersOf(
  actual: Actual,
  { nowMs, powers = POWER_NAMES }: { readonly nowMs: number; readonly powers?: readonly PowerName[] },
): IndirectPowers {
  const limits = new Set<string>()
  const search = createSearch(actual, { nowMs, limits })
  const reaches = search.reaches()
  const holders = holdersOf(startState(actual))
  const known = new Map<string, readonly IndirectPath[]>()
  const pathsOf = (world: AddressedWorld) => {
    const question = search.ask(world)
    const found = known.get(question.key) ?? search.pathsTo(question, world.row.type, reaches)
    known.set(question.key, found)
    return { paths: found, key: question.key }
  }
  const rows = powers.flatMap((power): readonly IndirectRow[] => {
    const worlds = worldsOf(power, holders).map((world) => ({ ...world, ...pathsOf(world) }))
    const byHolder = Map.groupBy(
      worlds,
      ({ holder, paths }) => `${holder?.address ?? ''} ${JSON.stringify(paths.map(summary))}`,
    )
    const alike = Map.groupBy(byHolder.values(), (group) =>
      JSON.stringify([group.map(({ index }) => index), group[0]!.paths.map(summary)]),
    )
    return [...alike.values()].flatMap((groups): readonly IndirectRow[] => {
      const { paths } = groups[0]![0]!
      const over = groups.flatMap(([world]) => world?.holder?.address ?? []).sort()
      return paths.length === 0 ? [] : [{ power, activities: activitiesOf(groups[0]!), over, paths }]
    })
  })
  return { rows, roots: search.roots(reaches), limits: [...limits].sort() }
}

function summary({ people, isConditional, steps }: IndirectPath) {
  return [people, isConditional, steps.map(({ gains, people: voters, policies }) => [gains, voters, policies])]
}

function createSearch(actual: Actual, { nowMs, limits }: { readonly nowMs: number; readonly limits: Set<string> }) {
  const state = startState(actual)
  const organization = organizationOf(actual.resources)
  const reader = createRuleReader(createPolicyCompiler())
  const rules = thingsOf(state, 'policy').map(reader.ruleOf)
  const askDirect = createQuestions(state, reader)
  const namesById = new Map(actual.resources.map(({ id, address }) => [id!, address]))
  const voters = votersOf(organization, nowMs)
  const voting = new Map(voters.map((one) => [one.approver.id, one]))
  // Who has no credential can be given one by others.
  const everybody = Object.entries(usersByName(organization.users)).map(
    ([name, user]): Voter => voting.get(user.id) ?? { name, approver: approverOf(user), credentials: [] },
  )
  const names = new Map(everybody.map(({ name, approver }) => [approver.id, name]))
  const features = new Set(thingsOf(state, 'feature').map(({ name }) => name))
  const moves = movesOf(features, rules.length > 0)
  const views = createViews(rules, new Set(thingsOf(state, 'tag').map(({ id }) => id!)), limits)
  const newcomers = newcomersFor(rules, limits)
  const mayAddOwn = createOwnRight(askDirect, { organization, nowMs })
  const direct = createAnswers(organization, nowMs)
  const readsCredentials = readsOf(...rules.map(({ compiled }) => compiled.consensus?.tree)).roots.has('credentials')
  const known = new Map<string, Answers>()

  /** The answers for those who have gained this; whom they act for has no credential but what they add. */
  const answersFor = ({ people, gains }: Reach): Answers => {
    if (gains.size === 0 && people.size === 0) return direct
    const acting = gains.has('others') ? [...people].sort().join() : ''
    const key = `${[...gains].sort()} ${acting}`
    const found = known.get(key) ?? createAnswers(organization, nowMs, electorsFor(people, gains))
    known.set(key, found)
    return found
  }
  const electorsFor = (people: ReadonlySet<string>, gains: Gains): readonly Voter[] => {
    const present = (gains.has('others') ? everybody : voters).map((voter): Voter => {
      const { approver, credentials = [] } = voter
      const isTaken = gains.has('others') && !people.has(approver.id)
      const own = isTaken || (gains.has('own') && mayAddOwn(voter)) ? madeCredentials(approver.id) : []
      return { ...voter, views: views(approver, gains), credentials: [...(isTaken ? [] : credentials), ...own] }
    })
    if (!gains.has('users')) return present
    const made = Array.from({ length: newcomers }, (_, index): Voter => {
      const approver: Approver = { id: `new user ${index + 1}`, alias: `new user ${index + 1}`, tags: [] }
      const all: Gains = new Set(['tags', 'profile'])
      return { name: approver.id, approver, views: views(approver, all), credentials: madeCredentials(approver.id) }
    })
    return [...present, ...made]
  }

  /** The question as those see it who have gained this. */
  const ask = (question: PowerQuestion, gains: Gains): PowerQuestion => {
    const kept = gains.has('denials')
      ? question.applying.filter(({ rule }) => rule.compiled.policy.effect !== 'EFFECT_DENY')
      : question.applying
    const applying = gains.has('policies') ? [...kept, { rule: WRITTEN, open: '' }] : kept
    return { ...question, applying, key: `${question.key} ${gains.has('denials')} ${gains.has('policies')}` }
  }

  /** Ways to get a request executed from a reach: who has to join, and the step. */
  const stepsTo = (question: PowerQuestion, activity: string, reach: Reach) => {
    const answers = answersFor(reach)
    const isFree = (id: string) => !names.has(id) || (reach.gains.has('others') && !reach.people.has(id))
    return answers.linesOf(ask(question, reach.gains)).flatMap(({ conditions, unless, policies, people }) => {
      if (people === 'unknown') {
        limits.add('there are too many sets of people to try them all')
        return []
      }
      const condition = conditionText(conditions, namesById)
      return setsOf(people, limits).map((set) => ({
        joining: set.filter((id) => !isFree(id)),
        isConditional: conditions.length > 0 || unless.length > 0,
        step: {
          activity,
          people: set.map((id) => (names.has(id) ? `${names.get(id)}${isFree(id) ? ' (taken over)' : ''}` : id)).sort(),
          policies,
          ...(condition === undefined ? {} : { condition }),
          ...(unless.length === 0 ? {} : { unless: namedTexts(unless, namesById) }),
        } satisfies IndirectStep,
      }))
    })
  }

  const reaches = (): readonly Reach[] => {
    const all: Reach[] = []
    const start: Reach = { people: new Set(), gains: new Set(), steps: [], isConditional: false }
    const own: IndirectStep = { activity: OWN, people: ['each of them'], policies: [], gains: GAINS.own }
    let open: readonly Reach[] = readsCredentials
      ? [start, { ...start, gains: new Set(['own']), steps: [own] }]
      : [start]
    while (open.length > 0) {
      const next: Reach[] = []
      for (const reach of open) {
        if (all.some((one) => isBetter(one, reach))) continue
        if (all.length >= MOST_REACHES) {
          limits.add('there are too many ways to go on to try them all')
          return all
        }
        all.push(reach)
        for (const { question, activity, gains } of moves.asked(askDirect)) {
          const more = gains.filter((gain) => !reach.gains.has(gain))
          if (more.length === 0) continue
          for (const { joining, step, isConditional } of stepsTo(question, activity, reach))
            next.push({
              people: new Set([...reach.people, ...joining]),
              gains: new Set([...reach.gains, ...more]),
              steps: [...reach.steps, { ...step, gains: more.map((gain) => GAINS[gain]).join(', ') }],
              isConditional: reach.isConditional || isConditional,
            })
        }
      }
      // Fewer people and no condition first, so that what is kept makes the most of the others needless.
      open = next.sort((a, b) => Number(a.isConditional) - Number(b.isConditional) || a.people.size - b.people.size)
    }
    return all
  }

  /** Minimal sets, by the shortest way, of those who do not get there directly. */
  const pathsTo = (question: PowerQuestion, activity: string, all: readonly Reach[]): readonly IndirectPath[] => {
    const found: Pick<Reach, 'people' | 'isConditional' | 'steps'>[] = []
    for (const reach of all)
      for (const { joining, step, isConditional } of stepsTo(question, activity, reach))
        found.push({
          people: new Set([...reach.people, ...joining]),
          isConditional: reach.isConditional || isConditional,
          steps: [...reach.steps, step],
        })
    return leastOf(found)
      .filter(({ steps }) => steps.length > 1)
      .map(toPath)
  }
  const toPath = ({
    people,
    isConditional,
    steps,
  }: Pick<Reach, 'people' | 'isConditional' | 'steps'>): IndirectPath => ({
    people: [...people].map((id) => names.get(id)!).sort(),
    isConditional,
    steps,
  })
  const { userIds, threshold } = organization.rootQuorum
  const roots = (all: readonly Reach[]): readonly IndirectPath[] => {
    const isRoot = ({ people }: { readonly people: ReadonlySet<string> }) =>
      threshold > 0 && userIds.filter((id) => people.has(id)).length >= threshold
    const rooted = all.filter(({ gains }) => gains.has('quorum') || (gains.has('policies') && gains.has('denials')))
    return leastOf(rooted.filter((one) => !isRoot(one))).map(toPath)
  }
  return { ask: askDirect, reaches, pathsTo, roots }
}

/** Whether the first has no more people, as many gains and no more conditions. */
function isBetter(one: Reach, other: Reach): boolean {
  return (
    (!one.isConditional || other.isConditional) &&
    isWithin(one.people, other.people) &&
    isWithin(other.gains, one.gains)
  )
}

function isWithin<T>(small: ReadonlySet<T>, large: ReadonlySet<T>): boolean {
  return [...small].every((one) => large.has(one))
}

type Way = Pick<Reach, 'people' | 'isConditional' | 'steps'>

/** Without those that have all the people of another, or more; of the same people one without a condition, then the shortest. */
function leastOf(ways: readonly Way[]): readonly Way[] {
  const sorted = ways.toSorted(
    (a, b) =>
      a.people.size - b.people.size ||
      Number(a.isConditional) - Number(b.isConditional) ||
      a.steps.length - b.steps.length,
  )
  const kept: Way[] = []
  for (const way of sorted) {
    const isNeedless = kept.some((one) => isWithin(one.people, way.people) && (!one.isConditional || way.isConditional))
    if (!isNeedless) kept.push(way)
  }
  return kept
}

/** The sets written out as ids. */
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

/** At most one more than are followed. */
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
    compiled,
    consensus: compiled,
    condition: undefined,
    isReadable: true,
    pins: {},
  }
})()

/** What each family of activities gains. */
function movesOf(features: ReadonlySet<string>, hasPolicies: boolean) {
  const logsIn = (contact: 'email' | 'phoneNumber') =>
    loginFeaturesOf({ [contact]: 'x' }).some((name) => features.has(name)) ? (['others'] as const) : []
  const gainsOf: Readonly<Record<string, readonly Gain[]>> = {
    CREATE_POLICY: ['policies'],
    CREATE_POLICIES: ['policies'],
    UPDATE_POLICY: hasPolicies ? ['policies', 'denials'] : [],
    DELETE_POLICY: ['denials'],
    DELETE_POLICIES: ['denials'],
    UPDATE_USER_TAG: ['tags'],
    DELETE_USER_TAGS: [],
    UPDATE_USER: ['tags', 'profile', ...logsIn('email'), ...logsIn('phoneNumber')],
    UPDATE_USER_NAME: ['profile'],
    UPDATE_USER_EMAIL: ['profile', ...logsIn('email')],
    UPDATE_USER_PHONE_NUMBER: logsIn('phoneNumber'),
    CREATE_USERS: ['users'],
    CREATE_API_ONLY_USERS: ['users'],
    CREATE_INVITATIONS: ['users'],
    CREATE_API_KEYS: ['others'],
    CREATE_AUTHENTICATORS: ['others'],
    CREATE_OAUTH_PROVIDERS: ['others'],
    UPDATE_ROOT_QUORUM: ['quorum', 'policies', 'denials'],
  }
  const rows = EVERY_REQUEST.flatMap((request) => {
    const gains = gainsOf[request.row.family] ?? []
    return gains.length === 0 ? [] : [{ request, gains }]
  })
  let asked: readonly { readonly question: PowerQuestion; readonly activity: string; readonly gains: readonly Gain[] }[]
  return {
    /** Moves with the same question and gains once. */
    asked: (ask: (world: AddressedWorld) => PowerQuestion) => {
      asked ??= [
        ...new Map(
          rows.map(({ request, gains }) => {
            const question = ask(request)
            return [`${question.key} ${gains}`, { question, activity: request.row.type, gains }] as const
          }),
        ).values(),
      ]
      return asked
    },
  }
}

/** Keys and a passkey that somebody has who may add them. */
function madeCredentials(userId: string): readonly CredentialFacts[] {
  const keys = ['P256', 'SECP256K1', 'ED25519'].map((type) =>
    apiKeyFacts({ id: `${userId} new ${type}`, userId, type, publicKey: `new ${type}` }),
  )
  return [...keys, passkeyFacts({ id: `${userId} new passkey`, userId, credentialId: `${userId} new passkey` })]
}

/** Makes the question of whether a user may add credentials of their own: by default they may, unless a policy says otherwise. */
function createOwnRight(
  ask: (world: AddressedWorld) => PowerQuestion,
  { organization, nowMs }: { readonly organization: ReturnType<typeof organizationOf>; readonly nowMs: number },
): (voter: Voter) => boolean {
  const request = EVERY_REQUEST.find(({ row }) => row.type === OWN)!
  const { applying } = ask(request)
  const { rootQuorum: _, ...base } = contextFor(organization, nowMs, false)
  const policies = applying.map(({ rule }) => rule.consensus)
  return ({ approver, credentials = [] }) =>
    credentials.some((credential) => {
      const activity = { type: request.row.type, params: {} }
      const context = { ...base, activity, approvers: [approver], credentials: [credential], targetUserId: approver.id }
      return authorize(policies, context).outcome === 'OUTCOME_ALLOW'
    })
}

/** How many new users are tried: one more than any policy counts to. */
function newcomersFor(rules: readonly PolicyRule[], limits: Set<string>): number {
  const largest = Math.max(1, ...rules.map(({ compiled }) => largestIn(compiled.consensus?.tree)))
  if (largest < MOST_NEW_USERS) return largest + 1
  limits.add(`policies count to ${largest}; no more than ${MOST_NEW_USERS} new users were tried`)
  return MOST_NEW_USERS
}

/** The largest number in a tree, whatever its nodes. */
function largestIn(tree: unknown): number {
  if (typeof tree === 'bigint') return Number(tree)
  return typeof tree === 'object' && tree !== null ? Math.max(0, ...Object.values(tree).map(largestIn)) : 0
}

/** Makes the ways in which policies may see somebody who can choose: every set of the tags, and every name and address, that they ask for. */
function createViews(rules: readonly PolicyRule[], tags: ReadonlySet<string>, limits: Set<string>) {
  const { chains } = readsOf(...rules.map(({ compiled }) => compiled.consensus?.tree))
  const asked = (chain: string): readonly string[] => {
    const use = chains.get(chain) ?? (chains.has('approvers') ? 'otherwise' : new Set<string>())
    if (use !== 'otherwise') return [...use]
    limits.add(`policies read \`${chain}\` in a way of which not every value was tried`)
    return chain === 'approvers.tags' ? [...tags] : []
  }
  const known = asked('approvers.tags').filter((tag) => tags.has(tag))
  const [aliases, emails] = [asked('approvers.alias'), asked('approvers.email')]
  return (approver: Approver, gains: Gains): readonly Approver[] => {
    const wearing = gains.has('tags')
      ? subsets(known.slice(0, 5)).map((some) => some.toSorted())
      : [approver.tags ?? []]
    const profiles: readonly Partial<Approver>[] = gains.has('profile')
      ? [{}, ...aliases.map((alias) => ({ alias })), ...emails.map((email) => ({ email }))]
      : [{}]
    if (gains.has('tags') && known.length > 5)
      limits.add(`of ${known.length} tags that policies ask for five were combined`)
    const all = wearing.flatMap((some) =>
      profiles.map((profile): Approver => ({ ...approver, ...profile, tags: some })),
    )
    if (all.length > MOST_VIEWS) limits.add(`somebody could look in ${all.length} ways; ${MOST_VIEWS} were tried`)
    return all.slice(0, MOST_VIEWS)
  }
}

function subsets<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items.reduce<readonly (readonly T[])[]>((some, item) => some.concat(some.map((one) => [...one, item])), [[]])
}
