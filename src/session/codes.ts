import type { Codes } from '../diagnostics/index.ts'

export const sessionCodes = {
  'session/expired': {
    summary: 'the session that is kept for this organization has expired',
    solve: 'log in again with `quorate login`, or end it with `quorate logout` to work with another key',
  },
  'session/damaged': {
    summary: 'the session that is kept for this organization cannot be read',
    solve: 'end it with `quorate logout` and log in again',
  },
  'session/refused': {
    summary: 'the authentication proxy or the API did not log the user in',
    solve: 'correct what the message names, and log in again; nothing was kept',
  },
  'session/not-genuine': {
    summary: 'an answer at a login is not from the service whose keys are known, or is about something else',
    solve: 'check the URLs: another program may be answering; nothing was kept, and no code was sent to it',
  },
  'session/given-up': {
    summary: 'the login was not finished in time, or was cancelled',
    solve: 'log in again',
  },
} as const satisfies Codes
