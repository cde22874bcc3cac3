import { activities, apiError } from '../../protocol/index.ts'
import type { Rates } from '../rates.ts'
import { type Rows, type Transaction, whenRead } from '../store/index.ts'
import { type Caller, type Reach, resolveCaller } from './caller.ts'
import type { StampProof } from './credential.ts'
import { factsOfCaller, type ReportFacts } from './request-facts.ts'
import { checkSource } from './source-address.ts'

/** A request whose stamp signs its bytes, as far as it matters for letting it in. */
export interface StampedRequest {
  readonly path: string
  /** The organization that it names. */
  readonly organizationId: string
  readonly reach: Reach
  readonly proof: StampProof
  /** The address that it came from, where that is known. */
  readonly source: string | undefined
  readonly report: ReportFacts
}

/**
 * Lets a request in, or throws `ApiError`: who the caller is, whether from this address, whether this often.
 *
 * INVARIANT: each transaction of a request begins with it, and nothing else finds a caller. A submit has one transaction; one
 * that has questions to the world outside has two, and both admit: the first so that no stranger makes the service ask, the
 * second because a credential may have been deleted or have expired while the answer was waited for. What is written rests on
 * the second alone. A request is counted once, in the first.
 */
export function admit(
  rates: Rates,
  tx: Transaction,
  request: StampedRequest,
  { now, isCounted }: { readonly now: number; readonly isCounted: boolean },
): Rows<Caller> {
  const { proof, organizationId, reach, source, path, report } = request
  return whenRead(resolveCaller(tx, proof, organizationId, { reach, now }), (caller) => {
    report(factsOfCaller(caller))
    checkPurpose(caller, path)
    return whenRead(checkSource(tx, caller, source), () => {
      if (isCounted) return caller
      return whenRead(rates.countCaller(tx, { organizationId: caller.organizationId, path }), () => caller)
    })
  })
}

/**
 * A key that was mailed to recover an account recovers it, and does nothing else (docs/protocol/one-time-passcodes.md#recovery); so
 * it is with one that was mailed to accept an invitation (docs/protocol/organizations.md#invitations).
 */
function checkPurpose({ credential, acceptsAlone }: Caller, path: string): void {
  if (acceptsAlone && path !== activities.ACTIVITY_TYPE_ACCEPT_INVITATION_V2.path) throw apiError('notAuthorized')
  if (
    credential.type === 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256' &&
    path !== activities.ACTIVITY_TYPE_RECOVER_USER.path
  )
    throw apiError('notAuthorized')
}
