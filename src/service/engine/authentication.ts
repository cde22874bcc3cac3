import { ApiError, apiError, GRPC } from '../../protocol/index.ts'
import {
  type Headers,
  readStamp,
  type Stamp,
  StampError,
  type StampFault,
  type Stamps,
  verifyStampInPool,
  type WebAuthnStamp,
} from '../../stamp/index.ts'
import { StoreUnavailable } from '../store/index.ts'
import { type JobInput, JobNotDone, type WorkPool } from '../work/index.ts'

/** An API key's stamp, verified, or a passkey's, which can be once its key has been found. Whose it is comes later. */
export type Proof = Stamp | PasskeyProof

/** A passkey's stamp and the bytes that it is to be verified over. */
export interface PasskeyProof {
  readonly kind: 'passkey'
  readonly stamp: WebAuthnStamp
  readonly body: Uint8Array
}

/** A request's headers and bytes, and the address that they came from. */
interface Stamped {
  readonly headers: Headers
  readonly body: Uint8Array
  readonly source?: string | undefined
}

/** The refusal for each fault of a stamp (docs/protocol/errors.md#texts). */
const FAULTS: Readonly<Record<StampFault, (error: StampError) => ApiError>> = {
  missing: () => apiError('noStamp'),
  several: () => apiError('twoStamps'),
  malformed: (error) => new ApiError(GRPC.Unauthenticated, error.message, { code: 'SIGNATURE_INVALID' }),
  unsupported: (error) => new ApiError(GRPC.Unimplemented, error.message),
}

/** Reads a request's stamp and, where the stamp names its own key, checks that it signs these very bytes. Throws `ApiError`. */
export async function authenticate({ headers, body, source = '' }: Stamped, pool: WorkPool): Promise<Proof> {
  const stamp = readStampOrRefuse(headers)
  if (stamp.kind === 'webauthn') return { kind: 'passkey', stamp, body }
  const isDear = stamp.scheme === 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191' && body.length > HASHED_AT_ONCE
  const isVerified = isDear ? await verifyInThread(pool, { stamp, body }, source) : await verifyStampInPool(stamp, body)
  if (!isVerified) throw apiError('apiKeyNotVerified')
  return stamp
}

/** Bytes that are hashed by Keccak-256 at once, which the platform does not have: 1 MiB takes some twenty milliseconds. */
const HASHED_AT_ONCE = 32_768

/** Nobody is known yet: addresses take turns, and all of them together have those of one organization. */
async function verifyInThread(pool: WorkPool, input: JobInput<'verifyStamp'>, source: string): Promise<boolean> {
  try {
    return (await pool.run('verifyStamp', { input }, { treeId: '', organizationId: source })).isVerified
  } catch (error) {
    if (error instanceof JobNotDone) throw new StoreUnavailable(error.message)
    throw error
  }
}

function readStampOrRefuse(headers: Headers): Stamps['api-key' | 'webauthn'] {
  try {
    return readStamp(headers, { accept: ['api-key', 'webauthn'] })
  } catch (error) {
    if (error instanceof StampError) throw FAULTS[error.reason](error)
    throw error
  }
}
