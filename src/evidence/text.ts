import { canonicalJson, encodeUtf8 } from '../encoding/index.ts'
import { type ActivityEvidence, FORMAT } from './model.ts'

/** The bytes that are signed. No request body begins so: what is signed here is no request. */
export function textOf(evidence: ActivityEvidence): Uint8Array {
  return encodeUtf8(`${FORMAT}\n${canonicalJson(evidence)}`)
}
