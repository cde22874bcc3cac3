import { readAuthorization } from './authorization.ts'
import { parsePayload } from './payload-json.ts'
import type { TransactionFacts } from './read-transaction.ts'
import { readTypedData } from './typed-data.ts'

/**
 * Reads what policies may know of a raw payload: typed data and authorizations, which are signed by their encoding. A bare
 * digest or a text exposes nothing (docs/protocol/policies.md#roots). Throws `ChainError`.
 */
export function readPayloadFacts({ encoding, payload }: { encoding: string; payload: string }): TransactionFacts {
  switch (encoding) {
    case 'PAYLOAD_ENCODING_EIP712':
      return { eth: { eip_712: readTypedData(parsePayload(payload)) } }
    case 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION':
      return { eth: { eip_7702_authorization: readAuthorization(parsePayload(payload)) } }
    default:
      return {}
  }
}
