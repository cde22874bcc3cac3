/** Organizations with the syntax of the policy language, and what is told of them held against the oracle. */
import fc from 'fast-check'
import type { PowerLine, PowerRow } from '../../src/analysis/index.ts'
import { compilePolicy, conditionHolds, type PolicyContext, writeOut } from '../../src/policy/index.ts'
import { activities } from '../../src/protocol/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { bootstrap, idFor, key, live } from '../plan/organization.ts'
import { joined } from '../policy/generate.ts'
import { remembered } from '../remembered.ts'
import { trials as allowedTo, setText } from './oracle.ts'

export const NOW = Date.parse('2026-06-30T12:00:00Z')
export const NAMES = ['alice', 'bob', 'carol', 'dave'] as const
export const COLD = { id: idFor('wallet.cold'), label: 'cold' }
const HOT = { id: idFor('wallet.hot'), label: 'hot' }
export const TO = '0x1111111111111111111111111111111111111111'

export const conditions = [
  'true',
  '1 == 1',
  "activity.kind == 'SIGN_TRANSACTION'",
  "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION'",
  "activity.action == 'SIGN'",
  "activity.action == 'EXPORT'",
  `wallet.id == '${COLD.id}'`,
  "wallet.label in ['hot', 'warm']",
  "wallet.label[0..1] == 'c'",
  // Of a shorter label it is an error.
  "wallet.label[3] == 'd'",
  'eth.tx.value > 5',
  `eth.tx.to == '${TO}'`,
  'wallet.exported',
]
const expression = joined(fc.constantFrom(...conditions))

export const ids = Object.fromEntries(NAMES.map((name) => [name, idFor(`user.${name}`)]))
const tagged = `approvers.filter(u, u.tags.contains('${idFor('tag.ops')}')).count()`
export const consensuses = [
  null,
  'approvers.count() >= 2',
  'approvers.count() == 1',
  `${tagged} >= 2`,
  `${tagged} == 0`,
  `approvers.any(u, u.id == '${ids['bob']}')`,
  `!approvers.any(u, u.id == '${ids['carol']}')`,
  "approvers.any(u, u.alias == 'dave') && approvers.count() >= 2",
  'approvers.count() >= 2 && approvers[0].id != approvers[1].id',
  `approvers[0].id == '${ids['alice']}'`,
  `approvers[1].id == '${ids['bob']}'`,
  "credentials.any(c, c.type == 'CREDENTIAL_TYPE_API_KEY_SECP256K1')",
  "credentials.all(c, c.type != 'CREDENTIAL_TYPE_API_KEY_SECP256K1')",
  "approvers.all(u, u.email[0..2] == 'ca')",
] as const

export const shapes = fc.record({
  people: fc.array(fc.record({ ops: fc.boolean(), second: fc.boolean(), isMember: fc.boolean() }), {
    minLength: 4,
    maxLength: 4,
  }),
  threshold: fc.integer({ min: 1, max: 2 }),
  policies: fc.array(
    fc.record({
      effect: fc.constantFrom('allow', 'allow', 'deny'),
      condition: expression,
      consensus: fc.constantFrom(...consensuses),
    }),
    { maxLength: 5 },
  ),
})
type Untimed = typeof shapes extends fc.Arbitrary<infer One> ? One : never
type PolicyShape = Untimed['policies'][number] & { readonly time?: string }
export type Shape = Omit<Untimed, 'policies'> & { readonly policies: readonly PolicyShape[] }

export function organizationIn({ people, threshold, policies }: Shape): readonly Resource[] {
  const members = NAMES.filter((_, index) => people[index]!.isMember)
  const quorum = members.length === 0 ? ['alice'] : members
  return [
    bootstrap()[0]!,
    live('rootQuorum', {
      threshold: Math.min(threshold, quorum.length),
      users: quorum.map((name) => idFor(`user.${name}`)),
    }),
    live('tag.ops'),
    ...people.flatMap(({ ops, second }, index) => {
      const name = NAMES[index]!
      return [
        live(`user.${name}`, { tags: ops ? [idFor('tag.ops')] : [], email: `${name}@acme.test` }),
        live(`apiKey.${name}.k`, key(name)),
        ...(second ? [live(`apiKey.${name}.w`, { ...key(`${name} w`), curve: 'SECP256K1' })] : []),
      ]
    }),
    live('wallet.cold'),
    live('wallet.hot'),
    ...policies.map((policy, index) => live(`policy.p${index}`, { ...policy })),
  ]
}

