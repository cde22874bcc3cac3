import type { MissingFactors } from '../authority/index.ts'
import type { Explanation } from '../policy/index.ts'
import type { SendDescription } from './description.ts'

/** What comes of the activity of a send. */
export interface SendForecast {
  readonly explanation: Explanation
  /** What the acting user's own MFA policy asks for besides the credential in use; absent when nothing. */
  readonly factors?: MissingFactors | undefined
}

/** The effect of a send, and the forecast of its activity. */
export interface SendMeaning extends SendForecast {
  readonly description: SendDescription
}

/** Whether the service would say no. */
export function isDenied({ outcome }: Explanation): boolean {
  return outcome !== 'OUTCOME_ALLOW' && outcome !== 'OUTCOME_REQUIRES_CONSENSUS'
}

/** Says who would say no. */
export function whyDenied({ decidedBy }: Explanation): string {
  return decidedBy.length === 0 ? 'no policy allows this send' : `denied by ${decidedBy.join(', ')}`
}
