/**
 * Login: what the activities that log somebody in share: the keys and tokens of sessions. Knows no activity: which of them
 * may log whom in is their handlers' to decide.
 */
export { evictExpiringKeys } from './expiring-keys.ts'
export { readExpirationSeconds } from './login-key.ts'
export {
  checkCredentialBundle,
  checkLoginKey,
  issueCredentialBundle,
  issueSession,
  type LoginUser,
  sealCredential,
} from './sessions.ts'
