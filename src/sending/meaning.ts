import type { Explanation } from '../policy/index.ts'
import type { SendDescription } from './description.ts'

/** The effect of a send, and the forecast of its activity. */
export interface SendMeaning {
  readonly description: SendDescription
  readonly explanation: Explanation
}

/** Whether the service would say no. */
export function isDenied({ outcome }: Explanation): boolean {
  return outcome !== 'OUTCOME_ALLOW' && outcome !== 'OUTCOME_REQUIRES_CONSENSUS'
}

/** Says who would say no. */
export function whyDenied({ decidedBy }: Explanation): string {
  return decidedBy.length === 0 ? 'no policy allows this send' : `denied by ${decidedBy.join(', ')}`
}
