/**
 * Store: the only SQL of the service. Typed rows, one function a question, every one taking the open transaction and
 * the organization. It decides nothing; an id of another organization looks like an id that does not exist.
 */
export {
  type ActivityListing,
  type ActivityUpdate,
  findActivityByFingerprint,
  findActivityById,
  insertActivity,
  keptApart,
  listActivityRows,
  shownFingerprint,
  updateActivity,
} from './activities.ts'
export {
  type ApproverFacts,
  listApprovers,
  type PolicyVersion,
  readPolicyVersion,
  readRootQuorum,
} from './consensus.ts'
export {
  findApiKeyByPublicKey,
  findApiKeysBelow,
  listStandingCredentials,
  lockOrganization,
  type OrganizationPlace,
} from './credentials.ts'
export { type Database, openDatabase, type Round } from './database.ts'
export { STORE_CODES, StoreUnavailable } from './error.ts'
export {
  deleteServiceKey,
  type FirstOrganization,
  insertFirstOrganization,
  insertServiceKey,
  insertSetting,
  listServiceKeys,
  readSetting,
  SETTING_OF_FIRST_ORGANIZATION,
  writeSetting,
} from './installation.ts'
export { type Peeked, peekDatabase } from './peek.ts'
export { listPolicies } from './policies.ts'
export { withSavepoint } from './savepoint.ts'
export type * from './schema.ts'
export {
  type DatabaseFacts,
  type GivenUpWebhooks,
  packDatabase,
  readDatabaseFacts,
  readGivenUpWebhooks,
  readSnapshotFile,
  unpackDatabase,
} from './snapshot-file.ts'
export type { Transaction } from './transaction.ts'
export {
  insertPolicyEvaluation,
  insertPolicySet,
  insertVote,
  type KeptEvaluation,
  listPolicyEvaluations,
  listVotes,
} from './votes.ts'
