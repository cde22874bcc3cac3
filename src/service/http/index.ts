/**
 * HTTP: the public API's edge: connections, bodies, rates, refusals, request lines. The authentication proxy stands on it too.
 */
export { sendJson } from './answer.ts'
export { addDescription } from './description-page.ts'
export { createEdgeServer, type EdgeServerOptions, type HttpServer } from './edge-server.ts'
export { EDGE_LIMITS, type EdgeLimits } from './limits.ts'
export { listen } from './listen.ts'
export type { RequestEnd } from './request-lines.ts'
export { apiPaths, createHttpServer } from './server.ts'
export { openTls, type Tls, type TlsFiles } from './tls.ts'
