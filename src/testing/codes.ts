import type { Codes } from '../diagnostics/index.ts'

export const testingCodes = {
  'testing/not-applied': {
    summary: 'a service for tests could not be given what the definitions say',
    solve: 'correct what the message names; the service was ended and nothing of it is left',
  },
  'testing/no-snapshot': {
    summary: 'a service for tests was to go back to a snapshot that it has not taken',
    solve: 'restore what `snapshot()` of the same service gave',
  },
  'testing/ended': {
    summary: 'the process of a service for tests has ended',
    solve: 'ask before `close()`; where nobody closed it, what it wrote to stderr says why',
  },
} as const satisfies Codes
