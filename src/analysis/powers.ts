/**
 * Who can do what, as an organization is: for each power, and each wallet or private key that it is about, the sets of people
 * who get such an activity executed among themselves and from which nobody can be left out. All versions of all activities that
 * lead to funds are asked; those with the same answer are told together. Powers are direct ones: that somebody could first
 * change policies or tags shows as that power.
 */
import { votersOf } from '../authority/index.ts'
import {
  allWorlds,
  type Coalitions,
  type CompiledPolicy,
  type PolicyContext,
  type PossibleRequest,
  readForLint,
  type SetsOfPeople,
  type Voter,
  whoCan,
  writeOut,
} from '../policy/index.ts'
import { type ActivityRow, activities } from '../protocol/index.ts'
import { type Actual, nameValue, organizationOf } from '../resources/index.ts'
import { createPolicyCompiler, policyText } from './policies.ts'
import { type Holder, type PowerWorld, possibleIn } from './possible.ts'
import { remember } from './rules.ts'
import { without } from './same-coalitions.ts'
import { startState, thingsOf } from './state.ts'

/** The powers, in the order in which they are shown, and the activities that use each. */
export const POWERS = {
  sign: ({ action, family }) => action === 'SIGN' && SIGNS.has(family),
  send: ({ action, family }) => action === 'SIGN' && !SIGNS.has(family),
  export: ({ action }) => action === 'EXPORT',
  import: ({ action }) => action === 'IMPORT',
  policies: ({ resource }) => resource === 'POLICY',
  quorum: ({ family }) => family === 'UPDATE_ROOT_QUORUM',
  users: ({ resource, family }) => resource === 'USER' || resource === 'INVITATION' || family === 'ACCEPT_INVITATION',
  credentials: ({ resource }) => CREDENTIALS.has(resource ?? ''),
  features: ({ family, resource }) => family.endsWith('_ORGANIZATION_FEATURE') || resource === 'AUTH_PROXY',
  wallets: ({ resource, action }) => HOLDERS.has(resource ?? '') && CHANGES.has(action ?? ''),
  organizations: ({ resource, family }) => resource === 'ORGANIZATION' || family === 'CREATE_ORGANIZATION',
} as const satisfies Readonly<Record<string, (row: ActivityRow) => boolean>>
export type PowerName = keyof typeof POWERS

const SIGNS = new Set(['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOADS', 'SIGN_TRANSACTION', 'SPARK_SIGN_FROST'])
const CREDENTIALS = new Set(['CREDENTIAL', 'MFA_POLICY', 'AUTH', 'OTP', 'RECOVERY', 'SESSION_PROFILE'])
const HOLDERS = new Set(['WALLET', 'PRIVATE_KEY'])
const CHANGES = new Set(['CREATE', 'UPDATE', 'DELETE'])

/** Who has a power over these wallets and private keys. */
export interface PowerRow {
  readonly power: PowerName
  /** The types of activity, sorted; where not all requests of a type have the same answer, with which: `… (TRANSACTION_TYPE_SOLANA)`. */
  readonly activities: readonly string[]
  /** Addresses such as `wallet.treasury`; none for a power that is about no wallet. */
  readonly over: readonly string[]
  readonly lines: readonly PowerLine[]
}

/** Sets of people, and under which condition. */
export interface PowerLine {
  /** Open parts of ALLOW policies, one of which must hold as the policy was written; absent: whatever is asked. */
  readonly condition?: string
  /** Conditions of DENY policies: the power is there unless one of these policies applies. */
  readonly unless?: readonly string[]
  /** Names of the policies that allow it; none where the root quorum, or the right to one's own, does. */
  readonly policies: readonly string[]
  /** By name; `unknown` where there are too many sets of people to try them all. */
  readonly people: Coalitions | 'unknown'
}

/** The sets of a line as plans write them, an entry for each size. */
export function waysOf({ people }: PowerLine): readonly SetsOfPeople[] | 'unknown' {
  return people === 'unknown' ? people : writeOut(people)
}

