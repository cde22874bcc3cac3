/**
 * Incident: a key that somebody else may have, or all keys of a user. Where it is registered, what it could do and did, and cutting it off, one
 * activity at a time, each looked for before it is submitted, so that a run that was cut off is begun again. It needs no
 * Temporal: an incident is when something may be away.
 */

export type { LeftToPeople } from './before.ts'
export { type ContainDoor, type Cut, contain, lockOut, madeBy } from './contain.ts'
export { containUser, lockOutUser } from './contain-user.ts'
export { locateGone } from './gone.ts'
export { listInside, locateInside } from './inside.ts'
export {
  type GoneKey,
  inEach,
  type KeyInside,
  type LocatedKey,
  type LocatedUser,
  locateKey,
  locateUser,
  type OtherCredential,
  stillIn,
} from './locate.ts'
export { planRevert, type Revert } from './revert.ts'
export { type Act, type KeyMade, type LeftBehind, type Traced, traceKey } from './trace.ts'
