/**
 * Master key: how the key that seals everything in the database is kept outside of it. `master.key` has it plain, or wrapped by a
 * keeper that alone can open it: another key file, a variable, or a key management service, whose client library is loaded when
 * it is named and never else. Knows nothing of what the key seals.
 */
export { keepBeside, keyExposed, openMasterKey, rewrapMasterKey } from './wrapped-key.ts'
