import { withRejections } from '../../activities/index.ts'
import type { QueryClient } from '../client/index.ts'
import { inside } from '../live/index.ts'
import { digestInside, isStandIn, type Plan, sealed } from '../plan/index.ts'

/** A plan with what was rejected before, as it is known now, in the organization and in those inside that it changes. */
export async function withRejectionsAnywhere(
  client: QueryClient,
  plan: Plan,
  { askAgain }: { readonly askAgain: boolean },
): Promise<Plan> {
  const own = await withRejections(client, plan, { askAgain })
  const before = plan.subOrganizations ?? []
  const after: Plan[] = []
  for (const one of before) after.push(await withRejectionsInside(client, one, { askAgain }))
  if (after.every((one, index) => one === before[index])) return own
  const whole: Plan = { ...own, subOrganizations: after, insideDigest: digestInside(after) }
  return sealed(whole)
}

/** The same for one sub-organization. One that is only compared, or not made yet, has no rejected activities. */
export async function withRejectionsInside(
  client: QueryClient,
  plan: Plan,
  options: { readonly askAgain: boolean },
): Promise<Plan> {
  const { id } = plan.organization
  if (plan.comparedOnly || isStandIn(id)) return plan
  return withRejections(inside(client, id), plan, options)
}
