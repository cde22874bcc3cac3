import type { ActivityRow, JsonObject, QueryName, Spelling } from '../../protocol/index.ts'
import type { Proof } from './authentication.ts'
import type { IdentityOf } from './identities.ts'
import type { Known } from './known.ts'

/** A submit whose form has been checked and whose stamp signs its bytes. Whose stamp it is is not known yet. */
export interface SubmitRequest {
  readonly row: ActivityRow
  /** The spelling that the answer is written in. */
  readonly spelling: Spelling
  readonly organizationId: string
  /** Decimal milliseconds. */
  readonly timestampMs: string
  readonly generateAppProofs: boolean
  /** The parameters as checked, in the spelling used inside. */
  readonly intent: JsonObject
  /** The exact bytes, as text; their hash is `fingerprint`. */
  readonly message: string
  readonly fingerprint: string
  /** The address that it came from, where that is known. */
  readonly source: string | undefined
  readonly known: Known
  readonly proof: Proof
  readonly identityOf: IdentityOf
  /** What the world outside answered about it. */
  readonly answers: JsonObject | undefined
}

/** A query whose form has been checked and whose stamp signs its bytes. */
export interface QueryRequest {
  readonly name: QueryName
  readonly organizationId: string
  readonly request: JsonObject
  readonly proof: Proof
  readonly identityOf: IdentityOf
}
