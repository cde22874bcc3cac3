import type { KindName } from '../resources/index.ts'
import { parseAddress } from '../resources/index.ts'
import { sealed } from './digest.ts'
import type { Batch, Plan } from './document.ts'

/**
 * The part of an organization's own plan whose activities change things of these kinds alone, with the activities that none but
 * these come before; what is inside is left out. Undefined where there is no such activity. Its guards, its live part and its
 * forecasts are those of the whole: it is refused and stale when the whole is.
 */
export function partOf(plan: Plan, kinds: ReadonlySet<KindName>): Plan | undefined {
  const isOf = ({ changes }: Batch) => changes.every((address) => kinds.has(parseAddress(address)!.kind))
  const kept: Batch[] = []
  for (const batch of plan.batches) {
    if (isOf(batch) && batch.after.every((index) => kept.some((one) => one.index === index))) kept.push(batch)
  }
  if (kept.length === 0) return undefined
  const places = new Map(kept.map(({ index }, place) => [index, place]))
  const { subOrganizations: _, insideDigest: __, folder: ___, access, accessLimits, undo, requests, ...rest } = plan
  const isWhole = kept.length === plan.batches.length
  const part: Plan = {
    ...rest,
    batches: kept.map((batch, index) => ({ ...batch, index, after: batch.after.map((one) => places.get(one)!) })),
    changes: plan.changes.flatMap(({ batch, ...change }) => {
      const place = batch === undefined ? undefined : places.get(batch)
      return place === undefined ? [] : [{ ...change, batch: place }]
    }),
    // Power and undoing are told of the whole plan alone.
    ...(isWhole && access ? { access } : {}),
    ...(isWhole && accessLimits ? { accessLimits } : {}),
    ...(isWhole && undo ? { undo } : {}),
    ...(requests ? { requests: { ...requests, submits: kept.length } } : {}),
  }
  return sealed(part)
}
