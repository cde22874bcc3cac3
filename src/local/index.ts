/**
 * Local: what stands on this machine and must belong to the user that this process runs as, alone: folders, files and
 * sockets. Checks owner, mode and links before anything in them is believed, and says what the system refuses in words.
 * Knows nothing of what is kept there.
 */

export { claimPrivate, dropDrafts } from './claim-private.ts'
export { localCodes } from './codes.ts'
export { type Exposure, exposureOf } from './exposure.ts'
export { createPrivate, readPrivate, tightenPrivate, writePrivate } from './private-file.ts'
export { assertPrivateFolder, ensurePrivateFolder } from './private-folder.ts'
export { askPrivately, listenPrivately, type PrivateListener } from './private-socket.ts'
export { explainSystemError } from './system-error.ts'
