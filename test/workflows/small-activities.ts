import { type Activities, createActivities, type PlanStore } from '../../activities/index.ts'
import { createSubmitClient } from '../../src/client/index.ts'
import { silentLogger } from '../../src/telemetry/index.ts'

/** A credential of the small API: its stamp is its name. No run of any workflow may ever show it. */
export const PLANTED_SECRET = 'planted-secret-5f1e0c'

/** The Temporal activities over the small API. It cannot be read as a whole, so the plan always counts as fresh. */
export function smallActivities(
  store: PlanStore,
  {
    baseUrl,
    organizationId,
    clock,
  }: { readonly baseUrl: string; readonly organizationId: string; readonly clock?: () => number },
): Activities {
  const stamper = {
    publicKey: 'alice',
    stamp: async () => ({ name: 'X-Stamp' as const, value: 'alice', secret: PLANTED_SECRET }),
  }
  const clientFor = () => createSubmitClient({ baseUrl, organizationId, stamper })
  return {
    ...createActivities({ clientFor, planStore: store, clock: clock ?? (() => Date.now()), logger: silentLogger }),
    checkPlanFresh: async (run) => {
      await store.runs.setFresh(run)
      return { fresh: true }
    },
  }
}
