/**
 * Policies that are of no use, told by comparing the policies with and without each. An ALLOW is of use where somebody gets something
 * executed with it and not without it. A DENY is of use where it denies what no other DENY does, whether or not anything allows it
 * today: what it denies is found by letting it allow, beside the other DENY policies.
 *
 * What the root quorum may do without policies makes none of them useless: it is left out. People whom policies name and the definitions do
 * not have are taken to exist (`assumed-people.ts`).
 */
import type { PolicyText } from '../policy/index.ts'
import { assumedPeople, restsOnUnknownPeople } from './assumed-people.ts'
import { createDifferenceFinder, type PolicySet, type Unknown } from './compare.ts'
import type { ChoiceBudget } from './compare-search.ts'
import { computing } from './computing.ts'
import type { Play } from './witness.ts'

export interface UselessPolicy {
  /** By name. */
  readonly policy: string
  /**
   * `condition`: no request meets its condition at any time · `consensus`: no votes meet its consensus · `denied`: DENY policies deny
   * all that it allows · `covered`: other policies decide the same without it · `unknown`: it may be of use.
   */
  readonly why: 'condition' | 'consensus' | 'denied' | 'covered' | 'unknown'
  /** Names of policies that suffice to make it useless, none of which can be left out. */
  readonly because: readonly string[]
  /** Why its use is not known, each a clause; of `unknown` alone. */
  readonly unknown?: Unknown['unknown']
  /** A request that it would allow, or deny, if it were alone, and the votes. */
  readonly example?: Play
}

/** So many choices of values are followed for all policies together, and of that a part for one; beyond it is unknown. */
const MOST_CHOICES = 200_000
const PART_FOR_ONE = 1 / 8

/**
 * Finds policies that can be taken away all together, and those of which that is not known; in their order. Of two that make each other
 * useless the later is found.
 */
export function uselessPolicies(
  set: PolicySet,
  { nowMs, mostChoices = MOST_CHOICES }: { readonly nowMs: number; readonly mostChoices?: number },
): readonly UselessPolicy[] {
  const asked = { ...set, organization: assumedPeople(set) }
  const find = createDifferenceFinder(nowMs)
  const found: UselessPolicy[] = []
  let left = set.policies
  let choices = mostChoices
  for (const policy of set.policies.toReversed()) {
    const others = left.filter((one) => one !== policy)
    const share = Math.min(choices, Math.floor(mostChoices * PART_FOR_ONE))
    const budget: ChoiceBudget = { left: share }
    const use = computing(`of what use policy ${policy.name} is`, () =>
      useOf(policy, others, (one, some) =>
        find({ ...asked, policies: some }, { ...asked, policies: [...some, one] }, budget),
      ),
    )
    choices -= share - budget.left
    if (use === undefined) continue
    found.unshift({ policy: policy.name, because: [], ...use })
    if (use.why !== 'unknown') left = others
  }
  return found
}

type Use = Pick<UselessPolicy, 'why'> & Partial<UselessPolicy>
/** The first request in which a policy makes a difference beside others. */
type Adds = (policy: PolicyText, others: readonly PolicyText[]) => Play | Unknown | undefined

const PEOPLE_UNKNOWN = {
  why: 'unknown',
  unknown: ['policies read more of people who are not defined than whether they are named'],
} as const satisfies Use

function useOf(policy: PolicyText, others: readonly PolicyText[], adds: Adds): Use | undefined {
  const isDeny = policy.effect === 'EFFECT_DENY'
  const allowing: PolicyText = { ...policy, effect: 'EFFECT_ALLOW' }
  const denials = others.filter(({ effect }) => effect === 'EFFECT_DENY')
  const example = adds(allowing, [])
  if (example === undefined) return neverApplying(allowing, adds)
  if ('unknown' in example) return { why: 'unknown', ...example }
  const addsTo = (some: readonly PolicyText[]) => adds(isDeny ? allowing : policy, some)
  const beside = isDeny ? denials : others
  const difference = addsTo(beside) ?? (isDeny ? adds(policy, others) : undefined)
  if (difference) return 'unknown' in difference ? { why: 'unknown', ...difference } : undefined
  // Others may vote than those who are defined, and meet less of what the other policies ask.
  const sure = beside.filter((one) => !restsOnUnknownPeople(one))
  if (sure.length < beside.length && addsTo(sure) !== undefined) return PEOPLE_UNKNOWN
  return { ...causeOf(policy, sure, (some) => addsTo(some) === undefined), example }
}

/** One that would never apply if it were alone: because of its consensus, where it would without. */
function neverApplying({ consensus, ...rest }: PolicyText, adds: Adds): Use {
  if (consensus === undefined || adds(rest, []) === undefined) return { why: 'condition' }
  return restsOnUnknownPeople({ consensus, ...rest }) ? PEOPLE_UNKNOWN : { why: 'consensus' }
}

/** The policies that suffice: one DENY, all of them, one ALLOW, or else of all. */
function causeOf(
  { effect }: PolicyText,
  others: readonly PolicyText[],
  suffice: (some: readonly PolicyText[]) => boolean,
): Use {
  const [denials, allowances] = [
    others.filter((one) => one.effect === 'EFFECT_DENY'),
    others.filter((one) => one.effect === 'EFFECT_ALLOW'),
  ]
  const one = denials.find((each) => suffice([each]))
  const all = one ? [one] : denials.length > 0 && suffice(denials) ? withoutNeedless(denials, suffice) : undefined
  if (all) return { why: effect === 'EFFECT_DENY' ? 'covered' : 'denied', because: namesOf(all) }
  const ally = allowances.find((each) => suffice([each]))
  return { why: 'covered', because: namesOf(ally ? [ally] : withoutNeedless(others, suffice)) }
}

/** Those of which none can be left out. */
function withoutNeedless(
  all: readonly PolicyText[],
  suffice: (some: readonly PolicyText[]) => boolean,
): readonly PolicyText[] {
  return all.reduce((kept, one) => {
    const fewer = kept.filter((other) => other !== one)
    return suffice(fewer) ? fewer : kept
  }, all)
}

function namesOf(policies: readonly PolicyText[]): readonly string[] {
  return policies.map(({ name }) => name)
}
