import type { CredentialFacts } from '../../policy/index.ts'
import { apiError } from '../../protocol/index.ts'
import {
  lockAlso,
  lockOrganization,
  type OrganizationPlace,
  type Rows,
  type Transaction,
  whenRead,
} from '../store/index.ts'
import { proveCredential, type StampProof } from './credential.ts'
import type { ProvedCredential } from './credentials/credential-sort.ts'

/** The user and credential of a request, and the organization in which it runs. */
export interface Caller {
  readonly userId: string
  /** The organization that the user belongs to. */
  readonly homeId: string
  /** The organization in which the request runs: `homeId`, or a sub-organization of it for what a parent may do there. */
  readonly organizationId: string
  /** The parent of `homeId`, or itself: what both have in common with all sub-organizations. */
  readonly treeId: string
  readonly credential: CredentialFacts
  readonly signed: ProvedCredential['signed']
  readonly onTaken?: ProvedCredential['onTaken']
  /** Whether its key is that of an invitation, which accepts that and does nothing else. */
  readonly acceptsAlone?: true
  /** Whether its session lets it ask alone. */
  readonly readsOnly?: true
}

/**
 * The reach of a request across the organization tree: queries read downwards, some submits find their home below, and what
 * logs somebody in may be submitted by the parent.
 */
export type Reach = 'query' | 'submit' | 'submit-below' | 'submit-inside'

/**
 * Finds the caller of a request (docs/protocol/stamps.md#from-stamp-to-caller). Throws `ApiError`. Taking the
 * organization's row comes first.
 */
export function resolveCaller(
  tx: Transaction,
  proof: StampProof,
  targetId: string,
  options: { readonly reach: Reach; readonly now: number },
): Rows<Caller> {
  return whenRead(lockOrganization(tx, targetId), (target) => {
    if (!target) throw apiError('organizationNotFound')
    const prove = () => proveCredential(tx, proof, target, options.now)
    return whenRead(prove(), (proved) => {
      const { homeId, readsOnly } = proved
      if (readsOnly && options.reach !== 'query') throw apiError('readOnlySession')
      const organizationId = placeOf(homeId, target, options.reach)
      if (organizationId === target.id) return toCaller(proved, target, organizationId)
      // Where the lock had to be waited for, the credential may be gone since it was found.
      return whenRead(lockAlso(tx, organizationId), (mayHaveWaited) =>
        whenRead(mayHaveWaited ? prove() : proved, (again) => toCaller(again, target, organizationId)),
      )
    })
  })
}

function toCaller(proved: ProvedCredential, target: OrganizationPlace, organizationId: string): Caller {
  const { facts: credential, ...rest } = proved
  return { ...rest, organizationId, treeId: target.parentId ?? target.id, credential }
}

function placeOf(home: string, target: OrganizationPlace, reach: Reach): string {
  if (home === target.id) return home
  const isParentsUser = home === target.parentId
  if (reach === 'query') return isParentsUser ? target.id : home
  if (reach === 'submit-below' && !isParentsUser) return home
  if (reach === 'submit-inside' && isParentsUser) return target.id
  throw apiError('organizationMismatch', target.id, home)
}
