import type { Codes } from '../diagnostics/index.ts'

export const codes = {
  'live/malformed-answer': {
    summary: 'an answer of the API is not what it should be, so nothing of what was read is used',
    solve: 'check that the base URL is that of the API and that nothing on the way changes its answers; then run again',
  },
  'live/page-repeated': {
    summary: 'a page of a list repeats what an earlier page held, so the list may be incomplete',
    solve: 'run again; if it comes back, the service pages its lists wrongly: report it there',
  },
  'live/other-organization': {
    summary: 'the API answered about another organization than the one that was asked for',
    solve: 'use a credential of the organization itself, and check its id',
  },
  'live/dangling-id': {
    summary: 'one list names an id that another list does not have: the organization changed while it was read',
    solve: 'run again; nothing was used of what was read',
    retryable: true,
  },
  'live/unreadable-kind': {
    summary: 'the service does not tell of a kind that definitions mention, so it cannot be compared',
    solve: 'take the kind out of the definitions, or use a service that has it',
  },
  'live/endless-list': {
    summary: 'a list did not end',
    solve: 'report it to the service: its pages lead on for ever',
  },
} as const satisfies Codes
export type LiveCode = keyof typeof codes
