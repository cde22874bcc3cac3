/**
 * HTTP: the public API's edge: connections, bodies, rates, refusals, request lines.
 */
export { EDGE_LIMITS, type EdgeLimits } from './limits.ts'
export type { RequestEnd } from './request-lines.ts'
export { apiPaths, createHttpServer } from './server.ts'