/** Concrete requests of one activity type for one wallet. */
export function requestsOf(type: string, wallet: typeof COLD): readonly Partial<PolicyContext>[] {
  const activity = { type, params: {} }
  return [true, false].flatMap((exported) => {
    const common = { activity, wallet: { ...wallet, exported, imported: false } }
    if (activities[type as keyof typeof activities].kind !== 'SIGN_TRANSACTION') return [common]
    return [0n, 10n].flatMap((value) =>
      [TO, `0x${'2'.repeat(40)}`].map((to) => ({ ...common, eth: { tx: { value, to } } })),
    )
  })
}

/** All sets of people who get the request allowed, by every order of every vote. */
export const trials = (resources: readonly Resource[], request: Partial<PolicyContext>) =>
  allowedTo(resources, request, NOW)

const isWithin = (small: string, large: string) => small.split(' ').every((name) => large.split(' ').includes(name))

/** The sets of a line, each written out. */
export function setsOf({ people }: PowerLine): readonly string[] {
  if (people === 'unknown') throw new Error('four people are not too many')
  return writeOut(people).flatMap(({ sets, more }) => {
    if (more !== undefined) throw new Error('four people are too many to write out')
    return sets.map(setText)
  })
}

/** Whether the requests that are tried are among those of a row. */
function isOf(told: string, type: string): boolean {
  const tried = ['', ' (TRANSACTION_TYPE_ETHEREUM)', ' (PAYLOAD_ENCODING_HEXADECIMAL)']
  return tried.some((requests) => told === `${type}${requests}`)
}

export const TYPES = [
  'ACTIVITY_TYPE_SIGN_TRANSACTION',
  'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  'ACTIVITY_TYPE_EXPORT_WALLET',
]

/** Differences between what is told and what the trials say, in words; none where nobody is missed and nobody is named untruly. */
export function faultsOf(
  resources: readonly Resource[],
  request: Partial<PolicyContext>,
  lines: readonly PowerLine[],
): readonly string[] {
  const allowed = trials(resources, request)
  const told = lines.map((line) => ({ line, sets: setsOf(line) }))
  const asked = JSON.stringify(request, (_, one) => (typeof one === 'bigint' ? String(one) : one))
  const missed = [...allowed].filter(
    (set) =>
      !told.some(({ line, sets }) => holds(conditionsOf(line).all, request) && sets.some((one) => isWithin(one, set))),
  )
  const untrue = told.flatMap(({ line, sets }) => {
    const { all, unless } = conditionsOf(line)
    if (!holds(all, request) || unless.some((one) => holds(one, request))) return []
    // Some of them may suffice where more holds than the line asks for.
    const alone = sets.filter((set) => ![...allowed].some((one) => isWithin(one, set)))
    return alone.map((set) => `${set} of ${JSON.stringify(line)} may not ${asked}`)
  })
  return [...missed.map((set) => `${set} may ${asked}`), ...untrue]
}

/** The sets that lines tell of a request: of those whose conditions hold of it. */
export function toldFor(lines: readonly PowerLine[], request: Partial<PolicyContext>): readonly string[] {
  return lines.flatMap((line) => {
    const { all, unless } = conditionsOf(line)
    return holds(all, request) && !unless.some((one) => holds(one, request)) ? setsOf(line) : []
  })
}

/** The lines that are told of one type of activity over one wallet. */
export function linesFor(rows: readonly PowerRow[], type: string, wallet: typeof COLD): readonly PowerLine[] {
  return rows
    .filter(
      ({ activities: types, over }) => types.some((one) => isOf(one, type)) && over.includes(`wallet.${wallet.label}`),
    )
    .flatMap(({ lines }) => lines)
}

/** The faults of all that is told of signing and exporting in an organization, of requests at these moments. */
export function allFaults(
  resources: readonly Resource[],
  rows: readonly PowerRow[],
  moments: readonly number[] = [NOW],
): readonly string[] {
  return TYPES.flatMap((type) =>
    [COLD, HOT].flatMap((wallet) => {
      const lines = linesFor(rows, type, wallet)
      const requests = requestsOf(type, wallet).flatMap((request) =>
        moments.map((at) => ({ ...request, now: BigInt(at) * 1_000_000n })),
      )
      return requests.flatMap((request) => faultsOf(resources, request, lines))
    }),
  )
}

