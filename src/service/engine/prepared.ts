import type { JsonObject } from '../../protocol/index.ts'
import type { ActivityRecordRow } from '../store/index.ts'
import { type IdentityOf, identityOfRecorded } from './identities.ts'

/**
 * What the world outside has answered about a request before its transaction. A handler finds it in its context, and adding
 * an answer is adding a member here.
 */
export interface OutsideAnswers<Answers = unknown> {
  /** The identity that an OIDC token of the intent names. */
  readonly identityOf: IdentityOf
  /** What the handler's `prepare` gave when the activity was submitted; stored with it. Undefined where it gave nothing. */
  readonly answers: Answers | undefined
}

/** The answers of an activity that has been recorded, perhaps by an older version or by another process. */
export function preparedOf({ answers }: Pick<ActivityRecordRow, 'answers'>): OutsideAnswers {
  return { identityOf: identityOfRecorded, answers: answers === null ? undefined : (JSON.parse(answers) as JsonObject) }
}
