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

/** An API key's stamp, verified, or a passkey's, which can be once its key has been found. Whose it is comes later. */
export type Proof = Stamp | PasskeyProof

/** A passkey's stamp and the bytes that it is to be verified over. */
export interface PasskeyProof {
  readonly kind: 'passkey'
  readonly stamp: WebAuthnStamp
  readonly body: Uint8Array
}

/** The refusal for each fault of a stamp (docs/protocol/errors.md#texts). */
const FAULTS: Readonly<Record<StampFault, (error: StampError) => ApiError>> = {
  missing: () => apiError('noStamp'),
  several: () => apiError('twoStamps'),
  malformed: (error) => new ApiError(GRPC.Unauthenticated, error.message, { code: 'SIGNATURE_INVALID' }),
  unsupported: (error) => new ApiError(GRPC.Unimplemented, error.message),
}

/** Reads a request's stamp and, where the stamp names its own key, checks that it signs these very bytes. Throws `ApiError`. */
export async function authenticate(headers: Headers, body: Uint8Array): Promise<Proof> {
  const stamp = readStampOrRefuse(headers)
  if (stamp.kind === 'webauthn') return { kind: 'passkey', stamp, body }
  if (!(await verifyStampInPool(stamp, body))) throw apiError('apiKeyNotVerified')
  return stamp
}

function readStampOrRefuse(headers: Headers): Stamps['api-key' | 'webauthn'] {
  try {
    return readStamp(headers, { accept: ['api-key', 'webauthn'] })
  } catch (error) {
    if (error instanceof StampError) throw FAULTS[error.reason](error)
    throw error
  }
}
