/**
 * Folder: the data folder of a service: its files, its lock, what a complete one holds, snapshots, and the first organization.
 */
export { type Bootstrap, createFirstOrganization, isEmpty, refreshBootstrap } from './bootstrap.ts'
export { beginFirstStart, checkDataFolder, endFirstStart } from './data-folder.ts'
export { checkMasterKey, DATABASE_FILE, MASTER_KEY_FILE, OPERATOR_FILE, OWNER_ONLY, readMasterKey } from './files.ts'
export { ALONE, sayKeysHeld } from './key-holding.ts'
export {
  openNextKey,
  readRotationOfFolder,
  rotateKeyOfFolder,
  wrapKeyOfFolder,
} from './key-of-folder.ts'
export { followKeyRotation } from './key-rotation.ts'
export { type FolderLock, lockFolder } from './lock.ts'
export { beginOrJoin, checkSharedFolder } from './shared-folder.ts'
export { readFolder, readSnapshot, readWebhooksGivenUp, restoreSnapshot, saveSnapshot } from './snapshot.ts'
export { copyStore, migrateStore } from './store-copy.ts'
