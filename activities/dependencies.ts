import type { SubmitClient } from '../src/client/index.ts'
import type { Plan } from '../src/plan/index.ts'
import type { Logger } from '../src/telemetry/index.ts'
import type { PlanStore } from './plan-store.ts'

/** The dependencies of the Temporal activities. */
export interface ActivityDependencies {
  /** Opens the credential that acts in an organization. Workflows name the organization, never a key. */
  readonly clientFor: (organization: Plan['organization']) => SubmitClient | Promise<SubmitClient>
  /** The same for sends, which the API counts by themselves. @default `clientFor` */
  readonly sendClientFor?: ActivityDependencies['clientFor']
  readonly planStore: PlanStore
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /**
   * How far the API's time was moved ahead of everybody else's: an embedded service's, for tests and rehearsals. Bodies
   * are stamped with that time, or they would be refused as stale. @default 0
   */
  readonly serviceAheadMs?: () => number
  readonly logger: Logger
}