/** Answers for an organization as it was read, at a moment in milliseconds since the epoch. */
export function powersOf(
  actual: Actual,
  {
    nowMs,
    powers = Object.keys(POWERS) as PowerName[],
  }: { readonly nowMs: number; readonly powers?: readonly PowerName[] },
): readonly PowerRow[] {
  const ask = createAsk(actual, nowMs)
  return powers.flatMap((power) => {
    const worlds = worldsOf(power, actual)
    // Requests with one answer for each wallet or key, then those that have the same requests and answer.
    const byHolder = Map.groupBy(worlds, (world) => JSON.stringify([world.holder?.address ?? '', ask(world)]))
    const alike = Map.groupBy(byHolder.values(), (group) => JSON.stringify([activitiesOf(group), ask(group[0]!)]))
    const rows = [...alike.values()].map((groups): PowerRow => {
      const group = groups[0]!
      const over = sorted(groups.flatMap(([world]) => world?.holder?.address ?? []))
      return { power, activities: activitiesOf(group), over, lines: ask(group[0]!) }
    })
    return rows.filter(({ lines }) => lines.length > 0)
  })
}

/** The requests of worlds by their types, each type once where all of its requests are among them. */
function activitiesOf(worlds: readonly PowerWorld[]): readonly string[] {
  const names = new Set(worlds.map(requestName))
  return sorted(
    worlds.map((world) => {
      const all = EVERY_WORLD.filter(({ row }) => row === world.row)
      return all.every((one) => names.has(requestName(one))) ? world.row.type : requestName(world)
    }),
  )
}

function requestName({ row, params }: PossibleRequest): string {
  const said = Object.values(params)
  return said.length === 0 ? row.type : `${row.type} (${said.join(', ')})`
}

interface AddressedHolder extends Holder {
  readonly address: string
}

interface AddressedWorld extends PowerWorld {
  readonly holder?: AddressedHolder
}

function worldsOf(power: PowerName, actual: Actual): readonly AddressedWorld[] {
  const state = startState(actual)
  const holdersOf = (kind: 'wallet' | 'privateKey', root: Holder['root']): readonly AddressedHolder[] =>
    thingsOf(state, kind).map(({ id, name, address }) => ({ root, id: id!, label: name, address }))
  const holders = { wallet: holdersOf('wallet', 'wallet'), private_key: holdersOf('privateKey', 'private_key') }
  return EVERY_WORLD.filter(({ row }) => POWERS[power](row)).flatMap((world): readonly AddressedWorld[] => {
    const root = (['wallet', 'private_key'] as const).find((one) => world.defined.has(one))
    return root === undefined ? [world] : holders[root].map((holder) => ({ ...world, holder }))
  })
}

/** Those in which policies are asked, and those of what the root quorum alone may do. */
const EVERY_WORLD: readonly PossibleRequest[] = [
  ...allWorlds(),
  ...Object.values(activities)
    .filter(({ rootOnly }) => rootOnly)
    .map((row): PossibleRequest => ({ row, defined: new Set(), params: {} })),
]

interface Applying {
  readonly policy: CompiledPolicy
  /** What only a request can say; '' where nothing is open. */
  readonly open: string
}

function createAsk(actual: Actual, nowMs: number): (world: PowerWorld) => readonly PowerLine[] {
  const state = startState(actual)
  const organization = organizationOf(state.things)
  const people = votersOf(organization, nowMs)
  const compile = createPolicyCompiler()
  const namesById = new Map(actual.resources.map(({ id, address }) => [id!, address]))
  const policies = thingsOf(state, 'policy').map((resource) => {
    const text = policyText(resource)
    const condition =
      text.condition === undefined || text.condition === null ? undefined : readForLint('condition', text.condition)
    return { compiled: compile(text), isReadable: condition !== undefined || !text.condition, condition }
  })
  const known = new Map<string, readonly PowerLine[]>()
  return remember((world: PowerWorld) => {
    const applying = policies.flatMap(({ compiled, condition, isReadable }): readonly Applying[] => {
      // The service has taken it, so that it is readable; what is not errs and never applies.
      if (!isReadable) return []
      const { canHold, canFail, text } = possibleIn(condition, world)
      const policy = { ...compiled, policy: { ...compiled.policy, condition: undefined }, condition: undefined }
      return canHold ? [{ policy, open: canFail ? text : '' }] : []
    })
    const { type } = world.row
    const base: PolicyContext = {
      now: BigInt(nowMs) * 1_000_000n,
      activity: { type, params: {} },
      approvers: [],
      rootQuorum: organization.rootQuorum,
    }
    const key = JSON.stringify([
      world.row.rootOnly === true,
      applying.map(({ policy, open }) => [policy.policy.id, open]),
    ])
    const lines = known.get(key) ?? linesOf(applying, { base, people, namesById })
    known.set(key, lines)
    return lines
  })
}

interface Asked {
  readonly base: PolicyContext
  readonly people: readonly Voter[]
  readonly namesById: ReadonlyMap<string, string>
}

