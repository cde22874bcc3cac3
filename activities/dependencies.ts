import type { SubmitClient } from '../src/client/index.ts'
import type { Plan } from '../src/plan/index.ts'
import type { Logger, Secret } from '../src/telemetry/index.ts'
import type { ApplyProgress, ShownBy } from './model.ts'
import type { NoticeEnvironment } from './notice-sinks.ts'
import type { PlanStore } from './plan-store.ts'
import type { RunningRotation } from './rotation-model.ts'
import type { StoreTools } from './rotation-stores.ts'
import type { SendProgress } from './send-model.ts'
import type { OfferedDefinitions, Watch, WatchedDefinitions, WatchLock, WatchSource } from './watch-model.ts'
import type { ReadOnce } from './watch-reads.ts'

/** The dependencies of the Temporal activities. */
export interface ActivityDependencies {
  /** Opens the credential that acts in an organization. Workflows name the organization, never a key. */
  readonly clientFor: (organization: Plan['organization']) => SubmitClient | Promise<SubmitClient>
  /** The same for sends, which the API counts by themselves. @default `clientFor` */
  readonly sendClientFor?: ActivityDependencies['clientFor']
  readonly planStore: PlanStore
  /** What rotations of keys need. @default they are refused */
  readonly rotation?: RotationDependencies
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /**
   * How far the API's time was moved ahead of everybody else's: an embedded service's, for tests and rehearsals. Bodies
   * are stamped with that time, or they would be refused as stale. @default 0
   */
  readonly serviceAheadMs?: () => number
  /** Plans what a watched organization's definitions ask for. @default nothing is watched by this worker */
  readonly planWatched?: PlanWatched
  /** Reads the definitions of a watch from its Git repository. @default watches of repositories get nothing new from this worker */
  readonly readCommit?: ReadCommit
  /**
   * Whether an apply of the organization runs, also one that waits; with the name of a run that begins the applies inside it,
   * whether that does. @default none
   */
  readonly isApplying?: (organizationId: string, inside?: string) => Promise<boolean>
  /** How the apply of the organization stands that runs; undefined where none does. @default none */
  readonly progressOfApply?: (organizationId: string) => Promise<ApplyProgress | undefined>
  /** How the sends of the organization stand that run, the oldest of many. @default none */
  readonly progressOfSends?: (organizationId: string) => Promise<readonly SendProgress[]>
  /** How the rotations of the organization stand that are not over. @default none */
  readonly progressOfRotations?: (organizationId: string) => Promise<readonly RunningRotation[]>
  /** Where the repairs that it begins are shown. @default nowhere */
  readonly whereShown?: () => Promise<ShownBy>
  /** Where messages to people go, and what signs them. @default nothing: no message arrives */
  readonly noticeEnvironment?: NoticeEnvironment
  /** Told of each apply that is over: how it ended, and how long it took, with all waits for approval. @default nobody */
  readonly onApply?: OnApply
  readonly logger: Logger
}

/** Both are as its workflow says, which anybody at Temporal could make: a reader checks them. */
export type OnApply = (apply: { readonly outcome: ApplyProgress['state']; readonly ms: number }) => void

/** Plans a watched organization from its definitions and lock; throws the reason why there is no plan. */
export type PlanWatched = (watched: {
  readonly watch: Watch
  readonly definitions: WatchedDefinitions
  readonly lock: WatchLock
  /** Nothing was planned from these definitions before: the lock beside them counts, where somebody vouches for it. */
  readonly isNew: boolean
  /** The Git commit that they are. */
  readonly commit?: string | undefined
  /** Reads inside a sub-organization what a look that was cut off has not read. */
  readonly readOnce: ReadOnce
}) => Promise<{
  readonly plan: Plan
  /** Works out the lock that is right once nothing is left to do. */
  readonly lock: () => WatchLock
  /** The lock that it was made with. */
  readonly vouched: WatchLock
  /** What `watch:` of the definitions says. */
  readonly settings: Pick<Watch, 'modes' | 'notify'>
  /** Throws the first reason why a plan is not carried out. */
  readonly assertApplicable: (plan: Plan) => void
}>

/**
 * Reads the newest commit of a branch and verifies it; undefined where that is `after` still. Throws `apply/commit-refused` for one that is not signed by those who may, or
 * does not follow `after`, and `apply/source-away` where the repository cannot be read.
 */
export type ReadCommit = (
  source: Extract<WatchSource, { readonly kind: 'git' }>,
  options: { readonly given: Watch['given']; readonly after: string | undefined },
) => Promise<OfferedDefinitions | undefined>

export interface RotationDependencies {
  /** Folder of the private keys of rotations under way, which need not exist. */
  readonly keysFolder: string
  /** Opens a client that stamps with this P-256 key. */
  readonly clientWith: (organization: Plan['organization'], privateKey: Secret) => SubmitClient
  /** From now on the worker acts with this key in the place of its own, which was rotated. */
  readonly useKey: (privateKey: Secret) => void
  /** How stores of secrets are reached. @default with an empty environment */
  readonly stores?: StoreTools
}
