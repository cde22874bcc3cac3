/** References of container images, as `name[:tag][@sha256:digest]`. No registry is asked. */
import { tvcImageRefused } from '../../readings.ts'

const MOST_CHARACTERS = 512
const NAME = /^[a-z0-9][a-z0-9._/:-]*$/i
const TAG = /^[a-z0-9_][a-z0-9_.-]{0,127}$/i
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** The digest that a reference is pinned to, if it is. Throws the refusal of what is no reference. */
export function readImageReference(reference: string): string | undefined {
  const at = reference.indexOf('@')
  const place = at === -1 ? reference : reference.slice(0, at)
  const digest = at === -1 ? undefined : reference.slice(at + 1)
  const slash = place.lastIndexOf('/')
  const colon = place.indexOf(':', slash + 1)
  const name = colon === -1 ? place : place.slice(0, colon)
  const tag = colon === -1 ? undefined : place.slice(colon + 1)
  if (reference.length > MOST_CHARACTERS || !NAME.test(name)) throw tvcImageRefused('it is no image reference')
  if (tag !== undefined && !TAG.test(tag)) throw tvcImageRefused('its tag cannot be one')
  if (digest !== undefined && !DIGEST.test(digest)) throw tvcImageRefused('its digest is no SHA-256')
  return digest
}
