import type { createGasCeilings } from '../../sending/index.ts'
import type { ActivityView } from '../views/activity.ts'

/** Sets beside what each send of an activity offers what the settings of who reads it would offer at most. */
export async function withOwnCeilings(
  view: ActivityView,
  ceilingOf: ReturnType<typeof createGasCeilings>,
): Promise<ActivityView> {
  const { caip2 } = view.parameters as { readonly caip2?: unknown }
  if (view.sends === undefined || typeof caip2 !== 'string') return view
  const { feeCeiling, wei } = await ceilingOf(caip2)
  const yours = { ...feeCeiling, wei: wei.toString() }
  return { ...view, sends: view.sends.map((send) => ({ ...send, fee: { ...send.fee, yours } })) }
}
