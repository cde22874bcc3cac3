import { QuorateError } from '../diagnostics/index.ts'
import type { localCodes } from './codes.ts'

interface Fault {
  readonly code: keyof typeof localCodes
  readonly says: string
  readonly next: string
}

const diskFull: Fault = { code: 'local/disk-full', says: 'the disk is full', next: 'make room on the disk' }
const diskFailed: Fault = {
  code: 'local/disk-failed',
  says: 'the disk failed',
  next: 'look at the system’s log and check the disk',
}
const readOnly: Fault = {
  code: 'local/read-only',
  says: 'the file system can only be read',
  next: 'mount it for writing, or name another folder',
}
const denied: Fault = {
  code: 'local/denied',
  says: 'permission denied',
  next: 'give the folder to the user of this process (`ls -ld` says whose it is), or name another folder',
}
const noFolder = (says: string): Fault => ({
  code: 'local/no-folder',
  says,
  next: 'name a folder that exists or can be made',
})
const tooManyFiles: Fault = {
  code: 'local/too-many-files',
  says: 'too many files are open',
  next: 'raise the limit with `ulimit -n 4096`, or end what holds so many open',
}

/** What the system says (errno(3)), in the words of a person who starts something. */
const SYSTEM_FAULTS: Readonly<Record<string, Fault>> = {
  ENOSPC: diskFull,
  EDQUOT: { ...diskFull, says: 'the quota of this user is used up' },
  EIO: diskFailed,
  EROFS: readOnly,
  EACCES: denied,
  EPERM: denied,
  ENOTDIR: noFolder('a part of the path is no folder'),
  ENOENT: noFolder('it does not exist and cannot be made'),
  EEXIST: noFolder('something of this name is there already'),
  EISDIR: noFolder('it is a folder, and a file is needed'),
  ENAMETOOLONG: noFolder('the path is too long'),
  ELOOP: noFolder('its links lead in a circle'),
  EMFILE: tooManyFiles,
  ENFILE: { ...tooManyFiles, says: 'the machine has too many files open' },
}

const LISTEN_FAULTS: Readonly<Record<string, Fault>> = {
  EADDRINUSE: {
    code: 'local/address-in-use',
    says: 'another process listens there already',
    next: 'end that process (`lsof -i :PORT` names it), or give another port (0 takes a free one)',
  },
  EACCES: {
    code: 'local/address-denied',
    says: 'this user may not listen there',
    next: 'give a port above 1023 (0 takes a free one)',
  },
  EADDRNOTAVAIL: {
    code: 'local/address-denied',
    says: 'this machine does not have the address',
    next: 'give an address of this machine, such as 127.0.0.1',
  },
}

/** SQLite's primary result codes that speak of the disk (sqlite.org/rescode.html). */
const SQLITE_FAULTS: Readonly<Record<number, Fault>> = {
  3: denied,
  8: readOnly,
  10: diskFailed,
  13: diskFull,
  14: { ...denied, says: 'the database cannot be opened' },
  23: denied,
}

interface NodeSystemError extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly path?: string
  readonly address?: string
  readonly port?: number
  readonly errcode?: number
}

/**
 * Says what the system refused, with a code and a next step. Looks through the causes of an error too, and gives back as it is
 * what is no word of the system.
 * @param doing a sentence without its reason, such as "the service did not start"; by default what the system was doing
 */
export function explainSystemError(
  error: unknown,
  { doing, path }: { readonly doing?: string; readonly path?: string } = {},
): unknown {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof QuorateError && at.code !== 'service/store-unavailable') return error
    const system = at as NodeSystemError
    const fault = faultOf(system)
    if (!fault) continue
    const { syscall, address, port } = system
    const place = port === undefined ? (path ?? system.path ?? address) : `${address}:${port}`
    const what =
      doing ?? (place === undefined ? `cannot ${syscall ?? 'go on'}` : `cannot ${verbOf(syscall)} \`${place}\``)
    return new QuorateError(fault.code, `${what}: ${fault.says}`, {
      facts: { place, system: system.code === 'ERR_SQLITE_ERROR' ? system.message : system.code },
      next: `${fault.next.replace('PORT', String(port))}, and run the command again`,
      cause: error,
    })
  }
  return error
}

/** A call of the system in words; to look for a file is to use it. */
function verbOf(syscall = 'use'): string {
  if (['listen', 'bind'].includes(syscall)) return 'listen at'
  return { scandir: 'read', stat: 'use', lstat: 'use' }[syscall] ?? syscall
}

/** In which words the system refused a file; undefined for what is no word of the system. */
export function systemWords(error: unknown): Pick<Fault, 'says' | 'next'> | undefined {
  return error instanceof Error ? faultOf(error) : undefined
}

function faultOf({ code, syscall, errcode }: NodeSystemError): Fault | undefined {
  if (typeof errcode === 'number') return SQLITE_FAULTS[errcode & 0xff]
  if (code === undefined) return undefined
  return (syscall === 'listen' || syscall === 'bind' ? LISTEN_FAULTS : SYSTEM_FAULTS)[code]
}
