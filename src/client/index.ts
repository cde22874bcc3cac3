/**
 * Client: stamped requests to the signed-activity API: query, submit. It knows the wire, not the model: what a body
 * says is its caller's business, and a submitted body is sent byte for byte as given, once a call. Reads are tried
 * again with back-off. One rate an organization bounds what a process sends. Whatever takes a `QueryClient` cannot write, by type.
 */
export { type ApiClock, createApiClock } from './api-clock.ts'
export { type ClientOptions, createQueryClient, createSubmitClient } from './client.ts'
export { type ClientCode, clientCodes } from './codes.ts'
export type { Deadline } from './deadline.ts'
export { ClientError, type SubmittedState } from './error.ts'
export type { QueryClient, RequestOptions, SubmitClient } from './model.ts'
export { type AskProxy, asksProxy } from './proxy.ts'
export { createRate, type Rate, spacingOf } from './rate.ts'
export { createRateWithin } from './rate-within.ts'
export { systemTiming, type Timing } from './timing.ts'
export { createFolderTurns, type Turns } from './turns.ts'
