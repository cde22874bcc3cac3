/** From the headers of a request to the credential that it was stamped with: one row for each form of stamp. */
import { ApiError, apiError, GRPC } from '../../protocol/index.ts'
import { readStamp, StampError, type StampFault, type StampKind, type Stamps } from '../../stamp/index.ts'
import { inSpan } from '../../telemetry/index.ts'
import type { OrganizationPlace, Rows, Transaction } from '../store/index.ts'
import { apiKeySort } from './credentials/api-key.ts'
import { attestedSort } from './credentials/attested.ts'
import type {
  CredentialSort,
  Evidence,
  ProofTools,
  ProvedCredential,
  RequestBytes,
} from './credentials/credential-sort.ts'
import { passkeySort } from './credentials/passkey.ts'
import { readOnlySessionSort } from './credentials/read-only-session.ts'

/** The credentials of every sort that requests are stamped with. A form of stamp that has no row is refused. */
const sorts: { readonly [Kind in StampKind]: CredentialSort<Kind> } = {
  'api-key': apiKeySort,
  webauthn: passkeySort,
  attested: attestedSort,
  session: readOnlySessionSort,
}
const KINDS = Object.keys(sorts) as readonly StampKind[]

/** A request's stamp, which proves as much as it can by itself, and the bytes that it is over. Whose it is comes later. */
export interface StampProof {
  readonly stamp: Stamps[StampKind]
  readonly body: Uint8Array
  readonly evidence?: Evidence | undefined
}

/** The refusal for each fault of a stamp (docs/protocol/errors.md#texts). */
const FAULTS: Readonly<Record<StampFault, (error: StampError) => ApiError>> = {
  missing: () => apiError('noStamp'),
  several: () => apiError('twoStamps'),
  malformed: (error) => new ApiError(GRPC.Unauthenticated, error.message, { code: 'SIGNATURE_INVALID' }),
  unsupported: (error) => new ApiError(GRPC.Unimplemented, error.message),
}

/** Reads a request's stamp and checks what can be checked of it before the body is read. Throws `ApiError`. */
export async function readProof(request: RequestBytes, tools: ProofTools): Promise<StampProof> {
  const stamp = readStampOrRefuse(request)
  const evidence = (await inSpan('verify stamp', () => sortOf(stamp).verify?.(stamp, request, tools))) ?? undefined
  return { stamp, body: request.body, evidence }
}

/** Finds the credential of a proof, as it is in this transaction, and has it proved. Throws `ApiError`. */
export function proveCredential(
  tx: Transaction,
  proof: StampProof,
  target: OrganizationPlace,
  now: number,
): Rows<ProvedCredential> {
  return sortOf(proof.stamp).find(tx, proof, target, now)
}

/** INVARIANT: a stamp goes to the row of its own kind, which the one cast below says. */
function sortOf({ kind }: Stamps[StampKind]): CredentialSort<StampKind> {
  return sorts[kind] as CredentialSort<StampKind>
}

function readStampOrRefuse({ headers }: RequestBytes): Stamps[StampKind] {
  try {
    return readStamp(headers, { accept: KINDS })
  } catch (error) {
    if (error instanceof StampError) throw FAULTS[error.reason](error)
    throw error
  }
}
