import type { ActivityRow, JsonObject, QueryName, Spelling } from '../../protocol/index.ts'
import type { StampedRequest } from './admission.ts'
import type { OutsideAnswers } from './prepared.ts'

/** A submit whose form has been checked and whose stamp signs its bytes. Whose stamp it is is not known yet. */
export interface SubmitRequest extends StampedRequest {
  readonly row: ActivityRow
  /** The spelling that the answer is written in. */
  readonly spelling: Spelling
  /** Decimal milliseconds. */
  readonly timestampMs: string
  readonly generateAppProofs: boolean
  /** The parameters as checked, in the spelling used inside. */
  readonly intent: JsonObject
  /** The exact bytes, as text; their hash is `fingerprint`. */
  readonly message: string
  readonly fingerprint: string
}

/** A submit for which the world outside has been asked. */
export interface PreparedSubmit extends SubmitRequest {
  readonly prepared: OutsideAnswers<JsonObject>
}

/** A query whose form has been checked and whose stamp signs its bytes. */
export interface QueryRequest extends StampedRequest {
  readonly name: QueryName
  readonly request: JsonObject
}
