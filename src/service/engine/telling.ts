import { isSealedText } from '../keys/index.ts'
import type { ActivityRecordRow, Transaction, VoteRow } from '../store/index.ts'
import { writeActivity } from './activity-wire.ts'
import { type ViewTools, viewActivities } from './view.ts'
import type { Work } from './work.ts'

/** An activity that is new or has changed, for those who follow activities. */
export interface ChangedActivity {
  readonly activity: Pick<ActivityRecordRow, 'id' | 'organization_id' | 'type' | 'status' | 'updated_at'>
  /** The parent, which follows what happens in its sub-organizations too; or the organization itself. */
  readonly parentId: string
  /** Whether what is told of it must not be kept as it is. */
  readonly isSecret: boolean
  /** Its JSON as `get_activity` has it, for nobody in particular. Only run where somebody is told. */
  readonly write: () => Promise<string>
}

/** Records, in the transaction of the change, what followers are to be told. Says whether there is anybody. */
export type TellActivity = (tx: Transaction, changed: ChangedActivity) => Promise<boolean>

/** Puts together what followers of an activity are told. */
export function changedActivity(
  tools: ViewTools,
  tx: Transaction,
  { activity, votes }: { readonly activity: ActivityRecordRow; readonly votes?: readonly VoteRow[] | undefined },
  { parentId, ...at }: { readonly parentId: string; readonly now: number; readonly work: Work },
): ChangedActivity {
  return {
    activity,
    parentId,
    isSecret: isSealedText(activity.intent),
    async write() {
      const [view] = await viewActivities(tools, tx, [activity], { ...at, caller: undefined, votes })
      return writeActivity(view!, { nestedCopy: false })
    },
  }
}
