/**
 * Local: things on this machine that must belong to the user of this process, and to nobody else: folders, files and
 * sockets, and listeners that programs of this machine alone reach. Checks owner, mode and links before anything in them is believed, and says what the system refuses in words.
 * Knows nothing of their contents; tells which hosts are this machine.
 */

export { localCodes } from './codes.ts'
export { type Exposure, exposureOf } from './exposure.ts'
export { isLoopback } from './is-loopback.ts'
export {
  assertPlain,
  claimPrivate,
  copyPrivate,
  createPrivate,
  dropDrafts,
  readPrivate,
  tightenPrivate,
  tryPrivate,
  writePrivate,
} from './private-file.ts'
export { assertPrivateFolder, ensureFolder, ensurePrivateFolder } from './private-folder.ts'
export { askPrivately, listenPrivately, type PrivateListener } from './private-socket.ts'
export { explainSystemError, systemWords } from './system-error.ts'
