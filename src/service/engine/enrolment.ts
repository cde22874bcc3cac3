/** Who may make a parent organization: a submitter with the enrolment secret of the service. Without a secret nobody may. */
import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../crypto/index.ts'
import { encodeUtf8 } from '../../encoding/index.ts'
import type { ActivityRow } from '../../protocol/index.ts'
import type { Headers } from '../../stamp/index.ts'
import type { Secret } from '../../telemetry/index.ts'
import { enrolmentRefused } from './readings.ts'

const HEADER = 'x-enrolment-secret'

/**
 * Says whether a request may make its organization. Without the header it is one as any other, of an organization that is not
 * there. Throws the refusal of a secret that is wrong, the same where the service has none.
 */
export function mayEnrol({ family }: ActivityRow, headers: Headers, secret: Secret | undefined): boolean {
  const given = headers[HEADER]
  if (family !== 'CREATE_ORGANIZATION' || given === undefined) return false
  // Hashes are of one length, whatever was sent: the time of the comparison says nothing.
  const [expected, sent] = [secret?.reveal() ?? '', String(given)].map((text) => sha256(encodeUtf8(text)))
  if (!timingSafeEqual(expected!, sent!) || secret === undefined) throw enrolmentRefused()
  return true
}
