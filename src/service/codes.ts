import type { Codes } from '../diagnostics/index.ts'
import { STORE_CODES } from './store/index.ts'

/**
 * The errors of starting a service, for its operator. Errors on the wire are `ApiError`s
 * (docs/protocol/errors.md#the-error-body).
 */
export const SERVICE_CODES = {
  ...STORE_CODES,
  'service/data-folder-in-use': {
    summary: 'Another process serves this folder of a service.',
    solve: 'Stop the process whose id is named, or name another folder: `serve --folder`, or `--data-dir` for `up`.',
  },
  'service/data-folder-damaged': {
    summary: 'A file in the service’s folder does not say what this service wrote there.',
    solve: 'Restore the named file from a backup of the same folder.',
  },
  'service/data-folder-incomplete': {
    summary: 'The service’s folder lacks a part of what it had: its database, its master key or its `bootstrap.json`.',
    solve: 'Mount the volume that it stands on, or put it back from a backup or a snapshot; nothing was written.',
  },
  'service/key-rotation-under-way': {
    summary: 'The master key of the service is being changed, and that is not done.',
    solve: 'Let the service run until `quorate master-key status` says that it is done.',
  },
  'service/master-key-exposed': {
    summary: 'Others than its owner could read or replace the file of the master key.',
    solve: 'Run the command that the message names; if others could read the key, make a new installation.',
  },
  'service/master-key-invalid': {
    summary: 'The master key is not 32 bytes long.',
    solve: 'Give 32 random bytes, in a file as 64 hex characters.',
  },
  'service/key-keeper-failed': {
    summary: 'What keeps the master key, such as a key management service, did not wrap or open it.',
    solve: 'See that it is reached, that its client library is installed, and that its key may encrypt and decrypt.',
  },
  'service/no-operator': {
    summary: 'No service that runs on this folder takes an operator’s word.',
    solve:
      'Start one with `quorate up` or `quorate serve`; with `NODE_ENV=production`, name it: `quorate serve --operator`.',
  },
  'service/nothing-served': {
    summary: 'No service has kept its data in this folder.',
    solve: 'Name the folder of the service with `--folder`, or the data folder with `--data-dir`.',
  },
  'service/operator-invalid': {
    summary: 'An operator asked for a time or a fault that cannot be.',
    solve: 'Correct what the message names; nothing was changed.',
  },
  'service/operator-silent': {
    summary: 'The service took an operator’s request, and ended or did not answer in its time.',
    solve: 'See that it runs, and ask again: what it had identified by then may be written, and nothing else is.',
    retryable: true,
  },
  'service/snapshot-exists': {
    summary: 'A snapshot is never written over a file.',
    solve: 'Choose another name, or remove the file.',
  },
  'service/snapshot-invalid': {
    summary: 'The file is no snapshot, or not the whole of one.',
    solve: 'Give a file that `quorate snapshot save` wrote.',
  },
  'service/seal-broken': {
    summary: 'A sealed value does not open: the master key is another one, or the row was changed by hand.',
    solve: 'Give the master key that the service’s folder was made with, or restore the folder from a backup.',
  },
  'service/tls-invalid': {
    summary: 'The files of a server’s certificate and key are not there, not in PEM, or do not belong together.',
    solve: 'Name the certificate, with those that signed it below it, by `--tls-cert`, and its own key by `--tls-key`.',
  },
  'service/mail-template-unreadable': {
    summary: 'A text of e-mails that the operator has put into a folder cannot be read.',
    solve:
      'Put `subject.txt`, `body.txt` and `body.html` into a folder named like its id, or leave `--mail-templates` out.',
  },
} as const satisfies Codes

export type ServiceCode = keyof typeof SERVICE_CODES
