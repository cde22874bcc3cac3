import { sha256, verifyEs256 } from '../../crypto/index.ts'
import { decodeHex, encodeUtf8, isHex } from '../../encoding/index.ts'

export interface ApprovalsToVerify {
  readonly manifest: string
  readonly approvals: readonly {
    /** Hex. */
    readonly signKey: string
    /** Hex of `r ‖ s`. */
    readonly signature: string
  }[]
}

/** Which of these signatures are over the hash of a manifest, each by its key (docs/protocol/tvc.md#manifests). */
export function verifyApprovals(
  _: Uint8Array,
  { manifest, approvals }: ApprovalsToVerify,
): { readonly areValid: readonly boolean[] } {
  const hash = sha256(encodeUtf8(manifest))
  return {
    areValid: approvals.map(
      ({ signKey, signature }) =>
        signature.length === 128 && isHex(signature) && verifyEs256(signKey, hash, decodeHex(signature)),
    ),
  }
}