/**
 * An open DENY may apply: without a condition those have the power whom it would not stop. An open ALLOW may hold, each by itself and
 * all at once, since approvers of one may vote on what another allows.
 */
function linesOf(applying: readonly Applying[], { base, people, namesById }: Asked): readonly PowerLine[] {
  const denials = applying.filter(({ policy, open }) => policy.policy.effect === 'EFFECT_DENY' && open !== '')
  const allowances = applying.filter(({ policy, open }) => policy.policy.effect === 'EFFECT_ALLOW' && open !== '')
  const closed = applying.filter((one) => !denials.includes(one) && !allowances.includes(one))
  const named = (text: string) => String(nameValue(text, namesById))
  const allowed = closed.filter(({ policy }) => policy.policy.effect === 'EFFECT_ALLOW')
  const known = new Map<string, Coalitions | 'gave-up'>()
  const find = (some: readonly Applying[]) => {
    const policies = some.map(({ policy }) => policy)
    const key = JSON.stringify(policies.map(({ policy }) => policy.id))
    const found = known.get(key) ?? whoCan(policies, base, people)
    known.set(key, found)
    return found
  }
  const lines: PowerLine[] = []
  let always: Coalitions | undefined
  const add = (some: readonly Applying[], said: Pick<PowerLine, 'condition' | 'unless'>, by: readonly Applying[]) => {
    const found = find(some)
    const people = found === 'gave-up' ? 'unknown' : always === undefined ? found : without(found, always)
    if (people !== 'unknown' && people.found.length === 0) return
    lines.push({ ...said, policies: sorted([...allowed, ...by].map(({ policy }) => policy.policy.name)), people })
  }
  add([...closed, ...denials], {}, [])
  if (lines[0] && lines[0].people !== 'unknown') always = lines[0].people
  const unless = denials.length === 0 ? {} : { unless: sorted(denials.map(({ open }) => named(open))) }
  if (denials.length > 0) add(closed, unless, [])
  const groups = [...Map.groupBy(allowances, ({ open }) => open).values()]
  const conditionOf = (some: readonly Applying[]) => {
    const conditions = sorted(some.map(({ open }) => named(open)))
    return conditions.length === 1 ? conditions[0]! : conditions.map(bracketed).join(' && ')
  }
  const addUnder = (some: readonly Applying[]) =>
    add([...closed, ...some], { condition: conditionOf(some), ...unless }, some)
  for (const group of groups) addUnder(group)
  // INVARIANT: a further ALLOW takes nobody's power, so where all at once let nobody in whom one does not, no few of them do.
  const all = groups.length < 2 ? undefined : find([...closed, ...allowances])
  const alone = [always, ...groups.map((group) => find([...closed, ...group]))]
  if (all === undefined || (all !== 'gave-up' && all.found.every((set) => alone.some((one) => covers(one, all, set)))))
    return lines
  const sizes = groups.length <= MOST_TOGETHER ? groups.length : 2
  for (const some of subsets(groups)) if (some.length > 1 && some.length <= sizes) addUnder(some.flat())
  if (sizes < groups.length) {
    const policies = sorted([...allowed, ...allowances].map(({ policy }) => policy.policy.name))
    lines.push({ condition: conditionOf(allowances), ...unless, policies, people: 'unknown' })
  }
  return lines
}

/** Of so many open conditions every set is asked: some may exclude each other, so that all at once says too little. Of more, each two. */
const MOST_TOGETHER = 6

/** The sets of at most so many as are asked, the smallest first. */
function subsets<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length > MOST_TOGETHER)
    return items.flatMap((one, index) => items.slice(index + 1).map((other) => [one, other]))
  const made = items.reduce<readonly (readonly T[])[]>(
    (some, item) => some.concat(some.map((one) => [...one, item])),
    [[]],
  )
  return made.toSorted((a, b) => a.length - b.length)
}

/**
 * Whether people of a set of `all`, so many of each of its classes, include a set of `one`. Nobody whom `all` takes for one of a class
 * can be told apart by fewer policies, so whom of a class does not matter.
 */
function covers(one: Coalitions | 'gave-up' | undefined, all: Coalitions, set: readonly number[]): boolean {
  if (one === undefined || one === 'gave-up') return false
  const people = new Set(all.classes.flatMap((names, index) => names.slice(0, set[index])))
  const has = one.classes.map((names) => names.filter((name) => people.has(name)).length)
  return one.found.some((wanted) => wanted.every((count, index) => count <= has[index]!))
}

const bracketed = (text: string) => `(${text})`

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort()
}
