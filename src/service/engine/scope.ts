import { type Ballot, withBallot } from '../../authority/index.ts'
import { permissionDenied } from '../../protocol/index.ts'
import { sessionProfileTable } from '../resources/session-profiles/store.ts'
import type { Caller } from './caller.ts'
import type { Case } from './judgement.ts'
import { scopeNotEvaluated } from './readings.ts'
import type { EngineTools } from './tools.ts'

/**
 * Throws the refusal of an activity that is outside of the scope of the caller's session
 * (docs/protocol/sessions.md#session-profiles). A vote is judged by the activity that it is about.
 */
export function checkScope(
  tools: Pick<EngineTools, 'judge' | 'logger'>,
  item: Case,
  of: { readonly caller: Caller; readonly ballots: readonly Ballot[] },
): void | Promise<void> {
  const { session_profile_id: sessionProfileId } = of.caller.credential
  // Most credentials have no profile: nobody waits for a promise of that.
  if (sessionProfileId !== undefined) return checkProfile(tools, item, { ...of, sessionProfileId })
}

async function checkProfile(
  { judge, logger }: Pick<EngineTools, 'judge' | 'logger'>,
  item: Case,
  {
    caller: { homeId, userId, credential },
    ballots,
    sessionProfileId,
  }: { readonly caller: Caller; readonly ballots: readonly Ballot[]; readonly sessionProfileId: string },
): Promise<void> {
  const profile = await sessionProfileTable.find(item.context.tx, homeId, sessionProfileId)
  const isInside = profile && (await judge.conditions(item, withBallot(ballots, { userId, credential })))(profile.scope)
  if (isInside === undefined) {
    logger.warn('the scope of a session cannot be evaluated', { sessionProfileId, type: item.row.type })
    throw scopeNotEvaluated(sessionProfileId, item.row.type)
  }
  if (!isInside) throw permissionDenied([])
}
