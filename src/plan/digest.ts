import { sha256 } from '../crypto/index.ts'
import { canonicalJson, encodeHex } from '../encoding/index.ts'
import type { LivePart, Plan } from './document.ts'

/**
 * The digest of a plan: everything but when, from where and after how many reads it was made, what of it waits already, and the
 * digest itself. It names the plan: the number of reads grows with the organization's past, and two plans that do the same are one. What is
 * inside is covered by `insideDigest`.
 */
export function digestOf(plan: Plan): string {
  const {
    createdAt: _createdAt,
    folder: _folder,
    commit: _commit,
    uncommitted: _uncommitted,
    waiting: _waiting,
    digest: _digest,
    subOrganizations: _inside,
    requests,
    ...rest
  } = plan
  if (requests === undefined) return digestJson(rest)
  const { reads: _reads, ...toCome } = requests
  return digestJson({ ...rest, requests: toCome })
}

/** The plan under its digest. */
export function sealed(plan: Plan): Plan {
  return { ...plan, digest: digestOf(plan) }
}

/** The digest of the live state that a plan leans on. */
export function digestLive(live: LivePart): string {
  return digestJson(live)
}

/** Lower-case hex SHA-256 of the canonical JSON of a value. */
export function digestJson(value: unknown): string {
  return encodeHex(sha256(canonicalJson(value)))
}
