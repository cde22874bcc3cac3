/**
 * Incident: a key that somebody else may have. Where it is registered, what it could do and did, and cutting it off, one
 * activity at a time, each looked for before it is submitted, so that a run that was cut off is begun again. It needs no
 * Temporal: an incident is when something may be away.
 */
export { type ContainDoor, type Cut, contain, lockOut, madeBy } from './contain.ts'
export { type LocatedKey, locateKey, type OtherCredential } from './locate.ts'
export { type Act, type HeldPower, type LeftBehind, type Traced, traceKey } from './trace.ts'
