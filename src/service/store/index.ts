/**
 * Store: the database of the service: rounds of transactions, migrations, typed rows, and the SQL of activities and votes. The
 * SQL of a resource stands in its folder's `store.ts`; nothing else holds any. Every function takes the open transaction and
 * the organization. It decides nothing; an id of another organization looks like an id that does not exist.
 */
export {
  type ActivityUpdate,
  findActivityByFingerprint,
  findActivityById,
  fingerprintOfDenied,
  hasCompleted,
  insertActivity,
  listActivityRows,
  shownFingerprint,
  updateActivity,
} from './activities.ts'
export { type PolicyVersion, readPolicyVersion, readRootQuorum } from './consensus.ts'
export { type Copied, copyFromPostgres, copyToPostgres } from './copy.ts'
export {
  findApiKeyByPublicKey,
  findApiKeysBelow,
  listStandingCredentials,
  lockAlso,
  lockOrganization,
  type OrganizationPlace,
} from './credentials.ts'
export { type Database, openDatabase, type Round } from './database.ts'
export { countDenial, countKeptDenials, hasKeptDenial } from './denials.ts'
export { STORE_CODES, StoreUnavailable, storeNotEmpty } from './error.ts'
export { insertInOrder } from './in-order.ts'
export {
  deleteServiceKey,
  insertFirstOrganization,
  insertServiceKey,
  insertSetting,
  listServiceKeys,
  readSetting,
  SETTING_OF_FIRST_ORGANIZATION,
  SETTING_OF_RESTORE,
  writeSetting,
} from './installation.ts'
export { lockInstallation } from './installation-lock.ts'
export {
  countSilentServices,
  forgetKeyHolder,
  type KeyHolder,
  listKeyHolders,
  noteKeyHolder,
} from './key-holders.ts'
export {
  type KeyRotation,
  readKeyRotation,
  stepKeyRotation,
  writeKeyRotation,
} from './key-rotation.ts'
export { createLeases, type Lease, type Leases, RENEWED_MS } from './leases.ts'
export { assertNewestFile, migrateFile, tablesOfOrganization } from './migrations.ts'
export { listOfUsers } from './of-users.ts'
export { peekDatabase } from './peek.ts'
export { piecesOf } from './pieces.ts'
export { migrateServer, openPostgres } from './postgres.ts'
export { POSTGRES_DEFAULTS, type PostgresSettings } from './postgres-pool.ts'
export { first, prepare, type Rows, remember, whenRead } from './prepared.ts'
export { createPostgresReader, createReader, createWriterBeside } from './reader.ts'
export { withSavepoint } from './savepoint.ts'
export type * from './schema.ts'
export {
  listStored,
  overwriteFreed,
  type RowKey,
  replaceStored,
  type SealedColumn,
  type StoredValue,
} from './sealed.ts'
export {
  type DatabaseFacts,
  type GivenUpWebhooks,
  packDatabase,
  readDatabaseFacts,
  readGivenUpWebhooks,
  readSnapshotFile,
  unpackDatabase,
} from './snapshot-file.ts'
export { assertNewestServer, type PostgresStanding, readFirstOrganization, readPostgresStanding } from './standing.ts'
export { type StoredList, storedList } from './stored-list.ts'
export { createTable } from './table.ts'
export { type TrackedDatabase, trackWrites } from './tracked.ts'
export type { Transaction } from './transaction.ts'
export {
  insertPolicyEvaluation,
  insertPolicySet,
  insertVote,
  type KeptEvaluation,
  listPolicyEvaluations,
  listVotes,
} from './votes.ts'
