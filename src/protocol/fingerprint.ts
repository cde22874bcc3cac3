import { hash } from 'node:crypto'

/** The fingerprint of a submit: `sha256:` and the hex SHA-256 of the raw body (docs/protocol/activities.md#fingerprint). */
export function fingerprintOf(rawBody: Uint8Array | string): string {
  return `sha256:${hash('sha256', rawBody)}`
}
