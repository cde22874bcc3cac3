import type { Codes } from '../diagnostics/index.ts'

/** What can be wrong with folders, files and sockets of this machine. */
export const localCodes = {
  'local/exposed': {
    summary: 'Others than the user of this process could read, replace or own a file or a folder that must be private.',
    solve: 'Run the command that the message names; where others could read a key, make a new one.',
  },
  'local/not-proved': {
    summary: 'What listens on a local socket does not know the secret of the data folder.',
    solve: 'End the process that listens there, remove the folder `run` of the data folder, and run the command again.',
  },
  'local/disk-full': {
    summary: 'The disk is full, or the quota of the user is used up.',
    solve: 'Make room on the disk that the message names, then run the command again.',
  },
  'local/disk-failed': {
    summary: 'The disk reports a fault of its own.',
    solve: 'Look at the system’s log and check the disk; restore the folder from a backup if it is damaged.',
  },
  'local/read-only': {
    summary: 'The file system can only be read.',
    solve: 'Mount it for writing, or name another folder.',
  },
  'local/denied': {
    summary: 'The system does not let this user read or write there.',
    solve: 'Give the user of this process the folder, or name another.',
  },
  'local/no-folder': {
    summary: 'A folder does not exist and cannot be made, or what has its name is no folder.',
    solve: 'Name a folder that exists or can be made.',
  },
  'local/too-many-files': {
    summary: 'This process or the whole machine has too many files open.',
    solve: 'Raise the limit (`ulimit -n`), or end what holds so many open.',
  },
  'local/address-in-use': {
    summary: 'Another process listens on this address already.',
    solve: 'End that process, or name another port.',
  },
  'local/address-denied': {
    summary: 'This process may not listen on the address, or this machine does not have it.',
    solve: 'Name a port above 1023 and an address of this machine.',
  },
} as const satisfies Codes
