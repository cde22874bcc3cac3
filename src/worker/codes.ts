import type { Codes } from '../diagnostics/index.ts'

export const workerCodes = {
  'worker/temporal-unreachable': {
    summary: 'no Temporal server answers at the configured address',
    solve: 'start the server or correct TEMPORAL_ADDRESS; without it an embedded server is started',
  },
  'worker/temporal-missing': {
    summary: 'no Temporal server is configured and none could be found or built',
    solve: 'put `temporal-server` 1.29 or Go on the PATH, or set TEMPORAL_ADDRESS to a running server',
  },
  'worker/temporal-failed': {
    summary: 'the embedded Temporal server did not come up',
    solve: 'read the log that the message names; its state file may be in use by another process',
  },
} as const satisfies Codes
