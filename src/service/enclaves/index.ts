/** Enclaves of others: what they say of themselves, and whether it is to be believed. None runs behind this service. */
export { type Attestation, AttestationRefused, readAttestation } from './attestation.ts'
export { NITRO_ROOT } from './nitro-root.ts'
