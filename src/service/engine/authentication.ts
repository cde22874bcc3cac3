import { ApiError, apiError, GRPC } from '../../protocol/index.ts'
import { type Headers, readStamp, type Stamp, StampError, type StampFault, verifyStamp } from '../../stamp/index.ts'

/** What each fault of a stamp is on the wire (facts: protocol §9). */
const FAULTS: Readonly<Record<StampFault, (error: StampError) => ApiError>> = {
  missing: () => apiError('noStamp'),
  several: () => apiError('twoStamps'),
  malformed: (error) => new ApiError(GRPC.Unauthenticated, error.message, { code: 'SIGNATURE_INVALID' }),
  unsupported: (error) => new ApiError(GRPC.Unimplemented, error.message),
}

/**
 * Reads a request's stamp and checks that it signs these very bytes. Whose key it is comes later. Throws `ApiError`.
 */
export function authenticate(headers: Headers, body: Uint8Array): Stamp {
  const stamp = readStampOrRefuse(headers)
  if (!verifyStamp(stamp, body)) throw apiError('apiKeyNotVerified')
  return stamp
}

function readStampOrRefuse(headers: Headers): Stamp {
  try {
    return readStamp(headers)
  } catch (error) {
    if (error instanceof StampError) throw FAULTS[error.reason](error)
    throw error
  }
}
