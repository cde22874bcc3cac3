import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import { ApiError, apiError } from '../../protocol/index.ts'
import { inSpan, type Logger } from '../../telemetry/index.ts'
import type { MadeAddress } from '../proofs/index.ts'
import { type ActivityUpdate, StoreUnavailable, whenRead, withSavepoint } from '../store/index.ts'
import { CountedRefusal } from './counted-refusal.ts'
import type { FollowUp } from './follow-ups.ts'
import type { Case } from './judgement.ts'
import { sealResult } from './sealed-results.ts'
import { NotPrepared } from './work.ts'

interface Tools {
  readonly logger: Logger
  readonly randomBytes: RandomBytes
}

/** What an activity has become, and what is to follow the commit. */
export interface Executed {
  readonly became: ActivityUpdate
  readonly followUps: ReadonlySet<FollowUp>
  /** A refusal that was counted. */
  readonly counted?: ApiError
  /** The addresses that were made. */
  readonly made: readonly MadeAddress[]
}

/**
 * Carries out an allowed activity inside the request's transaction and returns its status and result, for its row. What fails
 * leaves no trace but the failure (docs/protocol/errors.md#failed-activities), and no follow-ups; only a fault of the machine is
 * thrown. `recheck` is for an activity that has waited: what was true at its submission may have changed since.
 */
export async function execute(
  tools: Tools,
  item: Case,
  { activityId, recheck }: { readonly activityId: string; readonly recheck: boolean },
): Promise<Executed> {
  const { context, handler, intent } = item
  const { tx, now } = context
  const followUps = new Set<FollowUp>()
  const made: MadeAddress[] = []
  const noteAddress = (address: MadeAddress) => void made.push(address)
  const afterCommit = (followUp: FollowUp) => void followUps.add(followUp)
  try {
    const result = await withSavepoint(tx, () =>
      whenRead(recheck ? handler.validate?.(context, intent) : undefined, () =>
        inSpan('execute', () => handler.execute({ ...context, activityId, afterCommit, noteAddress }, intent)),
      ),
    )
    const kept = sealResult(context.seal, { family: item.row.family, activityId }, result)
    const became = { status: 'ACTIVITY_STATUS_COMPLETED', result: JSON.stringify(kept), updated_at: now } as const
    return { became, followUps, made }
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof NotPrepared) throw error
    if (error instanceof CountedRefusal) {
      const failure = JSON.stringify(failureOf(error.refusal))
      await error.count(tx)
      return {
        became: { status: 'ACTIVITY_STATUS_FAILED', failure, updated_at: now },
        followUps: new Set(),
        made: [],
        counted: error.refusal,
      }
    }
    const failure = JSON.stringify(toFailure(error, { activityId, type: item.row.type }, tools))
    return { became: { status: 'ACTIVITY_STATUS_FAILED', failure, updated_at: now }, followUps: new Set(), made: [] }
  }
}

function toFailure(
  error: unknown,
  activity: { readonly activityId: string; readonly type: string },
  { logger, randomBytes }: Tools,
) {
  const reference = newUuid(randomBytes)
  const refusal = error instanceof ApiError ? error : apiError('internal', reference)
  if (!(error instanceof ApiError)) {
    const { name, message } = error instanceof Error ? error : { name: 'unknown', message: 'not an error' }
    logger.error('execution failed', { reference, ...activity, name, message })
  }
  return failureOf(refusal)
}

/** A refusal as a failed activity carries it (docs/protocol/errors.md#failed-activities). */
export function failureOf(refusal: ApiError) {
  const { code, message, details } = refusal.toBody()
  return { code, message, details }
}
