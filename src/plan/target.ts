/**
 * A plan of a part: the changes that `--target` names, with those that they cannot do without, and word of what is left out.
 * Needed are: what comes before a target by a rule of `order.ts` that needs an earlier activity (what it refers to and what is
 * to be made, who has to let go of what it deletes, who frees its name, the other way in before a credential goes), what its
 * creation brings along, and the adoption of what it refers to. What is left out stays in the lock as it was.
 */
import { QuorateError, suggest } from '../diagnostics/index.ts'
import { type Actual, type Address, type Desired, parentOf, type Resource, referencesOf } from '../resources/index.ts'
import type { Difference, Pairs } from './diff.ts'
import type { PlanTarget } from './document.ts'
import type { Identified } from './identify.ts'
import type { LeftFields } from './left-out.ts'
import { compareText, type Lock, type LockRows, sortMembers } from './lock.ts'
import { order } from './order.ts'

interface Whole {
  readonly identified: Identified
  readonly paired: Pairs
  readonly left: readonly LeftFields[]
  readonly differences: readonly Difference[]
}

/** All that a plan is made of, without what no target needs. */
export interface Part extends Whole {
  readonly target?: PlanTarget
  /** What the lock would say of things that are left out, and must not: somebody has to read it first. */
  readonly unrecorded: readonly Address[]
}

export interface TargetInput {
  /** Addresses, and with each what it holds; undefined for a plan of everything. */
  readonly targets: readonly Address[] | undefined
  readonly desired: Desired
  readonly actual: Actual
  readonly rows: LockRows
}

/**
 * Keeps what the targets name and need. Throws `plan/unknown-target` for an address that is neither defined, live nor in the lock, and
 * for the former one of what has another in the definitions.
 */
export function onlyTargets(whole: Whole, { targets, desired, actual, rows }: TargetInput): Part {
  if (targets === undefined) return { ...whole, unrecorded: [] }
  const declared = new Set(desired.resources.map(({ address }) => address))
  assertNotRenamed(
    targets.filter((target) => !declared.has(target)),
    { matches: whole.identified.matches, rows },
  )
  const { identified, paired, left, differences } = whole
  const known = [
    ...desired.resources.map(({ address }) => address),
    ...actual.resources.map(({ address }) => address),
    ...identified.removed.map(({ address }) => address),
  ]
  const changed = differences.map(({ address }) => address)
  for (const target of targets) assertKnown(target, { known, changed })
  const isNamed = (address: Address) => isUnder(targets, address)
  const needs = neededBy(differences, isNamed, { actual, identified })
  const isKept = (address: Address) => isNamed(address) || needs.has(address)
  const kept: Whole = {
    differences: differences.filter(({ address }) => isKept(address)),
    identified: {
      ...identified,
      adoptions: identified.adoptions.filter(({ resource }) => isKept(resource.address)),
    },
    paired: {
      ...paired,
      undecided: paired.undecided.filter(({ address }) => isKept(address)),
      forgotten: paired.forgotten.filter(({ address }) => isKept(address)),
    },
    left: left.filter(({ address }) => isKept(address)),
  }
  const unrecorded = [
    ...identified.adoptions.map(({ resource }) => resource.address),
    ...paired.forgotten.map(({ address }) => address),
  ].filter((address) => !isKept(address))
  const inside = (desired.subOrganizations ?? []).map(({ organization }) => organization)
  const target = {
    ...targetOf({ whole, targets, needs, isKept }),
    ...(inside.length > 0 ? { notLookedInto: inside } : {}),
  }
  return { ...kept, target, unrecorded }
}

/** Whether a plan of this part has all that there is to do about an address: it is named, held by what is named, or needed. */
export function isInPart({ addresses, needed }: Pick<PlanTarget, 'addresses' | 'needed'>, address: Address): boolean {
  return isUnder(addresses, address) || needed.some((one) => one.address === address)
}

function isUnder(targets: readonly Address[], address: Address): boolean {
  const parent = parentOf(address)
  return targets.includes(address) || (parent !== undefined && isUnder(targets, parent))
}

/** The lock after a plan of a part: rows of what was left out, and would be adopted or handed back, stay as they were. */
export function withoutLeftOut(
  lock: Lock,
  {
    unrecorded,
    before,
    organizationId,
  }: { readonly unrecorded: readonly Address[]; readonly before: Lock; readonly organizationId: string },
): Lock {
  const rows = { ...lock[organizationId] }
  const old = before[organizationId] ?? {}
  for (const address of unrecorded) {
    if (Object.hasOwn(old, address)) rows[address] = old[address]!
    else delete rows[address]
  }
  return { ...lock, [organizationId]: sortMembers(rows) }
}

