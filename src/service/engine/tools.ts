import type { RandomBytes } from '../../crypto/index.ts'
import type { ActivityRow, JsonObject } from '../../protocol/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Rates } from '../rates.ts'
import type { Transaction } from '../store/index.ts'
import type { IdentityOf } from './identities.ts'
import type { Case, Judge } from './judgement.ts'
import type { ViewTools } from './view.ts'
import type { Work } from './work.ts'

/** The tools that the steps of a submit share. */
export interface EngineTools extends ViewTools {
  readonly judge: Judge
  readonly randomBytes: RandomBytes
  readonly logger: Logger
  readonly rates: Rates
  /** Denied requests of one user that are kept of one day. */
  readonly keptDenialsADay: number
  /** Puts together a new activity's case. Throws `ApiError` (code 12) for a type that is not carried out. */
  readonly prepareCase: (
    tx: Transaction,
    row: ActivityRow,
    intent: JsonObject,
    request: {
      readonly organizationId: string
      readonly submitterId: string
      readonly now: number
      readonly identityOf: IdentityOf
      readonly answers: JsonObject | undefined
      readonly work: Work
    },
  ) => Case
}
