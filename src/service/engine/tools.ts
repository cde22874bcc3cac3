import type { RandomBytes } from '../../crypto/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Sealing } from '../keys/index.ts'
import type { ViewTools } from './view.ts'

/** The tools that the steps of a submit share. */
export interface EngineTools extends ViewTools {
  readonly randomBytes: RandomBytes
  readonly logger: Logger
  readonly seal: Sealing['seal']
  /** Denied requests of one user that are kept of one day. */
  readonly keptDenialsADay: number
}
