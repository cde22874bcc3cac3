/**
 * Keys: what is secret in the database, sealed under the master key and bound to the row where it stands, and the service's own
 * key pairs.
 */

export { type Resealed, resealSome, SEALED_COLUMNS, SECRET_RESULTS } from './resealing.ts'
export { prepareRotatingKeys } from './rotating-keys.ts'
export {
  accountKeyPlace,
  authProxyKeyPlace,
  mnemonicPlace,
  privateKeyPlace,
  secretPlace,
  webhookBodyPlace,
} from './sealed-places.ts'
export { isSealedText, openText, sealText } from './sealed-text.ts'
export { createSealing, type Keyring, nameOfKey, type SealedPlace, type Sealing } from './sealing.ts'
export {
  createKeyPair,
  createServiceKeys,
  openServiceKey,
  readServiceKeys,
  type ServiceKeyName,
  serviceKeyPlace,
} from './service-keys.ts'
