/**
 * Bundles: keys that are exported and imported, encrypted to a target (HPKE).
 */
export { signBundle } from './bundle.ts'
export { type EncryptedBundle, readEncryptedBundle } from './encrypted-bundle.ts'
export { makeExportBundle, readTargetPublicKey } from './export-bundle.ts'
export { checkOwnImport, type ImportKind, makeImportTarget, openImportBundle } from './import-target.ts'
