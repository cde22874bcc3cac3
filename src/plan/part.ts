import type { KindName } from '../resources/index.ts'
import { parseAddress } from '../resources/index.ts'
import { sealed } from './digest.ts'
import type { Batch, Plan } from './document.ts'
import { digestInside, isStandIn, makerOf, plansInside } from './inside.ts'

/**
 * The part of a plan whose activities change things of these kinds alone, with the activities that none but these come before, in
 * the organization and in each sub-organization that lives or that the part makes. Undefined where there is no such activity. Its
 * guards, its live part and its forecasts are those of the whole: it is refused and stale when the whole is.
 * @param isWanted whether an organization of the plan is in it: nothing of another one is left @default each is
 */
export function partOf(
  plan: Plan,
  kinds: ReadonlySet<KindName>,
  isWanted: (one: Plan) => boolean = () => true,
): Plan | undefined {
  const own = ownPartOf(plan, isWanted(plan) ? kinds : new Set())
  const inside = plansInside(plan).flatMap((one) => {
    if (!isWanted(one) || (isStandIn(one.organization.id) && !makerOf(own, one))) return []
    const part = ownPartOf(one, kinds)
    return part.batches.length > 0 ? [part] : []
  })
  if (own.batches.length + inside.length === 0) return undefined
  if (inside.length === 0) return own
  return sealed({ ...own, subOrganizations: inside, insideDigest: digestInside(inside) })
}

function ownPartOf(plan: Plan, kinds: ReadonlySet<KindName>): Plan {
  const isOf = ({ changes }: Batch) => changes.every((address) => kinds.has(parseAddress(address)!.kind))
  const kept: Batch[] = []
  for (const batch of plan.batches) {
    if (isOf(batch) && batch.after.every((index) => kept.some((one) => one.index === index))) kept.push(batch)
  }
  const places = new Map(kept.map(({ index }, place) => [index, place]))
  const placed = <One>(batch: number | undefined, one: One) => {
    const place = batch === undefined ? undefined : places.get(batch)
    return place === undefined ? [] : [{ ...one, batch: place }]
  }
  const {
    subOrganizations: _,
    insideDigest: __,
    folder: ___,
    access,
    accessLimits,
    undo,
    requests,
    waiting,
    ...rest
  } = plan
  const isWhole = kept.length === plan.batches.length
  const part: Plan = {
    ...rest,
    batches: kept.map((batch, index) => ({ ...batch, index, after: batch.after.map((one) => places.get(one)!) })),
    changes: plan.changes.flatMap(({ batch, ...change }) => placed(batch, change)),
    ...(waiting ? { waiting: waiting.flatMap(({ batch, ...one }) => placed(batch, one)) } : {}),
    // Power and undoing are told of the whole plan alone.
    ...(isWhole && access ? { access } : {}),
    ...(isWhole && accessLimits ? { accessLimits } : {}),
    ...(isWhole && undo ? { undo } : {}),
    ...(requests ? { requests: { ...requests, submits: kept.length } } : {}),
  }
  return sealed(part)
}
