import type { CredentialFacts } from '../../../policy/index.ts'
import type { Headers, StampKind, Stamps } from '../../../stamp/index.ts'
import type { OidcIdentity, OidcVerifier } from '../../oidc/index.ts'
import type { Database, OrganizationPlace, Rows, Transaction, VoteRow } from '../../store/index.ts'
import type { WorkPool } from '../../work/index.ts'

/** A request's headers and bytes, and the address that they came from. */
export interface RequestBytes {
  readonly headers: Headers
  readonly body: Uint8Array
  readonly source?: string | undefined
}

/** The identity that the issuer of a stamp's token has confirmed. */
export type Evidence = OidcIdentity

/** The tools for proving a stamp before there is a transaction of its request. */
export interface ProofTools {
  readonly pool: WorkPool
  readonly database: Pick<Database, 'read'>
  readonly oidc: OidcVerifier
}

/** One form of stamp, and how it leads to a caller. */
export interface CredentialSort<Kind extends StampKind> {
  /**
   * Proves what stamp and bytes alone can prove, before the body is read and without the store. Absent where the credential
   * must be known first. It gives what somebody outside has said of the stamp. Throws `ApiError`.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most stamps ask nobody.
  readonly verify?: (stamp: Stamps[Kind], request: RequestBytes, tools: ProofTools) => Promise<void | Evidence>
  /**
   * Finds the credential (docs/protocol/stamps.md#from-stamp-to-caller) and proves what rests on it. It runs in each transaction
   * of the request, at the time of that transaction. Throws `ApiError`.
   */
  readonly find: (
    tx: Transaction,
    proof: { readonly stamp: Stamps[Kind]; readonly body: Uint8Array; readonly evidence?: Evidence | undefined },
    target: OrganizationPlace,
    now: number,
  ) => Rows<ProvedCredential>
}

/** A credential that has proved itself in this request. */
export interface ProvedCredential {
  readonly userId: string
  /** The organization that its user belongs to. */
  readonly homeId: string
  readonly facts: CredentialFacts
  /** The parts of the stamp that a vote keeps (docs/protocol/stamps.md#what-a-vote-keeps). */
  readonly signed: Pick<VoteRow, 'public_key' | 'signature' | 'scheme'>
  /** What is written with a submit that is taken, and not with one that is denied: a counter, that a token was used. */
  readonly onTaken?: (tx: Transaction) => Promise<void>
  /** Whether it is the key of an invitation, which accepts that and does nothing else. */
  readonly acceptsAlone?: true
  /** Whether it may ask, and not submit. */
  readonly readsOnly?: true
}
