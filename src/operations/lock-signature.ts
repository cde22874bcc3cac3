import { type LockFile, lockText, type ReadLock } from '../definitions/index.ts'
import { encodeUtf8 } from '../encoding/index.ts'
import { isMemberOfQuorum } from '../plan/index.ts'
import type { Actual } from '../resources/index.ts'
import { createApiKeyStamper, readStamp, type Stamp, verifyStamp } from '../stamp/index.ts'
import type { Place } from './place.ts'

/**
 * Whether the rows of a lock file count: it is signed, as it stands, with a live API key of the user who acts or of a member of
 * the root quorum. A row decides which live thing a name means, so that a proposer of definitions could otherwise add one for
 * what somebody else made.
 */
export function isVouchedFor({ lock, signature }: Pick<ReadLock, 'lock' | 'signature'>, actual: Actual): boolean {
  if (Object.values(lock).every((rows) => Object.keys(rows).length === 0)) return true
  const stamp = signature === undefined ? undefined : parse(signature)
  if (stamp === undefined) return false
  const key = actual.resources.find(
    ({ kind, fields }) => kind === 'apiKey' && String(fields['publicKey']).toLowerCase() === stamp.publicKey,
  )
  const signer = key?.parentId
  if (signer === undefined || !(signer === actual.actor.userId || isMemberOfQuorum(actual, signer))) return false
  return verifyStamp(stamp, textOf(lock))
}

/** Signs a lock with the key in use. */
export async function signLock(lock: LockFile, { key }: Pick<Place, 'key'>): Promise<string> {
  const stamper = createApiKeyStamper(key, key)
  return (await stamper.stamp(textOf(lock))).value
}

/** No request body begins so: what is signed here is no request. */
function textOf(lock: LockFile): Uint8Array {
  return encodeUtf8(`quorate.lock/1\n${lockText(lock)}`)
}

function parse(signature: string): Stamp | undefined {
  try {
    return readStamp({ 'x-stamp': signature })
  } catch {
    return undefined
  }
}
