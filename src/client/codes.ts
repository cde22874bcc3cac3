import type { Codes } from '../diagnostics/index.ts'

/**
 * Every way in which a request can go wrong. `retryable` is the one table from which reads are tried again here and
 * submits by Temporal: the same bytes may simply be sent again.
 */
export const clientCodes = {
  'client/unreachable': {
    summary: 'no answer came from the API',
    solve: 'check the base URL and that the service runs; a submit is sent again with the same bytes',
    retryable: true,
  },
  'client/not-ready': {
    summary: 'a request was not signed in time, and was not sent',
    solve: 'check that the command or key management service that signs answers; a submit may be sent again',
    retryable: true,
  },
  'client/unauthenticated': {
    summary: 'the API does not accept the key',
    solve: 'use a key that is registered with a user of this organization, and that has not expired',
  },
  'client/clock-skew': {
    summary: "the request's time is outside the window that the API accepts (1 hour old, 5 minutes ahead)",
    solve: "set this machine's clock; the message says by how much it differs from the API's",
  },
  'client/denied': {
    summary: 'the organization does not allow the acting user to do this',
    solve: 'ask for a policy that allows it; the details name what was evaluated',
  },
  'client/rate-limited': {
    summary: 'too many requests for this organization',
    solve: 'wait, or set --requests-per-second to what the organization may send',
    retryable: true,
  },
  'client/limit': {
    summary: 'the organization has used up a limit or quota',
    solve: 'remove what is no longer needed, or have the limit raised',
  },
  'client/invalid': {
    summary: 'the API does not accept the request',
    solve: 'correct what the message names',
  },
  'client/wrong-organization': {
    summary: 'the organization does not exist, or the key belongs to another one',
    solve: 'correct the organization id or use a key of a user inside that organization',
  },
  'client/not-found': {
    summary: 'the API does not have the thing that the request names',
    solve: 'plan again: it may have been deleted',
  },
  'client/conflict': {
    summary: 'the same thing exists already, or was submitted at the same moment',
    solve: 'send it again: a repeated body is answered with the activity it made',
    retryable: true,
  },
  'client/not-supported': {
    summary: 'the service does not carry out this operation',
    solve: 'leave the resource out of the definitions, or use a service that has it',
  },
  'client/server-error': {
    summary: 'the API failed while it worked on the request',
    solve: 'try again; a submit is sent again with the same bytes',
    retryable: true,
  },
  'client/malformed-answer': {
    summary: 'the answer is none that the API gives',
    solve: 'check the base URL: a proxy or another program may be answering',
  },
  'client/cancelled': {
    summary: 'the request was given up by its caller',
    solve: 'nothing: it was cancelled on purpose',
  },
} as const satisfies Codes

export type ClientCode = keyof typeof clientCodes
