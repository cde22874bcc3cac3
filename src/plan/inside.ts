/**
 * Plans of sub-organizations. Each organization has a plan of its own, with its own actor, guards and live part; the plan of
 * the parent holds those of what is inside, and its digest covers theirs. One that is still to be made is planned as it will
 * be right after its creation, with *stand-ins* for the ids that nobody knows yet. Once it lives, `settle` puts the ids in
 * their place; that decides nothing, and whether it lives as foreseen is checked like any plan's freshness.
 */
import { sha256 } from '../crypto/index.ts'
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { encodeHex } from '../encoding/index.ts'
import {
  type Actual,
  type Address,
  formatAddress,
  foundedBy,
  type SubOrganization,
  type Value,
} from '../resources/index.ts'
import { digestJson, digestLive, sealed } from './digest.ts'
import type { Batch, Plan } from './document.ts'
import { inNormalForm } from './fresh.ts'

/** A plan with the plans of what is inside, which its digest covers, and with what all of it costs in requests. */
export function withInside(
  plan: Plan,
  inside: readonly Plan[],
  requests: { readonly reads: number; readonly perSecond?: number },
): Plan {
  const more = inside.length === 0 ? {} : { subOrganizations: inside, insideDigest: digestInside(inside) }
  const whole: Plan = { ...plan, ...more }
  const submits = appliedPlans(whole).reduce((sum, { batches }) => sum + batches.length, 0)
  const counted: Plan = { ...whole, requests: { ...requests, submits } }
  return sealed(counted)
}

export function digestInside(inside: readonly Pick<Plan, 'digest'>[]): string {
  return digestJson(inside.map(({ digest }) => digest))
}

/** The plan of the parent alone, under the same digest: what is carried out in it, and kept for that. */
export function withoutInside({ subOrganizations: _, ...plan }: Plan): Plan {
  return plan
}

/** A plan and those of what is inside it. */
export function allPlans(plan: Plan): readonly Plan[] {
  return [plan, ...(plan.subOrganizations ?? [])]
}

/** Whether anything differs, inside or out. */
export function hasChanges(plan: Plan): boolean {
  return allPlans(plan).some(({ changes }) => changes.length > 0)
}

/** Plans that are carried out: what was only compared is left alone. */
export function appliedPlans(plan: Plan): readonly Plan[] {
  return allPlans(plan).filter(({ comparedOnly }) => !comparedOnly)
}

/** Plans of sub-organizations in which there is something to do, and somebody to do it as. */
export function plansInside(plan: Plan): readonly Plan[] {
  return appliedPlans(plan).filter((one) => one !== plan && one.batches.length > 0)
}

/** The batch of a plan that makes the organization of a plan inside it; undefined for one that lives, or that no batch makes. */
export function makerOf({ batches }: Pick<Plan, 'batches'>, { organization }: Plan): Batch | undefined {
  if (!isStandIn(organization.id)) return undefined
  const address = formatAddress('subOrganization', organization.name)
  return batches.find(({ produces }) => produces.some((made) => made.address === address))
}

/** The indexes of the batches that make sub-organizations in which there is something to do. */
export function makersOf(plan: Plan): readonly number[] {
  const makers = new Set(plansInside(plan).flatMap((one) => makerOf(plan, one)?.index ?? []))
  return [...makers].sort((a, b) => a - b)
}

/** The guards that stop a plan: those that were not let pass when it was made. */
export function guardsThatStop({ guards }: Pick<Plan, 'guards'>): Plan['guards'] {
  return guards.filter(({ allowed }) => !allowed)
}

const MARK = '00000000-0000-0000-'

/** Whether an id only stands for one that is not known yet. No live id begins so: of all UUIDs, one in 2^64 does. */
export function isStandIn(id: string): boolean {
  return id.startsWith(MARK)
}

/**
 * The placeholder for an id in a sub-organization that is still to be made: it has the form of an id, and is the same
 * each time.
 */
function standIn(organization: string, address: Address): string {
  const hex = encodeHex(sha256(JSON.stringify([organization, address])))
  return `${MARK}${hex.slice(0, 4)}-${hex.slice(4, 16)}`
}

/** The resources of a sub-organization right after its creation, as its parent's user reads them. */
export function foresee(sub: Pick<SubOrganization, 'organization' | 'resources'>, reader: Actual['actor']): Actual {
  const { organization } = sub
  const idOf = (address: Address) => standIn(organization, address)
  return {
    organizationId: idOf('organization'),
    organizationName: organization,
    resources: foundedBy(sub, idOf),
    actor: reader,
  }
}

/**
 * The plan of a sub-organization that has been made meanwhile, with the ids that live. Throws `plan/stale` when something is
 * not there that its creation was to bring.
 */
export function settle(plan: Plan, actual: Actual): Plan {
  const { name } = plan.organization
  const ids = new Map(actual.resources.map(({ address, id }) => [standIn(name, address), id!]))
  const filled = withIds(plan as unknown as Value, ids, () => {
    throw new QuorateError('plan/stale', `sub-organization \`${name}\` was not made as foreseen`, {
      facts: { organizationId: actual.organizationId },
      next: 'make the plan again and look at it',
      exit: EXIT.stale,
    })
  }) as unknown as Plan
  // Ids decide the order of what has none, so that is made again.
  const live = inNormalForm(filled.live)
  const settled: Plan = { ...filled, live, liveDigest: digestLive(live) }
  return sealed(settled)
}

/** The value with ids in place of their placeholders; the placeholder of an unknown id is `missing`. */
function withIds(value: Value, ids: ReadonlyMap<string, string>, missing: () => never): Value {
  if (typeof value === 'string') return isStandIn(value) ? (ids.get(value) ?? missing()) : value
  if (Array.isArray(value)) return (value as readonly Value[]).map((element) => withIds(element, ids, missing))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withIds(member as Value, ids, missing)]),
  )
}
