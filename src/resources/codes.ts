import type { Codes } from '../diagnostics/index.ts'

export const codes = {
  'resources/malformed-record': {
    summary: 'a record in an answer of the API lacks a member or has one of another type',
    solve: 'check that the base URL is that of the API and that nothing on the way changes its answers',
  },
} as const satisfies Codes
