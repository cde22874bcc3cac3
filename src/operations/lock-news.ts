/** What a lock says after it is written that it did not say before: what nothing but the lock is changed for. */
import { appliedPlans, type Plan } from '../plan/index.ts'
import type { Address } from '../resources/index.ts'
import type { Planned } from './plan-folder.ts'

export interface LockNews {
  /** Stay live, and are managed no longer. */
  readonly handedBack: readonly Address[]
  /** Live things that the lock has under their former address. */
  readonly renamed: readonly { readonly from: Address; readonly to: Address }[]
}

/** Of the lock that is right for what was planned; `plan` is the one that was looked at, where it is another. */
export function lockNews({ lock, vouched, plan: now }: Planned, plan: Plan = now): LockNews {
  const handedBack = handedBackBy(plan)
  const next = lock()
  const renamed = appliedPlans(now).flatMap((one) => {
    const { id: organizationId } = one.organization
    // What a change is planned for, or left out of a part, is news once that is carried out.
    const open = new Set([...one.changes, ...(one.target?.leftOut ?? [])].map(({ address }) => address))
    const byId = new Map(Object.entries(next[organizationId] ?? {}).map(([address, { id }]) => [id, address]))
    return Object.entries(vouched[organizationId] ?? {}).flatMap(([from, { id }]) => {
      const to = id === undefined ? undefined : byId.get(id)
      if (to === undefined || to === from || open.has(to)) return []
      return [{ from: placed(now, one, from), to: placed(now, one, to) }]
    })
  })
  return { handedBack, renamed }
}

/** What a plan hands back, inside too. */
export function handedBackBy(plan: Plan): readonly Address[] {
  return appliedPlans(plan).flatMap((one) =>
    one.changes.flatMap(({ action, address }) => (action === 'forget' ? [placed(plan, one, address)] : [])),
  )
}

/** In a sub-organization after its name. */
function placed(plan: Plan, one: Plan, address: Address): Address {
  return one === plan ? address : `${one.organization.name}/${address}`
}