function assertNotRenamed(
  targets: readonly Address[],
  { matches, rows }: { readonly matches: Identified['matches']; readonly rows: LockRows },
): void {
  for (const target of targets) {
    const id = Object.hasOwn(rows, target) ? rows[target]!.id : undefined
    const isIt = (live: Resource) => live.address === target || (id !== undefined && live.id === id)
    const now = [...matches].find(([, live]) => isIt(live))?.[0]
    if (now === undefined) continue
    throw new QuorateError('plan/unknown-target', `\`${target}\` is renamed: it is \`${now}\` in the definitions`, {
      facts: { submitted: 'nothing' },
      next: `name it as \`--target ${now}\``,
    })
  }
}

/** So many addresses are named to somebody whose own is not near any. */
const MOST_NAMED = 5

function assertKnown(
  target: Address,
  { known, changed }: { readonly known: readonly Address[]; readonly changed: readonly Address[] },
): void {
  if (known.includes(target)) return
  const quote = (some: readonly Address[]) => some.map((one) => `\`${one}\``)
  const near = quote(suggest(target, known))
  const some = quote([...new Set(changed)].sort(compareText).slice(0, MOST_NAMED))
  throw new QuorateError('plan/unknown-target', `\`${target}\` is neither defined, live nor in the lock`, {
    facts: { submitted: 'nothing' },
    next: target.includes('/')
      ? 'name what is in the organization itself; what is inside sub-organizations is planned without --target'
      : near.length > 0
        ? `did you mean ${near.join(' or ')}?`
        : some.length > 0
          ? `name an address as a plan shows it; the plan without --target changes ${some.join(', ')}${changed.length > MOST_NAMED ? ', …' : ''}`
          : 'leave --target out: without it, too, the plan has no changes',
  })
}

/** What is not named and needed all the same, with what needs it. */
function neededBy(
  differences: readonly Difference[],
  isNamed: (address: Address) => boolean,
  { actual, identified }: { readonly actual: Actual; readonly identified: Identified },
): ReadonlyMap<Address, Address> {
  const nodes = order(differences, actual, identified.ids)
  const indexesOf = Map.groupBy(nodes.keys(), (index) => nodes[index]!.difference.address)
  const riders = Map.groupBy(
    differences.filter(({ ridesWith }) => ridesWith !== undefined),
    ({ ridesWith }) => ridesWith!,
  )
  const adopted = new Set(identified.adoptions.map(({ resource }) => resource.address))
  const byAddress = Map.groupBy(differences, ({ address }) => address)
  const needs = new Map<Address, Address>()
  const open = [...new Set(differences.map(({ address }) => address))].filter(isNamed)
  for (let address = open.pop(); address !== undefined; address = open.pop()) {
    const own = byAddress.get(address) ?? []
    const before = (indexesOf.get(address) ?? []).flatMap((index) =>
      [...nodes[index]!.hard].map((earlier) => nodes[earlier]!.difference.address),
    )
    const holders = own.flatMap(({ ridesWith, input }) => [ridesWith, input.desired?.parent, input.actual?.parent])
    const referred = own.flatMap(({ input }) => referencesOf(input.desired?.fields ?? {}))
    const further = [
      ...before,
      ...own.flatMap(({ ridesWith }) => ridesWith ?? []),
      ...(riders.get(address) ?? []).map((rider) => rider.address),
      ...[...holders, ...referred].filter((one) => one !== undefined && adopted.has(one)),
    ]
    for (const one of further) {
      if (one === undefined || isNamed(one) || needs.has(one)) continue
      needs.set(one, address)
      open.push(one)
    }
  }
  return needs
}

function targetOf({
  whole: { identified, paired, left, differences },
  targets,
  needs,
  isKept,
}: {
  readonly whole: Whole
  readonly targets: readonly Address[]
  readonly needs: ReadonlyMap<Address, Address>
  readonly isKept: (address: Address) => boolean
}): PlanTarget {
  const all = new Map<Address, PlanTarget['leftOut'][number]['action']>()
  for (const { address } of left) all.set(address, 'undecided')
  for (const { resource } of identified.adoptions) all.set(resource.address, 'adopt')
  for (const { address } of paired.undecided) all.set(address, 'undecided')
  for (const { address } of paired.forgotten) all.set(address, 'forget')
  for (const { address, action } of differences) all.set(address, action)
  return {
    addresses: [...new Set(targets)].sort(compareText),
    needed: [...needs].map(([address, by]) => ({ address, by })).sort((a, b) => compareText(a.address, b.address)),
    leftOut: [...all]
      .filter(([address]) => !isKept(address))
      .map(([address, action]) => ({ address, action }))
      .sort((a, b) => compareText(a.address, b.address)),
  }
}