/**
 * Differences between the policies that lines cite and those that decide, in words: without the others the same people get it allowed,
 * and each lets some of them through alone, without a root quorum, or some of them need it; all, where such policies are not enough.
 */
export function faultsOfCited(resources: readonly Resource[], rows: readonly PowerRow[]): readonly string[] {
  const policies = (keeps: (name: string) => boolean) => (one: Resource) =>
    one.kind !== 'policy' || one.fields['effect'] === 'deny' || keeps(one.name)
  const quorumless = resources.map((one) =>
    one.kind === 'rootQuorum' ? live('rootQuorum', { threshold: 0, users: [] }) : one,
  )
  const kept = remembered((line: PowerLine) => {
    const of = (all: readonly Resource[], keeps: (name: string) => boolean) => all.filter(policies(keeps))
    const each = line.policies.map((name) => ({
      name,
      alone: of(quorumless, (one) => one === name),
      others: of(resources, (one) => one !== name),
    }))
    return { by: (names: readonly string[]) => of(resources, (one) => names.includes(one)), each }
  })
  const through = (some: readonly Resource[], request: Partial<PolicyContext>) => {
    const allowed = [...trials(some, request)]
    return (set: string) => allowed.some((one) => isWithin(one, set))
  }
  return TYPES.flatMap((type) =>
    linesFor(rows, type, COLD).flatMap((line) =>
      requestsOf(type, COLD).flatMap((request): readonly string[] => {
        const { all, unless } = conditionsOf(line)
        if (!holds(all, request) || unless.some((one) => holds(one, request))) return []
        const sets = setsOf(line)
        const { by, each } = kept(line)
        const decides = ({ alone, others }: (typeof each)[number]) =>
          sets.some(through(alone, request)) || !sets.every(through(others, request))
        const enough = (names: readonly string[]) => sets.every(through(by(names), request))
        const deciding = each.filter(decides).map(({ name }) => name)
        if (!enough(line.policies)) return [`too few are cited in ${JSON.stringify(line)}`]
        if (deciding.length === each.length || !enough(deciding)) return []
        return [`only ${deciding} decide in ${JSON.stringify(line)}`]
      }),
    ),
  )
}

/** Times of policies, and a moment at which each is the other way than at `NOW`. */
export const TIMES = ["time.now < Timestamp('2026-07-01T00:00:00Z')", "CronSpan('0 8 * * *', '1h', 'Europe/Oslo')"]
export const LATER = Date.parse('2026-07-01T06:30:00Z')
/** As `shapes`, of policies that may have a time, of which two may differ in nothing else. */
export const timedShapes: fc.Arbitrary<Shape> = fc
  .tuple(shapes, fc.array(fc.constantFrom(undefined, ...TIMES), { minLength: 6, maxLength: 6 }), fc.boolean())
  .map(([shape, times, isTwice]) => ({
    ...shape,
    policies: [...shape.policies, ...(isTwice ? shape.policies.slice(0, 1) : [])].map((one, index) => {
      const time = times[index]
      return time === undefined ? one : { ...one, time }
    }),
  }))
const ALL_TIMES: readonly (readonly [time: string, active: readonly number[]])[] = [
  [TIMES[0]!, [NOW]],
  [TIMES[1]!, [LATER]],
]

const conditionsOf = remembered(({ condition = 'true', unless = [] }: PowerLine) => ({
  all: compiledCondition(condition),
  unless: unless.map(compiledCondition),
}))

/** With the ids of the names that conditions are shown with; the times in it are what they are at each moment. */
function compiledCondition(told: string) {
  const named = told.replaceAll('${wallet.cold}', COLD.id).replaceAll('${wallet.hot}', HOT.id)
  const at = (now: number) => {
    const known = (text: string, [time, active]: (typeof ALL_TIMES)[number]) =>
      text.replaceAll(time, active.includes(now) ? '1 == 1' : '1 == 2')
    const condition = ALL_TIMES.reduce(known, named)
    return compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition })
  }
  const both = { now: at(NOW), later: at(LATER) }
  return (now: bigint | undefined) => (now === BigInt(LATER) * 1_000_000n ? both.later : both.now)
}

function holds(condition: ReturnType<typeof compiledCondition>, request: Partial<PolicyContext>): boolean {
  const context = { now: 0n, activity: { type: '' }, approvers: [], ...request }
  return conditionHolds(condition(request.now), context) === true
}
